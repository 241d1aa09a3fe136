import TaskOperations
import TaskOperationsExpectations
import TaskOperationsTesting
import Testing

@Suite("Time under seeds: all that a clock on the executor brings about stays on its thread", .timeLimit(.minutes(30)))
struct SeededTimeTests {
    @Test("a time limit ends a body, and a deadline an operation that waits", .seeds(50))
    func limits() async throws {
        let clock = ManualClock(on: .seeded)
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, executor: .seeded))
        let limited = queue.addOperation([.name("limited"), .timeLimit(.seconds(5)), .clock(clock)]) {
            try await clock.sleep(for: .seconds(60))
        }
        let behind = queue.addOperation([.name("behind"), .ending(within: .seconds(1)), .clock(clock)]) {}
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        await #expect(throws: TaskOperationError.self) { try await behind.value }
        #expect(!limited.isFinished)
        clock.advance(by: .seconds(4))
        await #expect(throws: TaskOperationError.self) { try await limited.value }
    }

    @Test("a body that ignores its cancellation is abandoned", .seeds(50))
    func abandoned() async throws {
        let (clock, gate) = (ManualClock(on: .seeded), Gate())
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, executor: .seeded))
        let operation = queue.addOperation([.timeLimit(.seconds(5)), .overrun(.abandon), .clock(clock)]) {
            await gate.pass()
        }
        await gate.waitForArrivals(1)
        clock.advance(by: .seconds(5))
        await #expect(throws: TaskOperationError.self) { try await operation.value }
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }
}
