import TaskOperations

// Only this file passes the options of deliveries to the queue.

extension TaskOperationQueue {
    func add(_ operation: TaskOperation<Void>, after predecessor: AnyTaskOperation?) {
        do {
            if let predecessor { try operation.addDependency(predecessor) }
            try addOperation(operation)
        } catch {
            preconditionFailure("a new operation was refused: \(error)")
        }
    }

    /// Whether the queue would certainly start another operation with these options at once.
    func couldStartAnother(_ options: DeliveryOptions) -> Bool {
        options.operation.takesOnePermit && couldStartAnother
    }

    /// Waits until the queue has started an empty operation with the options of a delivery. At this time, the queue
    /// could start the delivery, too. The empty operation returns its token to the rate.
    ///
    /// - Returns: Whether the empty operation was started. If it was cancelled with other operations of the queue,
    ///   returns false, and the caller must try again.
    /// - Throws: An error if the task is cancelled or the queue was shut down.
    func waitForStart(_ options: DeliveryOptions) async throws -> Bool {
        let probe = TaskOperation(options.operation.ofPlaceholder(named: "pull")) { [self] in giveBackStart() }
        do {
            try await addOperationWaitingForRoom(probe)
            try await withTaskCancellationHandler {
                try await probe.result.get()
            } onCancel: {
                probe.cancel()
            }
            return true
        } catch is CancellationError {
            try Task.checkCancellation()
            return false
        }
    }
}

extension HeldDelivery {
    func makeOperation() -> TaskOperation<Void> {
        TaskOperation(options.operation) { try await self.execute() }
    }
}
