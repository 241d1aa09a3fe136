public import TaskOperations

// The one place where the options of operations meet the queue.

extension TaskOperationQueue {
    /// Adds the operation of a delivery.
    func add(_ operation: TaskOperation<Void>, after predecessor: AnyTaskOperation?) {
        do {
            if let predecessor { try operation.addDependency(predecessor) }
            try addOperation(operation)
        } catch {
            preconditionFailure("a new operation was refused: \(error)")
        }
    }

    /// Whether the queue would certainly start one more operation with a delivery's options at once.
    func couldStartAnother(_ options: DeliveryOptions) -> Bool {
        options.operation.weight == 1 && options.operation.limits.isEmpty && couldStartAnother
    }

    /// Waits until the queue has started an empty operation with a delivery's options: then it could start the delivery.
    /// The empty operation gives its token of the rate back.
    ///
    /// - Returns: Whether it was started. False if it was cancelled with other operations of the queue: ask again.
    /// - Throws: If the task is cancelled, or the queue starts nothing any more.
    func waitForStart(_ options: DeliveryOptions) async throws -> Bool {
        let options = options.operation
        let probe = TaskOperation(name: "pull", priority: options.priority) { [self] in giveBackStart() }
        try! probe.setWeight(options.weight)
        try! probe.setLimits(options.limits)
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
        let options = options.operation
        let operation = TaskOperation(name: options.name, priority: options.priority) { try await self.execute() }
        try! operation.setWeight(options.weight)
        try! operation.setLimits(options.limits)
        if options.retry != nil || options.timeLimit != nil {
            try! operation.setPolicies(retry: options.retry, timeLimit: options.timeLimit)
        }
        return operation
    }
}

/// Stands for the options of the library until these exist.
public struct OperationOptions: Sendable {
    public var name: String?
    public var priority = TaskPriority.medium
    public var weight = 1
    public var limits: [AsyncSemaphore] = []
    public var retry: RetryPolicy?
    public var timeLimit: Duration?
    public init(name: String? = nil) { self.name = name }
}
