extension AnyTaskOperation {
    /// Starts the operation at once without a queue, in a task with the priority of the operation.
    ///
    /// - Throws: `TaskOperationError.notReady` if a dependency is unfinished. `TaskOperationError.alreadyAdded` if the
    ///   operation was already added to a queue or started. If the call throws, nothing changes.
    public func start() throws(TaskOperationError) {
        try Scheduler.withoutQueue.submit(self, mustBeReady: true)
    }

    /// Starts a new operation that has no dependencies and was not added to a queue.
    package func startNew() {
        do {
            try start()
        } catch {
            preconditionFailure("a new operation could not be started: \(error)")
        }
    }
}

extension Scheduler {
    /// The scheduler of operations that are started without a queue.
    package static let withoutQueue = Scheduler(
        queueName: nil, width: .max, place: .pool, isSuspended: false, taskLocals: [], permit: nil)
}
