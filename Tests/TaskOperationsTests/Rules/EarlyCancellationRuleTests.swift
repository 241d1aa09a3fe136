import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 7: cancelled before the start is finished at once", .inTurns, .endsInTime)
struct EarlyCancellationRuleTests {
    @Test("It is finished when cancel() returns, on a suspended queue too")
    func finishedAtOnce() {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operation = queue.addOperation {}
        operation.cancel()
        #expect(operation.isFinished)
        #expect(operation.failure is CancellationError)
        #expect(queue.operationCount == 0)
        #expect(queue.operations == [])
    }

    @Test("It is finished when cancel() returns, though its dependencies are not")
    func finishedBeforeItsDependencies() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let dependency = queue.addOperation { 1 }
        let operation = queue.addOperation(after: dependency) { @concurrent in $0 }
        let next = TaskOperationQueue().addOperation(dependencies: [operation]) { !dependency.isFinished }
        operation.cancel()
        #expect(operation.isFinished)
        #expect(queue.operations == [dependency])
        #expect(try await next.value)
        queue.isSuspended = false
        #expect(try await dependency.value == 1)
    }

    @Test("One that is behind others, or behind a barrier, does not wait for them")
    func doesNotWaitForItsTurn() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let first = queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        let behindFirst = queue.addOperation {}
        queue.addBarrier {}
        let behindBarrier = queue.addOperation {}
        for operation in [behindFirst, behindBarrier] {
            operation.cancel()
            #expect(operation.isFinished)
        }
        #expect(first.isExecuting)
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("Its dependents start, and those that need its value fail with its name")
    func dependentsGoOn() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let other = TaskOperationQueue()
        let operation = queue.addOperation(name: "cancelled") { 1 }
        let ordered = other.addOperation(dependencies: [operation]) { "ran" }
        let needing = other.addOperation(after: operation) { @concurrent in $0 }
        operation.cancel()
        #expect(try await ordered.value == "ran")
        _ = await needing.result
        #expect(needing.refusal?.failedDependency?.dependency == "cancelled")
        #expect(needing.refusal?.failedDependency?.error is CancellationError)
        #expect(!needing.isCancelled)
    }

    @Test("Tasks that await it continue", .schedules(20))
    func waitersGoOn() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operation = queue.addOperation {}
        await withTaskGroup { group in
            for _ in 0..<10 {
                group.addTask { await #expect(throws: CancellationError.self) { try await operation.value } }
            }
            await untilOthersWait()
            operation.cancel()
        }
    }

    @Test("One that was never added is finished too, and can be depended on")
    func neverAdded() async throws {
        let operation = TaskOperation {}
        let dependent = TaskOperationQueue().addOperation(dependencies: [operation]) { true }
        operation.cancel()
        #expect(operation.isFinished)
        #expect(try await dependent.value)
    }
}
