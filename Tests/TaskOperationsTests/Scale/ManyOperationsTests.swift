import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

// The suites with very many operations run one test at a time, because concurrent tests would only delay each other.

@Suite("Very many operations", .computing, .serialized, .endsInTime)
struct ManyOperationsTests {
    @Test("Very many operations in one queue")
    func inOneQueue() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let runs = ConcurrencyMeter()
        for _ in 0..<many { queue.addOperation { runs.enter() } }
        #expect(queue.operationCount == many)
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(runs.total == many)
    }

    @Test("Adding one while very many wait costs the same")
    func addingToAFullQueue() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        try queue.addOperations((0..<tensOfThousands).map { _ in TaskOperation {} })
        let priorities: [TaskPriority] = [.low, .high, .medium]
        for number in 0..<tensOfThousands { queue.addOperation(priority: priorities[number % 3]) {} }
        #expect(queue.operationCount == 2 * tensOfThousands)
        queue.cancelAllOperations()
        #expect(queue.operationCount == 0)
    }

    @Test("Cancelling very many one by one, the last first")
    func cancellingOneByOne() {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operations = (0..<tensOfThousands).map { _ in queue.addOperation {} }
        for operation in operations.reversed() { operation.cancel() }
        #expect(queue.operationCount == 0)
        #expect(operations.allSatisfy { $0.isFinished })
    }

    @Test("Changing the priority of very many, to and fro")
    func changingPriorities() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let starts = Recorder<Int>()
        let operations = (0..<tensOfThousands).map { number in
            queue.addOperation(priority: .low) { starts.record(number) }
        }
        for _ in 0..<3 {
            for operation in operations { operation.priority = .high }
            for operation in operations { operation.priority = .low }
        }
        operations[tensOfThousands - 1].priority = .high
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == [tensOfThousands - 1] + Array(0..<tensOfThousands - 1))
    }

    @Test("Very many tasks that await one operation")
    func waiters() async throws {
        let gate = Gate()
        let operation = TaskOperationQueue().addOperation { await gate.pass() }
        let tasks = (0..<tensOfThousands).map { _ in Task { try await operation.value } }
        gate.open()
        for task in tasks { try await task.value }
    }

    @Test("Very many completion handlers of one operation", .schedules(20))
    func handlers() async throws {
        let calls = ConcurrencyMeter()
        let operation = TaskOperation {}
        for _ in 0..<tensOfThousands { operation.addCompletionHandler { calls.enter() } }
        try operation.start()
        await until { calls.total == tensOfThousands }
        await untilOthersWait()
        #expect(calls.total == tensOfThousands)
    }

    @Test("Very many barriers, with an operation between each two")
    func barriers() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: true))
        let starts = Recorder<Int>()
        for number in 0..<tensOfThousands / 2 {
            queue.addOperation { starts.record(2 * number) }
            queue.addBarrier { starts.record(2 * number + 1) }
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == Array(0..<tensOfThousands))
    }

    @Test("Very many operations behind a barrier that is cancelled, and very many cancelled barriers")
    func cancelledBarriers() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let gate = Gate()
        queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        let runs = ConcurrencyMeter()
        let barriers = (0..<tensOfThousands).map { _ in
            queue.addOperation { runs.enter() }
            return queue.addBarrier {}
        }
        for barrier in barriers.reversed() { barrier.cancel() }
        await until { runs.total == tensOfThousands }
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("Very many bodies that await each other at width 1")
    func nestedWaits() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        @Sendable func descend(_ depth: Int) -> TaskOperation<Int> {
            queue.addOperation { depth == 0 ? 0 : try await descend(depth - 1).value + 1 }
        }
        #expect(try await descend(tensOfThousands / 5).value == tensOfThousands / 5)
    }
}
