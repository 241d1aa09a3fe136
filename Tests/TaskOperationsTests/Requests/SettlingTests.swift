import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsExtras

@Suite("Pauses with a longest length", .endsInTime)
struct SettlingTests {
    /// The times in milliseconds at which calls begin, and their values.
    private final class Calls: Sendable {
        private let begin = ContinuousClock.now
        private let recorder = Recorder<String>()

        var events: [String] { recorder.events }

        func record(_ value: Int) {
            let (seconds, attoseconds) = (ContinuousClock.now - begin).components
            recorder.record("\(value) at \(seconds * 1000 + attoseconds / 1_000_000_000_000_000)")
        }
    }

    @Test("Requests that never pause run after the longest length, with the newest body", .virtualTime)
    func keyed() async throws {
        let (keyed, calls) = (KeyedOperations<Int, Void>(queue: TaskOperationQueue()), Calls())
        for number in 0..<12 {
            keyed.request(1, existing: .rerunOnce, settling: .milliseconds(300), atMost: .seconds(1)) {
                calls.record(number)
            }
            try await Task.sleep(for: .milliseconds(210))
        }
        try await Task.sleep(for: .seconds(5))
        #expect(calls.events == ["4 at 1000", "9 at 2050", "11 at 2610"])
    }

    @Test("The pause ends before its longest length if requests pause", .virtualTime)
    func shortPause() async throws {
        let (keyed, calls) = (KeyedOperations<Int, Void>(queue: TaskOperationQueue()), Calls())
        for number in 0..<2 {
            keyed.request(1, existing: .rerunOnce, settling: .milliseconds(300), atMost: .seconds(1)) {
                calls.record(number)
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        try await Task.sleep(for: .seconds(5))
        #expect(calls.events == ["1 at 400"])
    }

    @Test("A longest length that is not positive means no pause", .virtualTime)
    func noLength() async throws {
        let (keyed, calls) = (KeyedOperations<Int, Void>(queue: TaskOperationQueue()), Calls())
        try await keyed.value(for: 1, settling: .seconds(1), atMost: .zero) { calls.record(1) }
        try await keyed.value(for: 1, settling: .seconds(2), atMost: .seconds(1)) { calls.record(2) }
        try await keyed.value(for: 1, settling: .seconds(1), atMost: .seconds(-1)) { calls.record(3) }
        #expect(calls.events == ["1 at 0", "2 at 1000", "3 at 1000"])
    }

    @Test("Starts of a screen that never pause deliver after the longest length", .virtualTime) @MainActor
    func latestOperation() async throws {
        let (latest, calls) = (LatestOperation(settling: .milliseconds(300), atMost: .milliseconds(900)), Calls())
        for number in 0..<10 {
            latest.start {
                number
            } deliver: {
                calls.record((try? $0.get()) ?? -1)
            }
            try await Task.sleep(for: .milliseconds(200))
        }
        try await Task.sleep(for: .seconds(5))
        #expect(calls.events == ["4 at 900", "9 at 1900"])
        #expect(!latest.isRunning)
    }

    @Test("Without a longest length, each start of a screen begins the pause again", .virtualTime) @MainActor
    func unlimited() async throws {
        let (latest, calls) = (LatestOperation(settling: .milliseconds(300)), Calls())
        for number in 0..<10 {
            latest.start {
                number
            } deliver: {
                calls.record((try? $0.get()) ?? -1)
            }
            try await Task.sleep(for: .milliseconds(299))
        }
        latest.flush()
        try await Task.sleep(for: .seconds(1))
        #expect(calls.events == ["9 at 2990"])
        latest.start {
            10
        } deliver: {
            calls.record((try? $0.get()) ?? -1)
        }
        latest.cancel()
        latest.start {
            11
        } deliver: {
            calls.record((try? $0.get()) ?? -1)
        }
        try await Task.sleep(for: .seconds(1))
        #expect(calls.events == ["9 at 2990", "11 at 4290"])
    }

    @Test("A start during the body of the operation before it pauses again", .virtualTime) @MainActor
    func pauseDuringBody() async throws {
        let (latest, calls) = (LatestOperation(settling: .milliseconds(300)), Calls())
        latest.start {
            try await Task.sleep(for: .seconds(10))
        } deliver: { _ in
            calls.record(0)
        }
        try await Task.sleep(for: .seconds(1))
        latest.start {
        } deliver: { _ in
            calls.record(1)
        }
        try await Task.sleep(for: .seconds(1))
        #expect(calls.events == ["1 at 1300"])
    }

    @Test(
        "A pause that has begun again does not end earlier, whatever its timers do", .enabled(if: controlsThreads),
        .schedules(500, threads: .controlled))
    func beginAgain() async throws {
        let pause = try #require(SettlingPause.make(of: .milliseconds(10)))
        pause.begin(.milliseconds(10), clock: ContinuousClock())
        try await Task.sleep(for: .milliseconds(10))
        if pause.begin(.seconds(100), clock: ContinuousClock()) {
            try await Task.sleep(for: .seconds(1))
            #expect(!pause.end.isFinished)
            pause.finish()
        }
        #expect(pause.end.isFinished)
        #expect(!pause.begin(.seconds(1), clock: ContinuousClock()))
    }

    @Test("A pause that has ended has no timers")
    func timers() async throws {
        let clock = AdjustableClock()
        let pause = try #require(SettlingPause.make(of: .seconds(60), atMost: .seconds(100)))
        for _ in 0..<2 { pause.begin(.seconds(60), clock: clock) }
        await until { clock.sleeperCount == 1 }
        pause.finish()
        await until { clock.sleeperCount == 0 }
    }

    @Test(
        "A start at the moment at which the pause ends pauses, or replaces the older one",
        .schedules(300, faults: .time))
    @MainActor
    func raceWithTimer() async throws {
        let (latest, delivered) = (
            LatestOperation(settling: .milliseconds(10), atMost: .milliseconds(15)), Recorder<Int>()
        )
        let last = 3
        for number in 0...last {
            latest.start {
                number
            } deliver: {
                delivered.record((try? $0.get()) ?? -1)
            }
            try await Task.sleep(for: .milliseconds(10))
        }
        while latest.isRunning { try await Task.sleep(for: .milliseconds(1)) }
        #expect(delivered.events.last == last)
        #expect(delivered.events == delivered.events.sorted())
        #expect(!delivered.events.contains(-1))
    }
}

// MARK: - The latest value

extension SettlingTests {
    @Test("A value is used after the pause, and the newest one after the longest length", .virtualTime)
    func values() async throws {
        let calls = Calls()
        let saves = LatestValue<Int>(settling: .milliseconds(300), atMost: .seconds(1)) { calls.record($0) }
        saves.set(-1)
        try await Task.sleep(for: .seconds(1))
        for number in 0..<8 {
            saves.set(number)
            try await Task.sleep(for: .milliseconds(210))
        }
        try await saves.flush()
        #expect(calls.events == ["-1 at 300", "4 at 2000", "7 at 2680"])
        try await saves.flush()
        #expect(calls.events.count == 3)
    }

    @Test("Without a pause, a value that is set during a call leads to one more call", .schedules(100))
    func noPause() async throws {
        let (used, gate, meter) = (Recorder<Int>(), Gate(), ConcurrencyMeter())
        let saves = LatestValue<Int> { value in
            used.record(value)
            await meter.measure { await gate.pass() }
            #expect(!Task.isCancelled, "A newer value does not cancel the call.")
        }
        saves.set(0)
        await gate.waitForArrivals(1)
        for number in 1...5 { saves.set(number) }
        gate.open()
        try await saves.flush()
        #expect(used.events == [0, 5])
        #expect(meter.most == 1)
    }

    @Test(
        "After a flush, the value that was set last is in use, whatever other threads set",
        .schedules(300, faults: .time))
    func flush() async throws {
        let (state, saved) = (Recorder<Int>(), Recorder<Int>())
        let saves = LatestValue<Int>(settling: .milliseconds(5), atMost: .milliseconds(8)) { value in
            await Task.yield()
            saved.record(value)
        }
        let tasks = (0..<2).map { _ in
            Task {
                for _ in 0..<3 {
                    state.record(0)
                    let number = state.events.count
                    saves.set(number)
                    try await saves.flush()
                    #expect(saved.events.contains { $0 >= number })
                    try await Task.sleep(for: .milliseconds(3))
                }
            }
        }
        for task in tasks { try await task.value }
        saves.set(100)
        try await saves.flush()
        #expect(saved.events.last == 100)
    }

    @Test("A value whose call has failed is used again by each flush until a call succeeds", .schedules(20))
    func failedCalls() async throws {
        let used = Recorder<Int>()
        let saves = LatestValue<Int>(settling: .seconds(1)) { value in
            used.record(value)
            if used.events.count < 3 { throw WorkFailed() }
        }
        saves.set(1)
        // The first call fails in this time.
        try await Task.sleep(for: .seconds(2))
        #expect(used.events == [1])
        await #expect(throws: WorkFailed.self) { try await saves.flush() }
        try await saves.flush()
        try await saves.flush()
        #expect(used.events == [1, 1, 1])
    }

    @Test("A flush throws the error of the call, and a later value is used nevertheless", .schedules(20))
    func failing() async throws {
        let saved = Recorder<Int>()
        let saves = LatestValue<Int>(settling: .seconds(1)) { value in
            if value == 1 { throw WorkFailed() }
            saved.record(value)
        }
        saves.set(1)
        await #expect(throws: WorkFailed()) { try await saves.flush() }
        saves.set(2)
        try await saves.flush()
        #expect(saved.events == [2])
    }

    @Test("A function that flushes its own value is refused by name", .schedules(20))
    func flushInCall() async throws {
        let errors = Recorder<String>()
        let holder = Lock<LatestValue<Int>?>(nil)
        let saves = LatestValue<Int>(name: "save") { _ in
            let saves = holder.withLock { $0 }!
            do { try await saves.flush() } catch { errors.record("\(error)") }
        }
        holder.withLock { $0 = saves }
        saves.set(1)
        try await saves.flush()
        holder.withLock { $0 = nil }
        #expect(errors.events.count == 1)
        #expect(errors.events[0].contains("\"save\""))
    }

    @Test("A value that was set is used if its object and its queue are released", .virtualTime)
    func release() async throws {
        let calls = Calls()
        do {
            let saves = LatestValue<Int>(settling: .seconds(1), atMost: .seconds(2)) { calls.record($0) }
            saves.set(1)
        }
        try await Task.sleep(for: .seconds(5))
        #expect(calls.events == ["1 at 1000"])
    }

    @Test("A flush of a cancelled task ends at once, and the value is used", .virtualTime)
    func cancelledFlush() async throws {
        let calls = Calls()
        let saves = LatestValue<Int>(settling: .seconds(1)) { value in
            try await Task.sleep(for: .seconds(1))
            calls.record(value)
        }
        saves.set(1)
        let flush = Task { try await saves.flush() }
        flush.cancel()
        await #expect(throws: CancellationError.self) { try await flush.value }
        try await Task.sleep(for: .seconds(5))
        #expect(calls.events == ["1 at 1000"])
    }
}
