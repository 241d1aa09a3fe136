extension Scheduler {
    // Not inlined: the room for all that it does would be made even if there is nothing to do.
    @inline(never)
    nonisolated func carryOut(_ outbox: State.Outbox) {
        if !outbox.newFloors.isEmpty { Inheritance.updateFloors(of: outbox.newFloors, in: self) }
        for level in outbox.workers { Worker.start(for: self, level: level) }
        for rejection in outbox.rejected { reject(rejection.element, rejection.reason) }
        for continuation in outbox.resumed { InlineJobs.resume(continuation) }
        if outbox.isOver { scopeWorkers?.end() }
        if let delay = outbox.wakeDelay { clock!.wake(self, after: delay) }
        // Last, as a listener is the user's, and may take long.
        if outbox.hasChanges { changeLog.deliver() }
    }

    /// Ends an operation that cannot start.
    private nonisolated func reject(_ operation: AnyTaskOperation, _ reason: State.Rejection.Reason) {
        let label = OperationLabel(operation)
        switch reason {
        case .cancelled: operation.cancel()
        case .shutDown: operation.endBeforeStart(.queueShutDown(label, queueName: queueName))
        case .full: operation.endBeforeStart(.queueFull(label, queueName: queueName))
        case .dropped: operation.endBeforeStart(.dropped(label, queueName: queueName))
        }
    }
}

extension AnyTaskOperation {
    fileprivate func endBeforeStart(_ error: TaskOperationError) { endBeforeStart(error, isCancellation: false) }
}
