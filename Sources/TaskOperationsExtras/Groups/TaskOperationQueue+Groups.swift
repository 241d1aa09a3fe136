public import TaskOperations

extension TaskOperationQueue {
    /// Creates an operation that consists of other operations, and adds it. It finishes after all of them, including
    /// operations that are added while it runs. See `TaskOperationGroup`.
    ///
    /// ```swift
    /// let sync = queue.addGroup(.name("sync"), failures: .collect) { sync in
    ///     for account in accounts { sync.addOperation(name: account.name) { try await account.sync() } }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - options: The options of the group. Operations without a priority have the priority of the group.
    ///   - maxConcurrentOperationCount: The number of its bodies that may execute at once; not negative.
    ///   - failures: The effect of a failure on the other operations of the group.
    ///   - body: A closure that adds operations. After it returns, the group continues until all operations have
    ///     finished. If it throws, the remaining operations are cancelled, and the group fails with that error.
    /// - Returns: The operation, with the value of `body`.
    @discardableResult
    public func addGroup<Value>(
        _ options: OperationOptions = OperationOptions(),
        maxConcurrentOperationCount: Int = defaultMaxConcurrentOperationCount,
        failures: FailurePolicy = .cancelRest,
        _ body: @escaping @Sendable (TaskOperationGroup) async throws -> Value
    ) -> TaskOperation<Value> {
        let configuration = Configuration(maxConcurrentOperationCount: maxConcurrentOperationCount)
        return addGroup(options, configuration, failures: failures, body)
    }

    /// Creates an operation that consists of other operations, with a configuration for their queue, and adds it.
    ///
    /// - Parameters:
    ///   - options: The options of the group.
    ///   - configuration: The configuration of the queue within the group. Without an executor, task locals or a name
    ///     it has those of this queue and of the group.
    ///   - failures: The effect of a failure on the other operations of the group.
    ///   - body: Adds operations.
    /// - Returns: The operation, with the value of `body`.
    @discardableResult
    public func addGroup<Value>(
        _ options: OperationOptions = OperationOptions(),
        _ configuration: Configuration,
        failures: FailurePolicy = .cancelRest,
        _ body: @escaping @Sendable (TaskOperationGroup) async throws -> Value
    ) -> TaskOperation<Value> {
        let operation = TaskOperation(options, configuration, failures: failures, group: body)
        addNew(operation)
        return operation
    }
}

extension TaskOperation {
    /// Creates an operation that consists of other operations, to be added to a queue later. See `addGroup` of a queue.
    ///
    /// - Parameters:
    ///   - options: The options of the group.
    ///   - configuration: The configuration of the queue within the group.
    ///   - failures: The effect of a failure on the other operations of the group.
    ///   - body: Adds operations.
    public convenience init(
        _ options: OperationOptions = OperationOptions(),
        _ configuration: TaskOperationQueue.Configuration = TaskOperationQueue.Configuration(),
        failures: FailurePolicy = .cancelRest,
        group body: @escaping @Sendable (TaskOperationGroup) async throws -> Success
    ) {
        configuration.check()
        self.init(options) { try await Self.runGroup(configuration, failures, body) }
    }

    private static func runGroup(
        _ configuration: TaskOperationQueue.Configuration, _ failures: FailurePolicy,
        _ body: @Sendable (TaskOperationGroup) async throws -> Success
    ) async throws -> Success {
        let operation = AnyTaskOperation.current!
        let outer = operation.scheduler
        var configuration = configuration
        configuration.name = configuration.name ?? operation.name
        configuration.executor = configuration.executor ?? outer?.bodyExecutor
        configuration.taskLocals += outer?.taskLocals ?? []
        return try await withTaskOperationQueue(configuration, failures: failures) { queue in
            let members = GroupMembers(of: operation, on: queue)
            let suspension = GroupSuspension(of: queue.scheduler, in: outer ?? .withoutQueue)
            suspension.begin()
            defer { suspension.end() }
            let value = try await body(TaskOperationGroup(queue, members, suspension))
            try await members.waitForAll()
            return value
        }
    }
}
