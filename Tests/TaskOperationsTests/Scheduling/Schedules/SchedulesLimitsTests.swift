import Dispatch
import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Schedules and the work that they do not take", .prompt, .endsInTime)
struct SchedulesLimitsTests {
    @Test("The tasks of other tests run on the cooperative pool meanwhile, and are not taken")
    func foreignTasks() async throws {
        let state = Lock((isDone: false, rounds: 0))
        let ordinary = Task.detached {
            var wereTaken = false
            while !state.withLock({ $0.isDone }) {
                let counter = Counter()
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            await counter.increment()
                            await Task.yield()
                        }
                    }
                }
                try await Task.sleep(for: .microseconds(10))
                let isTaken = await MainActor.run { isOnExploringThread() }
                wereTaken = wereTaken || isTaken || isOnExploringThread()
                state.withLock { $0.rounds += 1 }
            }
            return wereTaken
        }
        // On a busy machine, all schedules may be over before the ordinary task begins.
        repeat {
            let summary = try Schedules(500).run {
                let counter = Counter()
                async let one: Void = counter.increment()
                try await Task.sleep(for: .seconds(1))
                await MainActor.run {}
                await one
            }
            #expect(summary.notes.isEmpty)
        } while state.withLock({ $0.rounds }) < 2
        state.withLock { $0.isDone = true }
        #expect(try await !ordinary.value)
    }

    @Test("A foreign task that the code resumes continues on the cooperative pool")
    func resumedTask() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        let foreign = Task.detached {
            var wasTaken = false
            for await _ in stream { wasTaken = wasTaken || isOnExploringThread() }
            return wasTaken
        }
        try Schedules(100).run { continuation.yield(1) }
        continuation.finish()
        #expect(await !foreign.value)
    }

    @Test("A callback of a thread is waited for, and noted")
    func callbacks() throws {
        var schedules = Schedules(10)
        // On a busy machine, a thread may take long.
        schedules.patience = .seconds(300)
        let summary = try schedules.run {
            let service = Service()
            async let one = service.answer()
            async let two = service.answer()
            let sum = await one + two
            if sum != 2 { throw Fault() }
        }
        #expect(summary.notes.contains { $0.contains("Other threads") })
    }

    @Test(
        "The answer of a thread or a block of Dispatch precedes a later deadline", .enabled(if: isLinux),
        arguments: 0..<3)
    func answers(_ kind: Int) throws {
        var schedules = Schedules(5)
        // On a busy machine, a thread may take long.
        schedules.patience = .seconds(300)
        let summary = try schedules.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    await withCheckedContinuation { continuation in
                        switch kind {
                        case 0:
                            Thread.detachNewThread {
                                Thread.sleep(forTimeInterval: 0.02)
                                continuation.resume()
                            }
                        case 1: DispatchQueue.global().asyncAfter(deadline: .now() + 0.02) { continuation.resume() }
                        default:
                            DispatchQueue.global().async {
                                Thread.sleep(forTimeInterval: 0.02)
                                continuation.resume()
                            }
                        }
                    }
                }
                group.addTask {
                    try await Task.sleep(for: .seconds(5))
                    throw Fault()
                }
                try await group.next()
                group.cancelAll()
            }
        }
        #expect(summary.notes.contains { $0.contains("Other threads") })
    }

    @Test("The time waits once for threads that answer nobody, and the summary says so", .enabled(if: isLinux))
    func silentThread() throws {
        var schedules = Schedules(200)
        schedules.patience = .milliseconds(50)
        let summary = try schedules.run {
            Thread.detachNewThread {}
            try await Task.sleep(for: .seconds(5))
        }
        #expect(summary.count == 200)
        #expect(summary.notes.contains { $0.contains("The time moved while threads") })
    }

    @Test("A task that a static variable keeps continues in later schedules, and after them")
    func staticTask() async throws {
        try Schedules(50).run { await Worker.shared.work() }
        await Worker.shared.work()
        var schedules = Schedules(50)
        // The task may still be on a thread of the pool. On a busy machine, this may take long.
        schedules.patience = .seconds(300)
        try schedules.run { await Worker.shared.work() }
    }

    @Test("State that a schedule leaves behind is noted")
    func determinism() throws {
        let runs = Lock(0)
        let summary = try Schedules(100).run {
            let count = runs.withLock { runs in
                runs += 1
                return runs
            }
            for _ in 0..<count % 7 { await Task.yield() }
        }
        #expect(summary.notes.contains { $0.contains("differed at step") })
    }

    @Test("A body that waits forever fails, and is cancelled")
    func stuck() throws {
        let wasCancelled = Lock(false)
        var schedules = Schedules(10)
        schedules.patience = .milliseconds(20)
        let found = try #require(
            failure(of: schedules) {
                await ManualClock().waitForSleepers(1)
                wasCancelled.withLock { $0 = Task.isCancelled }
            })
        guard case .stuck = found.cause else { throw found }
        #expect(wasCancelled.withLock { $0 })
        // Other explorations are not affected by a task that stays.
        #expect(failure(of: schedules) { await Gate().pass() } != nil)
        #expect(failure(of: schedules) {} == nil)
    }

    @Test("A look at all queues in an exploration, as by a dump, leaves out the queues of others")
    func queuesOfOthers() throws {
        let other = TaskOperationQueue()
        let summary = try Schedules(3).run {
            let own = TaskOperationQueue()
            let all = Scheduler.all
            guard all.contains(where: { $0 === own.scheduler }), !all.contains(where: { $0 === other.scheduler }) else {
                throw Fault()
            }
        }
        #expect(summary.count == 3)
        #expect(Scheduler.all.contains { $0 === other.scheduler })
    }

    @Test("A loop that never ends fails as endless, even if it ignores its cancellation")
    func endlessRetry() throws {
        var schedules = Schedules(10)
        schedules.stepLimit = 1000
        let found = failure(of: schedules) { while true { try? await Task.sleep(for: .seconds(1)) } }
        guard case .endless? = found?.cause else { throw Fault() }
    }

    @Test("A job that another thread adds at any time is no endless loop")
    func arrivals() throws {
        var schedules = Schedules(5000)
        schedules.patience = .seconds(300)
        try schedules.run {
            await withCheckedContinuation { continuation in DispatchQueue.global().async { continuation.resume() } }
        }
    }

    @Test("The body is released before the outcome is visible")
    func release() async throws {
        for _ in 0..<100 {
            weak var token: Counter?
            let exploration = {
                let counter = Counter()
                token = counter
                return TaskOperationsTesting.Exploration(Schedules(3)) { await counter.increment() }
            }()
            #expect(token != nil)
            exploration.start()
            while exploration.poll() == nil { await Task.yield() }
            #expect(token == nil)
        }
    }

    @Test("An object that is released between two schedules can create a task")
    func releaseBetweenSchedules() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
        struct Failure: Error { let guest: Guest }
        let found = failure(of: Schedules(3)) { throw Failure(guest: Guest(continuation)) }
        #expect(found != nil)
        for await wasTaken in stream {
            #expect(!wasTaken)
            break
        }
    }

    @Test("A program without an end fails at the limit of steps")
    func endless() throws {
        var schedules = Schedules(10)
        schedules.stepLimit = 1_000
        let found = try #require(failure(of: schedules) { while !Task.isCancelled { await Task.yield() } })
        guard case .endless = found.cause else { throw found }
    }

    @Test("A task that waits in a loop lets the other tasks run")
    func loop() throws {
        try Schedules(200).run {
            let isDone = Lock(false)
            let other = Task {
                await Task.yield()
                isDone.withLock { $0 = true }
            }
            while !isDone.withLock({ $0 }) { await Task.yield() }
            await other.value
        }
    }

    @Test("A job that blocks its thread ends the exploration, and nothing else; the report names the task")
    func blocked() throws {
        var schedules = Schedules(10)
        // On a busy machine, the thread may not run for a while before it blocks.
        schedules.blockLimit = .seconds(3)
        let never = DispatchSemaphore(value: 0)
        let found = failure(of: schedules) {
            let blocker = Blocker()
            await Task(name: "blocker") { await blocker.hold(never) }.value
        }
        guard case .blocked(let task) = try #require(found).cause else { throw Fault() }
        #expect(task.hasPrefix("a task of the test “blocker”"))
        if isLinux {
            #expect(task.contains("(SchedulesLimitsTests.swift:"))
            #expect(task.contains("which began in SchedulesLimitsTests.blocked()"))
        }
        never.signal()
        #expect(failure(of: schedules) {} == nil)
    }
}

/// Creates a task when it is released.
private final class Guest: Sendable {
    private let continuation: AsyncStream<Bool>.Continuation

    init(_ continuation: AsyncStream<Bool>.Continuation) {
        self.continuation = continuation
    }

    deinit { Task { [continuation] in continuation.yield(isOnExploringThread()) } }
}

private actor Blocker {
    func hold(_ semaphore: DispatchSemaphore) { block(semaphore) }
}

private func block(_ semaphore: DispatchSemaphore) { semaphore.wait() }

/// Passes work to a task that lives as long as the process.
private final class Worker: Sendable {
    static let shared = Worker()

    private let requests: AsyncStream<CheckedContinuation<Void, Never>>.Continuation

    private init() {
        let (stream, continuation) = AsyncStream.makeStream(of: CheckedContinuation<Void, Never>.self)
        requests = continuation
        Task.detached { for await request in stream { request.resume() } }
    }

    func work() async { await withCheckedContinuation { _ = requests.yield($0) } }
}

private actor Service {
    func answer() async -> Int {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                // The task suspends before the answer.
                Thread.sleep(forTimeInterval: 0.001)
                continuation.resume(returning: 1)
            }
        }
    }
}
