// The interface for the bridge. It covers operations that represent work outside this library, and bodies with their
// own executors.

import Synchronization

extension TaskOperation where Success == Void {
    /// Creates an operation that represents work outside this library. Call `finishExternally` to end the operation.
    package static func placeholder(name: String?) -> TaskOperation<Void> {
        let operation = TaskOperation<Void>(name: name) {}
        operation.rejectSubmission()
        return operation
    }
}

extension AnyTaskOperation {
    /// Lets queues accept the operation again, after `rejectSubmission`.
    package func acceptSubmission() {
        record.withLock { record in
            if record.phase == .created { record.wasSubmitted = false }
        }
    }

    /// Waits for the end of the operation. A waiting body always lends its permit, because the awaited work may need a
    /// permit without the library's knowledge. Cancelling the task does not end the wait.
    package func waitLendingPermit() async throws(TaskOperationError) {
        try await Self.withWaitEdge(.operation(self), permit: .lent) {
            _ = await suspendUntilFinished(endsEarly: false)
        }
    }

    /// Makes queues refuse the operation with `TaskOperationError.alreadyAdded`.
    package func rejectSubmission() {
        record.withLock { $0.wasSubmitted = true }
    }

    /// Ends the operation if it has not started. Its body never runs.
    package func finishExternally() {
        let ended = inOneStepWithHost { record -> (OperationEnding, Scheduler?)? in
            if record.phase >= .executing { return nil }
            let host = record.host
            return (record.end(nil), host)
        } then: { ended in
            if let (ending, _) = ended { notifyDependents(endedUnstarted: ending) }
        }
        if let (ending, host) = ended { performUnstartedEnd(ending, host) }
    }

    /// Runs the body on `executor` if the queue has no executor. If the next operation has the same executor, it runs
    /// in the same task, without a change of executors.
    ///
    /// Call this before the operation is added.
    package func runBody(on executor: any TaskExecutor) {
        record.withLock { $0.madeLinks().executor = executor }
    }
}
