internal import Foundation
internal import TaskOperations
internal import TaskOperationsExtras

extension BridgedOperationQueue {
    /// Adds an operation of this library that no other code can reach.
    func add(_ operation: TaskOperation<Void>) {
        list(operation)
        taskQueue.addNew(operation)
    }

    /// Adds an operation of this library.
    ///
    /// - Throws: The errors of `TaskOperationQueue.addOperation`.
    func add(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        try taskQueue.addOperation(operation)
        list(operation)
    }

    /// Adds operations of Foundation in one step. If this closes a cycle, the cycle is reported, and its operations
    /// wait until one of them is cancelled.
    ///
    /// - Throws: The errors of `TaskOperationQueue.addOperations`, except `TaskOperationError.dependencyCycle`.
    func add(_ legacies: [Foundation.Operation]) throws {
        let claims = try LegacyNode.claim(legacies, threads: executor.threads, reportsCycles: true)
        do {
            try taskQueue.add(claims)
        } catch {
            guard case .dependencyCycle = error else {
                for claim in claims { claim.refuse() }
                throw error
            }
            MisuseReport.report("\(error)")
            addLater(claims)
        }
        for claim in claims { list(claim.operation, original: claim.node?.legacy) }
    }

    /// Adds operations that close a cycle with barriers of the queue, or with bodies that wait until it is empty.
    /// Operations that close a cycle by themselves are added without their dependencies; the others are added when the
    /// queue is empty.
    private func addLater(_ claims: [LegacyNode.Claim]) {
        for claim in claims {
            claim.dropDependencies()
            claim.node?.wasSubmitted()
        }
        Task.detached(executorPreference: bridgeExecutor) { [taskQueue] in
            for claim in claims {
                while taskQueue.isCycleClosed(by: claim.operation) { try? await taskQueue.waitToTheEnd() }
            }
        }
    }
}

extension TaskOperationQueue {
    /// Adds an operation, or returns true if it would close a cycle. An operation that was cancelled meanwhile has
    /// ended.
    fileprivate func isCycleClosed(by operation: AnyTaskOperation) -> Bool {
        do {
            try addOperation(operation)
        } catch .dependencyCycle {
            return true
        } catch {}
        return false
    }
}
