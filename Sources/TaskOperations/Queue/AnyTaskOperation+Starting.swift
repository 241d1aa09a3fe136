extension AnyTaskOperation {
    /// Starts the operation without a queue: at once, in a task of its own priority, whatever else runs.
    ///
    /// - Throws: `TaskOperationError.notReady` if a dependency is unfinished, and `.alreadyAdded` if the
    ///   operation was added to a queue or started before. Nothing changes then.
    public func start() throws(TaskOperationError) {
        try Scheduler.withoutQueue.submit(self, mustBeReady: true)
    }

    /// Starts an operation that was just made: without dependencies, and added nowhere.
    func startNew() {
        do {
            try start()
        } catch {
            preconditionFailure("a new operation could not be started: \(error)")
        }
    }
}

extension Scheduler {
    /// Runs what is started by hand.
    static let withoutQueue = Scheduler(
        queueName: nil, width: .max, place: .pool, isSuspended: false, taskLocals: [], permit: nil)
}
