import TaskOperations
import TaskOperationsExpectations
import TaskOperationsTesting
import Testing

@Suite("Operations with a delay")
struct DelayTests {
    private let clock = ManualClock()
    private let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)

    @Test("the operation is pending, and holds no permit, until the time has come")
    func delay() async throws {
        let delayed = queue.addOperation(delay: .seconds(5), clock: clock) { "late" }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(4))
        #expect(try await queue.run { "early" } == "early")
        #expect(delayed.state == .pending)
        #expect(queue.operationCount == 1)
        clock.advance(by: .seconds(1))
        #expect(try await delayed.value == "late")
    }

    @Test("operations come in the order of their deadlines")
    func order() async throws {
        let order = Recorder<Int>()
        for seconds in [3, 1, 2] {
            queue.addOperation(delay: .seconds(seconds), clock: clock) { order.record(seconds) }
        }
        await clock.waitForSleepers(3)
        for count in 1...3 {
            clock.advance(by: .seconds(1))
            await until { order.events.count >= count }
        }
        #expect(order.events == [1, 2, 3])
    }

    @Test("cancelling ends the operation and its sleep at once")
    func cancellation() async throws {
        let runs = Recorder<String>()
        let delayed = queue.addOperation(name: "late", delay: .seconds(5), clock: clock) { runs.record("ran") }
        await clock.waitForSleepers(1)
        #expect(delayed.debugDescription.contains("waits for \"delay of \"late\"\""))
        delayed.cancel()
        #expect(delayed.isFinished)
        try await queue.waitUntilAllOperationsAreFinished()
        await until { clock.sleeperCount == 0 }
        clock.advance(by: .seconds(5))
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(runs.events.isEmpty)
    }

    @Test("the delay runs on where the queue is suspended, and other dependencies count too")
    func suspendedAndDependent() async throws {
        queue.isSuspended = true
        let first = queue.addOperation {}
        let delayed = queue.addOperation(delay: .seconds(1), clock: clock, dependencies: [first]) {}
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        await until { clock.sleeperCount == 0 }
        #expect(!delayed.isFinished)
        queue.isSuspended = false
        try await delayed.value
        #expect(first.isFinished)
    }

    @Test("without a clock the delay is real time")
    func realTime() async throws {
        let start = ContinuousClock.now
        try await queue.addOperation(delay: .milliseconds(20)) {}.value
        #expect(ContinuousClock.now - start >= .milliseconds(20))
    }
}
