// The interface for the bridge: operations that represent work outside this library, and bodies with their own
// executor.

extension TaskOperation where Success == Void {
    /// Creates an operation that represents work outside this library. `finishExternally` ends it.
    package static func placeholder(name: String?) -> TaskOperation<Void> {
        let operation = TaskOperation<Void>(name: name) {}
        operation.rejectSubmission()
        return operation
    }
}

extension AnyTaskOperation {
    /// Lets queues take an operation again.
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

    /// Makes queues refuse the operation as already added.
    package func rejectSubmission() {
        record.withLock { $0.wasSubmitted = true }
    }

    /// Ends an operation that represents other work and has not started. Its body never runs.
    package func finishExternally() {
        let ended = inOneStepWithHost { record -> (OperationEnding, Scheduler?)? in
            if record.phase >= .executing { return nil }
            let host = record.host
            return (record.end(nil), host)
        } then: { ended in
            if let (ending, _) = ended { letDependentsGoOn(endedUnstarted: ending) }
        }
        if let (ending, host) = ended { carryOutUnstarted(ending, host) }
    }

    /// Runs the body on `executor` if the queue has no executor. If the next operation has the same executor, it runs
    /// in the same task, which stays on the executor.
    ///
    /// Call this before the operation is added.
    package func runBody(on executor: any TaskExecutor) {
        record.withLock { $0.madeLinks().executor = executor }
    }
}
