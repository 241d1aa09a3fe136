// What the bridge needs of operations beyond their public interface: one that stands for something which ends by
// itself or is run by a queue, and a body that has a place of its own.

extension TaskOperation where Success == Void {
    /// Makes an operation that stands for something which no queue runs. `endFromOutside` ends it.
    package static func standIn(name: String?) -> TaskOperation<Void> {
        let operation = TaskOperation<Void>(name: name) {}
        operation.closeToQueues()
        return operation
    }
}

extension AnyTaskOperation {
    /// Lets queues take an operation again.
    package func openToQueues() {
        record.withLock { record in
            if record.phase == .created { record.wasSubmitted = false }
        }
    }

    /// Waits for the end, and the body that waits lends its permit out meanwhile: what it waits for may need one in a way
    /// that cannot be seen. Cancelling the task does not end the wait.
    package func waitLendingPermit() async throws(TaskOperationError) {
        try await Self.whileAwaiting(.operation(self), permit: .lent) {
            _ = await suspendUntilFinished(endsEarly: false)
        }
    }

    /// Has queues refuse an operation as one that was added before.
    package func closeToQueues() {
        record.withLock { $0.wasSubmitted = true }
    }

    /// Ends an operation that stands for something else and has not started. What waits for it goes on; its body never
    /// runs.
    package func endFromOutside() {
        let ended = inOneStepWithHost { record -> (OperationEnding, (any OperationHost)?)? in
            if record.phase >= .executing { return nil }
            let host = record.host
            return (record.end(nil), host)
        } then: { ended in
            if let (ending, _) = ended { letDependentsGoOn(endedUnstarted: ending) }
        }
        if let (ending, host) = ended { carryOutUnstarted(ending, host) }
    }

    /// Has the body run on an executor in queues that have none themselves. What comes after it there, and wants the same
    /// one, runs on the same task without leaving that executor in between.
    ///
    /// To be called before the operation is added.
    package func runBody(on executor: any TaskExecutor) {
        record.withLock { $0.madeLinks().executor = executor }
    }
}
