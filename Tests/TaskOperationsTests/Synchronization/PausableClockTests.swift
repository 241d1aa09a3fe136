import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Clocks that can be paused", .endsInTime)
struct PausableClockTests {
    @Test("timeouts, delays and pauses between attempts do not include a pause of the clock", .virtualTime)
    func options() async throws {
        let (clock, queue) = (PausableClock(), TaskOperationQueue(maxConcurrentOperationCount: .max))
        let start = ContinuousClock.now
        @Sendable func seconds() -> Double { (ContinuousClock.now - start) / .seconds(1) }
        let ends = Recorder<Double>()
        let delayed = queue.addOperation([.delay(.seconds(100)), .clock(clock)]) { ends.record(seconds()) }
        let limited = queue.addOperation([.timeout(.seconds(120)), .clock(clock)]) {
            try await Task.sleep(for: .seconds(1100))
        }
        let tooLong = queue.addOperation([.timeout(.seconds(120)), .clock(clock)]) {
            defer { ends.record(seconds()) }
            try await Task.sleep(for: .seconds(2000))
        }
        let attempts = Recorder<Double>()
        let policy = RetryPolicy { _, _ in .seconds(90) }
        let repeated = queue.addOperation([.retry(policy), .clock(clock)]) {
            attempts.record(seconds())
            if attempts.events.count == 1 { throw WorkFailed() }
        }
        try await Task.sleep(for: .seconds(50))
        clock.isPaused = true
        #expect(clock.isPaused)
        try await Task.sleep(for: .seconds(1000))
        clock.isPaused = false
        try await delayed.value
        try await limited.value
        try await repeated.value
        await #expect(throws: TaskOperationError.self) { try await tooLong.value }
        #expect(attempts.events == [0, 1090])
        #expect(ends.events == [1100, 1120])
    }

    @Test("a body whose parts wait while the clock is paused begins none of them during a pause", .virtualTime)
    func parts() async throws {
        let (clock, queue) = (PausableClock(), TaskOperationQueue())
        let start = ContinuousClock.now
        let begins = Recorder<Double>()
        let upload = queue.addOperation([.timeout(.seconds(35)), .clock(clock)]) {
            for _ in 0..<3 {
                try await clock.waitWhilePaused()
                begins.record((ContinuousClock.now - start) / .seconds(1))
                try await Task.sleep(for: .seconds(10))
            }
        }
        for second in [15, 500] {
            try await Task.sleep(for: .seconds(second) - (ContinuousClock.now - start))
            clock.isPaused.toggle()
        }
        try await upload.value
        #expect(begins.events == [0, 10, 500])
    }

    @Test("a sleep and a wait end with their tasks, also during a pause", .schedules(100))
    func cancellation() async {
        let clock = PausableClock()
        clock.isPaused = true
        let sleeper = Task { try await clock.sleep(for: .seconds(1)) }
        let waiter = Task { try await clock.waitWhilePaused() }
        await Task.yield()
        for task in [sleeper, waiter] {
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("no sleep is forgotten or ends early if tasks pause and continue the clock at any time", .schedules(500))
    func anyTime() async throws {
        let clock = PausableClock()
        let tasks = (0..<3).map { number in
            Task {
                let end = clock.now + .seconds(2 + number)
                try await clock.sleep(until: end)
                #expect(clock.now >= end)
            }
        }
        let switches = (0..<2).map { _ in
            Task {
                for number in 0..<6 {
                    clock.isPaused = number.isMultiple(of: 2)
                    try await Task.sleep(for: .milliseconds(700))
                }
            }
        }
        for task in switches { try await task.value }
        clock.isPaused = false
        for task in tasks { try await task.value }
    }
}
