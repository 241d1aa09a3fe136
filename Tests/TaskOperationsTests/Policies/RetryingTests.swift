import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Bodies that are tried again, without a queue", .inTurns, .endsInTime)
struct RetryingTests {
    @Test("the body runs until it succeeds, and knows the number of the attempt", .schedules(20))
    func untilItSucceeds() async throws {
        let number = try await retrying(.immediately(attempts: 5)) {
            if RetryPolicy.attempt! < 3 { throw WorkFailed() }
            return RetryPolicy.attempt!
        }
        #expect(number == 3)
        #expect(RetryPolicy.attempt == nil)
    }

    @Test("the last error is thrown, and each attempt is told", .schedules(20))
    func lastError() async {
        let attempts = Recorder<Int>()
        let policy = RetryPolicy.immediately(attempts: 3).reporting { _, attempt, _ in attempts.record(attempt) }
        await #expect(throws: WorkFailed(number: 3)) {
            try await retrying(policy) { throw WorkFailed(number: RetryPolicy.attempt!) }
        }
        #expect(attempts.events == [1, 2, 3])
    }

    @Test("pauses are measured by the clock, and end when the task is cancelled", .schedules(50))
    func pauses() async throws {
        let (clock, attempts) = (ManualClock(), Recorder<Int>())
        let caller = Task {
            try await retrying(.exponential(initial: .seconds(1), attempts: 9), clock: clock) {
                attempts.record(RetryPolicy.attempt!)
                throw WorkFailed()
            }
        }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(1999))
        await untilOthersWait()
        #expect(attempts.events == [1, 2])
        clock.advance(by: .milliseconds(1))
        await clock.waitForSleepers(3)
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        #expect(attempts.events == [1, 2, 3])
    }

    @Test("there is no attempt after a cancellation", .schedules(20))
    func cancelledInAnAttempt() async throws {
        let (gate, meter) = (Gate(), ConcurrencyMeter())
        let caller = Task {
            try await retrying(.immediately(attempts: 9)) {
                meter.enter()
                await gate.pass()
                throw WorkFailed()
            }
        }
        await gate.waitForArrivals(1)
        caller.cancel()
        gate.open()
        await #expect(throws: WorkFailed()) { try await caller.value }
        #expect(meter.total == 1)
    }

    @Test("each attempt may have a timeout", .schedules(20))
    func limitedAttempts() async throws {
        let clock = ManualClock()
        let caller = Task {
            try await retrying(.immediately(attempts: 3), clock: clock) {
                try await withTimeout(.seconds(1), clock: clock) {
                    if RetryPolicy.attempt == 3 { return 3 }
                    await untilCancelled()
                    return 0
                }
            }
        }
        for _ in 0..<2 {
            await untilOthersWait()
            clock.advance(by: .seconds(1))
        }
        #expect(try await caller.value == 3)
    }
}
