import Dispatch
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

/// The behaviour of this library in cases in which Foundation on Linux fails. No test depends on Foundation's failure.
@Suite("Differences from Foundation on Linux", .inTurns, .endsInTime)
struct DifferenceTests {
    /// Foundation leaves the operation waiting forever, because it still counts the dependency as unfinished.
    @Test("An operation starts when its last unfinished dependency is removed")
    func removedDependency() async throws {
        let queue = TaskOperationQueue()
        let neverAdded = TaskOperation<Void> {}
        let operation = TaskOperation { "ran" }
        try operation.addDependency(neverAdded)
        try queue.addOperation(operation)
        #expect(!operation.isReady)
        try operation.removeDependency(neverAdded)
        #expect(try await operation.value == "ran")
    }

    /// Foundation passes such a barrier to Dispatch at once despite the suspension, and does not wait for it. If the
    /// barrier is not the first operation of the queue, Foundation runs it in order but does not count it in
    /// `operationCount`.
    @Test("A barrier on an empty suspended queue waits to be resumed, and is counted and waited for")
    func barrierOnSuspendedQueue() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let said = Recorder<String>()
        let barrier = queue.addBarrier { said.record("barrier") }
        queue.addOperation { said.record("after") }
        #expect(queue.operationCount == 2)
        #expect(queue.operations.first === barrier)
        let elsewhere = TaskOperationQueue()
        try await elsewhere.addOperation {}.value
        #expect(said.events == [])
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(said.events == ["barrier", "after"])
    }

    /// Foundation checks all waiting operations after each operation, which takes minutes. Freeing the chain overflows
    /// the stack, because each operation frees its dependency recursively.
    @Test("A long chain of dependencies runs to its end, and is freed", arguments: [true, false])
    func longChain(isRun: Bool) async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let runs = ConcurrencyMeter()
        var last: AnyTaskOperation = TaskOperation<Void> { runs.enter() }
        var chain = [last]
        for _ in 1..<50_000 {
            last = TaskOperation<Void>(dependencies: [last]) { runs.enter() }
            chain.append(last)
        }
        if isRun { try queue.addOperations(chain) }
        weak let first = chain.first
        chain = []
        if isRun { try await last.waitUntilFinished() }
        #expect(runs.total == (isRun ? 50_000 : 0))
        last = TaskOperation<Void> {}
        try await queue.waitUntilAllOperationsAreFinished()
        while first != nil { await Task.yield() }
    }

    /// In Foundation, each of these operations would block a thread of Dispatch, which could then run nothing else for
    /// seconds.
    @Test("Operations that wait hold up neither tasks nor Dispatch")
    func waitingHoldsNoThread() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 200)
        let gate = Gate()
        for _ in 0..<200 { queue.addOperation { await gate.pass() } }
        await gate.waitForArrivals(200)
        await Task.detached {}.value
        await withCheckedContinuation { continuation in DispatchQueue.global().async { continuation.resume() } }
        #expect(queue.operationCount == 200)
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    /// Foundation considers only an operation's own priority, so a dependency of a very urgent operation can starve.
    /// (Rule 15, which is new.)
    @Test("A dependency of an urgent operation starts before others of its own priority")
    func urgentDependent() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let said = Recorder<String>()
        queue.addOperation(priority: .high) { said.record("high") }
        let dependency = queue.addOperation(priority: .low) { said.record("dependency") }
        queue.addOperation(priority: TaskPriority(rawValue: 33), dependencies: [dependency]) { said.record("urgent") }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(said.events == ["dependency", "urgent", "high"])
    }

    /// Foundation finishes a cancelled operation only when the operation could start. It therefore finishes none while
    /// the queue is suspended or the width is used up. (Rule 7, which is new.)
    @Test("A cancelled operation is finished at once, also on a suspended queue")
    func cancelledOnSuspendedQueue() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operation = queue.addOperation {}
        operation.cancel()
        #expect(operation.isFinished)
        #expect(queue.operationCount == 0)
        try await queue.waitUntilAllOperationsAreFinished()
    }

    /// Foundation never finishes the operations of a queue that is released while suspended, because no code can resume it.
    @Test("A suspended queue that is released finishes its operations")
    func releasedSuspendedQueue() async throws {
        var queue: TaskOperationQueue? = TaskOperationQueue(.init(isSuspended: true))
        let operation = queue!.addOperation { "ran" }
        queue = nil
        #expect(try await operation.value == "ran")
    }
}
