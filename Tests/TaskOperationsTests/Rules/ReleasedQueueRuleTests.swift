import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Rule 10: a queue that is released", .inTurns, .endsInTime)
struct ReleasedQueueRuleTests {
    @Test("It still finishes its operations")
    func finishesWhatIsPending() async throws {
        var queue: TaskOperationQueue? = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let first = queue!.addOperation { await gate.pass() }
        let operations = (0..<100).map { number in queue!.addOperation { number } }
        let dependent = queue!.addOperation(dependencies: [first]) { "dependent" }
        let barrier = queue!.addBarrier { operations.allSatisfy(\.isFinished) }
        weak let handle = queue
        await gate.waitForArrivals(1)
        queue = nil
        #expect(handle == nil)
        gate.open()
        for (number, operation) in operations.enumerated() { #expect(try await operation.value == number) }
        #expect(try await dependent.value == "dependent")
        #expect(try await barrier.value)
    }

    @Test("A suspended queue finishes its operations, because it can no longer be resumed")
    func suspendedQueue() async throws {
        let operations = {
            let queue = TaskOperationQueue(.init(isSuspended: true))
            return (0..<10).map { number in queue.addOperation { number } }
        }()
        for (number, operation) in operations.enumerated() { #expect(try await operation.value == number) }
    }

    @Test("A queue of width 0 finishes its operations, because its width can no longer be raised")
    func queueOfWidthZero() async throws {
        let operation = TaskOperationQueue(maxConcurrentOperationCount: 0).addOperation {}
        let ended = await eventually { operation.isFinished }
        #expect(ended)
        operation.cancel()
    }

    @Test("An operation that waits for a dependency elsewhere is finished too", .schedules(20))
    func waitingForElsewhere() async throws {
        let dependency = TaskOperation {}
        let dependent = TaskOperationQueue().addOperation(dependencies: [dependency]) { true }
        await untilOthersWait()
        #expect(dependent.state == .waiting)
        try dependency.start()
        #expect(try await dependent.value)
    }

    @Test("Without operations it is deallocated, engine and all")
    func isDeallocated() async throws {
        let freed = Gate()
        weak var engine: Scheduler?
        do {
            let queue = TaskOperationQueue(.init(executor: SingleThreadExecutor(Witness(freed))))
            engine = queue.scheduler
            let operations = (0..<100).map { number in queue.addOperation { number } }
            try await queue.waitUntilAllOperationsAreFinished()
            #expect(operations.allSatisfy { $0.isFinished })
        }
        // The queue retains its executor, and the last worker may still be returning.
        await freed.pass()
        #expect(engine == nil)
    }

    @Test("The last reference may be dropped within a body")
    func lastReferenceDroppedInABody() async throws {
        let freed = Gate()
        let holder = QueueHolder(TaskOperationQueue(.init(executor: SingleThreadExecutor(Witness(freed)))))
        let dropping = holder.queue!.addOperation { holder.drop() }
        try await dropping.value
        await freed.pass()
        #expect(holder.queue == nil)
    }
}
