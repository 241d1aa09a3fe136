import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 12: waiting blocks no thread, and lends the permit out", .inTurns, .endsInTime)
struct WaitLendingRuleTests {
    @Test("At width 1 a body can await an operation that it adds to its own queue")
    func awaitingWithinTheOwnQueue() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let outer = queue.addOperation {
            let inner = queue.addOperation { 20 }
            let another = queue.addOperation { 22 }
            return try await inner.value + another.value
        }
        #expect(try await outer.value == 42)
    }

    @Test("At width 1 child tasks of a body can await operations of the own queue")
    func childTasksAwait() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let outer = queue.addOperation {
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<20 {
                    group.addTask { try await queue.addOperation { number }.value }
                }
                return try await group.reduce(0, +)
            }
        }
        #expect(try await outer.value == 190)
    }

    @Test("The permit is taken back before the body continues")
    func permitIsTakenBack() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let meter = ConcurrencyMeter()
        for number in 0..<200 {
            queue.addOperation {
                meter.enter()
                await Task.yield()
                meter.leave()
                if number.isMultiple(of: 2) {
                    try await queue.addOperation { await meter.measure { await Task.yield() } }.value
                }
                await meter.measure { await Task.yield() }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(meter.total == 500)
        #expect(meter.most == 1)
    }

    @Test("A body that waits for its permit has precedence over operations that have not started", .schedules(20))
    func returningComesFirst() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let order = Recorder<String>()
        let (awaited, blocking) = (Gate(), Gate())
        let outer = try await LentBody(on: queue, until: awaited) { order.record("goes on") }
        queue.addOperation { await blocking.pass() }
        await blocking.waitForArrivals(1)
        let urgent = queue.addOperation(priority: .high) { order.record("starts") }
        awaited.open()
        try await outer.awaited.value
        await until { queue.returningCount == 1 }
        await untilOthersWait()
        #expect(order.events == [])
        blocking.open()
        try await outer.body.value
        try await urgent.value
        #expect(order.events == ["goes on", "starts"])
    }

    @Test("Thousands of waiting bodies delay nothing, because none of them holds a thread")
    func waitingHoldsNoThread() async throws {
        let gate = Gate()
        let (awaited, waiting) = (TaskOperationQueue(), TaskOperationQueue(maxConcurrentOperationCount: 5000))
        let operation = awaited.addOperation { await gate.pass() }
        let meter = ConcurrencyMeter()
        for _ in 0..<5000 {
            waiting.addOperation {
                meter.enter()
                try await operation.value
            }
        }
        async let all: Void = waiting.waitUntilAllOperationsAreFinished()
        await gate.waitForArrivals(1)
        await until { meter.total == 5000 }
        let other = TaskOperationQueue().addOperation { 1 }
        #expect(try await other.value == 1)
        #expect(waiting.operationCount == 5000)
        gate.open()
        try await all
    }
}
