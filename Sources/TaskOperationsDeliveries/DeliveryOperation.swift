import TaskOperations

// Only this file passes the options of deliveries to the queue.

extension TaskOperationQueue {
    /// Waits until the queue has started an empty operation with the options of a delivery. At this time, the queue
    /// could start the delivery, too. The empty operation returns its tokens to the rates, and passes no interceptors.
    ///
    /// - Parameter consumption: The operation that represents the consumption in a body; nil outside of bodies.
    /// - Throws: The error with which the empty operation ended, if it did not start. `CancellationError` if the task
    ///   is cancelled. An error that names a cycle if the queue cannot start deliveries before the body ends.
    func waitForStart(_ options: DeliveryOptions, within consumption: TaskOperation<Void>?) async throws {
        let probe = makePull(for: options.operation)
        defer {
            // If the wait is refused, the operation must not remain in the queue.
            probe.cancel()
            try? consumption?.removeDependency(probe)
        }
        try consumption?.addDependency(probe)
        try await addOperationWaitingForRoom(probe)
        try await withTaskCancellationHandler {
            try await probe.result.get()
        } onCancel: {
            probe.cancel()
        }
    }
}

extension HeldDelivery {
    /// The operation always waits for its body, because the body's end decides the answer to the engine. It also
    /// decides when the next delivery of the key may start.
    func makeOperation() -> TaskOperation<Void> {
        let abandonsBody = consumer.queue.abandonsBody(options.operation)
        let operation: OperationOptions = abandonsBody ? [options.operation, .overrun(.wait)] : options.operation
        return TaskOperation(name: options.name, dependencies: options.dependencies, operation) {
            try await self.execute()
        }
    }
}

extension AnyTaskOperation {
    /// Whether the operation was cancelled for another reason than a timeout of its own, which also cancels it.
    ///
    /// - Parameter failure: The outcome of the operation.
    func wasCancelled(withFailure failure: any Error) -> Bool {
        if case .timedOut(.operation(let label), _) = failure as? TaskOperationError, label == OperationLabel(self) {
            return false
        }
        return isCancelled
    }
}
