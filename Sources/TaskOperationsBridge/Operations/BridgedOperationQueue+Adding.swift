internal import Foundation
internal import TaskOperations
internal import TaskOperationsExtras

extension BridgedOperationQueue {
    /// Adds a new operation of this library. No other code has a reference to the operation.
    func add(_ operation: TaskOperation<Void>) {
        list(operation)
        taskQueue.addNew(operation)
    }

    /// Adds an operation of this library.
    ///
    /// - Throws: The errors of `TaskOperationQueue.addOperation(_:)`.
    func add(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        try taskQueue.addOperation(operation)
        list(operation)
    }

    /// Adds operations of Foundation in one step. If they close a cycle, the cycle is reported. The operations of the
    /// cycle then wait until one of them is cancelled.
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

    /// Adds operations that close a cycle with a barrier, or with a body that waits until the queue is empty.
    ///
    /// Each operation loses its dependencies, and waits for its `isReady` instead. If an operation still closes a
    /// cycle, it is added when the queue is empty.
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
    /// Adds an operation. Returns true if the operation would close a cycle and was not added. Ignores all other
    /// errors, because an operation that was cancelled meanwhile has ended.
    fileprivate func isCycleClosed(by operation: AnyTaskOperation) -> Bool {
        do {
            try addOperation(operation)
        } catch .dependencyCycle {
            return true
        } catch {}
        return false
    }
}
