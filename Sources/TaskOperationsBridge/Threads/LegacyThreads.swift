internal import Foundation
internal import Synchronization
internal import TaskOperations

/// Runs old code on threads where it may block: at most 64, made as they are needed, and gone after some seconds
/// without work.
///
/// As many pieces of work run at once as there are processors: more would only get in each other's way, and each would
/// cost a thread. But one that has run for more than a millisecond or two may be blocked, and no longer counts, so that
/// others get a thread too. Work beyond the 64 waits in line. It may not depend on work behind it, as on any bounded
/// number of threads.
final class LegacyThreads: Sendable {
    static let shared = LegacyThreads()

    typealias Work = WorkerThreads.Work

    private struct Begun: Sendable {
        let work: Work
        let tick: Int
    }

    private struct State: Sendable {
        var line = WorkLine<Work>()
        /// Work that runs, by age: begun since the last tick, between the two before it, or earlier.
        var fresh = 0
        var aging = 0
        var old = 0
        var tick = 0
        var isTicking = false
        /// Threads without work that look out for some.
        var lookouts = 0

        mutating func begin() -> Begun? {
            guard fresh + aging < TaskOperationQueue.defaultMaxConcurrentOperationCount, let work = line.popFirst()
            else { return nil }
            fresh += 1
            return Begun(work: work, tick: tick)
        }

        mutating func end(begunAt begin: Int) {
            switch tick - begin {
            case 0: fresh -= 1
            case 1: aging -= 1
            default: old -= 1
            }
        }

        /// Whether somebody must begin to let work age, so that what is in the line gets its turn.
        mutating func mustTick() -> Bool {
            if line.isEmpty || isTicking { return false }
            isTicking = true
            return true
        }

        mutating func age() {
            old += aging
            aging = fresh
            fresh = 0
            tick += 1
        }
    }

    private let threads = WorkerThreads(name: "legacy", maxCount: 64, idleTime: 5)
    private let state = Lock(State())
    private let lineCount = Atomic(0)

    /// Has work done on one of the threads.
    func run(_ work: @escaping Work) {
        let (begun, mustTick) = state.withLock { state in
            state.line.append(work)
            lineCount.store(state.line.count, ordering: .relaxed)
            if state.line.count <= state.lookouts { return (nil as Begun?, false) }
            let begun = state.begin()
            return (begun, state.mustTick())
        }
        start(begun, mustTick: mustTick)
    }

    /// Has a function called on one of the threads, and waits until it returns.
    func call<Value: Sendable>(_ function: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            run { continuation.resume(returning: function()) }
        }
    }

    private func start(_ begun: Begun?, mustTick: Bool) {
        // The threads are never closed, so that they refuse nothing.
        if let begun { _ = threads.submit { self.serve(begun) } }
        if mustTick { _ = threads.submit { self.keepTicking() } }
    }
}

// MARK: - A thread

extension LegacyThreads {
    /// Does a piece of work, and whatever may be done after it.
    private func serve(_ first: Begun) {
        var next: Begun? = first
        while let begun = next {
            begun.work()
            next = state.withLock { state in
                state.end(begunAt: begun.tick)
                let next = state.begin()
                lineCount.store(state.line.count, ordering: .relaxed)
                if next == nil { state.lookouts += 1 }
                return next
            }
            if next == nil { next = lookOut() }
        }
    }

    /// Looks out for work for some microseconds: to wake a thread costs more than that.
    private func lookOut() -> Begun? {
        var looks = 0
        while looks < 64, lineCount.load(ordering: .relaxed) == 0 {
            sched_yield()
            looks += 1
        }
        let (begun, mustTick) = state.withLock { state in
            state.lookouts -= 1
            let begun = state.begin()
            lineCount.store(state.line.count, ordering: .relaxed)
            return (begun, state.mustTick())
        }
        start(nil, mustTick: mustTick)
        return begun
    }

    /// Lets work age for as long as other work waits.
    private func keepTicking() {
        while goesOnTicking() {
            Thread.sleep(forTimeInterval: 0.001)
            let begun = state.withLock { state in
                state.age()
                var begun: [Begun] = []
                while let next = state.begin() { begun.append(next) }
                return begun
            }
            for begun in begun { start(begun, mustTick: false) }
        }
    }

    private func goesOnTicking() -> Bool {
        state.withLock { state in
            state.isTicking = !state.line.isEmpty
            return state.isTicking
        }
    }
}
