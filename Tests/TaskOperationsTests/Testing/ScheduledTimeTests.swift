import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Limits of time under schedules", .endsInTime)
struct ScheduledTimeTests {
    @Test("a timeout ends a body, and a deadline an operation that waits", .schedules(50))
    func limits() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let limited = queue.addOperation(name: "limited", [.timeout(.seconds(5)), .clock(clock)]) {
            try await clock.sleep(for: .seconds(60))
        }
        let behind = queue.addOperation(name: "behind", [.timeout(untilEnd: .seconds(1)), .clock(clock)]) {}
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        await #expect(throws: TaskOperationError.self) { try await behind.value }
        #expect(!limited.isFinished)
        clock.advance(by: .seconds(4))
        await #expect(throws: TaskOperationError.self) { try await limited.value }
    }

    @Test("a body that ignores its cancellation is abandoned", .schedules(50))
    func abandoned() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let operation = queue.addOperation([.timeout(.seconds(5)), .overrun(.abandon), .clock(clock)]) {
            await gate.pass()
        }
        await gate.waitForArrivals(1)
        clock.advance(by: .seconds(5))
        await #expect(throws: TaskOperationError.self) { try await operation.value }
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }
}
