public import TaskOperations

extension TaskOperationAdding {
    /// Creates a group, and adds it to the queue. A group is an operation that consists of other operations. It
    /// finishes after all of these operations, including operations that are added while it runs. See
    /// `TaskOperationGroup`.
    ///
    /// ```swift
    /// let sync = queue.addGroup(name: "sync", failures: .collect) { sync in
    ///     for account in accounts { sync.addOperation(name: account.name) { try await account.sync() } }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: The operations that must finish first, with any outcome.
    ///   - options: The options of the group. Operations without a priority have the priority of the group.
    ///   - maxConcurrentOperationCount: The maximum number of operations of the group that execute at once; not
    ///     negative.
    ///   - failures: The effect of a failure on the other operations of the group.
    ///   - body: A closure that adds operations. After the closure returns, the group continues until all operations
    ///     have finished. If the closure throws, the remaining operations are cancelled, and the group fails with that
    ///     error.
    /// - Returns: The operation that represents the group. Its value is the value of `body`.
    @discardableResult
    public func addGroup<Value>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        maxConcurrentOperationCount: Int = TaskOperationQueue.defaultMaxConcurrentOperationCount,
        failures: FailurePolicy = .cancelRest,
        _ body: @escaping @Sendable (TaskOperationGroup) async throws -> Value
    ) -> TaskOperation<Value> {
        let configuration = TaskOperationQueue.Configuration(
            maxConcurrentOperationCount: maxConcurrentOperationCount)
        return addGroup(
            name: name, priority: priority, dependencies: dependencies, options, configuration,
            failures: failures, body
        )
    }

    /// Creates a group with a configuration of its inner queue, and adds the group to this queue. A group is an
    /// operation that consists of other operations.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: The operations that must finish first, with any outcome.
    ///   - options: The options of the group.
    ///   - configuration: The configuration of the group's inner queue. If the configuration has no executor, the inner
    ///     queue uses the executor of this queue. If it has no name, the inner queue has the name of the group. The
    ///     task locals of this queue apply in addition.
    ///   - failures: The effect of a failure on the other operations of the group.
    ///   - body: A closure that adds operations.
    /// - Returns: The operation that represents the group. Its value is the value of `body`.
    @discardableResult
    public func addGroup<Value>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        _ configuration: TaskOperationQueue.Configuration,
        failures: FailurePolicy = .cancelRest,
        _ body: @escaping @Sendable (TaskOperationGroup) async throws -> Value
    ) -> TaskOperation<Value> {
        let operation = TaskOperation(
            name: name, priority: priority ?? priorityOfAddedOperations, dependencies: dependencies,
            options,
            configuration, failures: failures, group: body)
        addNew(operation, isBarrier: false)
        return operation
    }
}

extension TaskOperation {
    /// Creates a group that can be added to a queue later. A group is an operation that consists of other operations.
    /// See `TaskOperationQueue.addGroup`.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: The operations that must finish first, with any outcome.
    ///   - options: The options of the group.
    ///   - configuration: The configuration of the group's inner queue.
    ///   - failures: The effect of a failure on the other operations of the group.
    ///   - body: A closure that adds operations.
    public convenience init(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        _ configuration: TaskOperationQueue.Configuration = TaskOperationQueue.Configuration(),
        failures: FailurePolicy = .cancelRest,
        group body: @escaping @Sendable (TaskOperationGroup) async throws -> Success
    ) {
        configuration.check()
        self.init(name: name, priority: priority, dependencies: dependencies, options) {
            try await Self.runGroup(configuration, failures, body)
        }
    }

    private static func runGroup(
        _ configuration: TaskOperationQueue.Configuration, _ failures: FailurePolicy,
        _ body: @Sendable (TaskOperationGroup) async throws -> Success
    ) async throws -> Success {
        let operation = AnyTaskOperation.current!
        // An operation has a scheduler until its body has ended.
        let outer = operation.scheduler!
        var configuration = configuration
        configuration.name = configuration.name ?? operation.name
        configuration.executor = configuration.executor ?? outer.bodyExecutor
        configuration.taskLocals += outer.taskLocals
        return try await withTaskOperationQueue(configuration, failures: failures) { queue in
            let members = GroupMembers(of: operation, on: queue)
            let suspension = GroupSuspension(of: queue.scheduler, in: outer)
            suspension.begin()
            defer { suspension.end() }
            let value = try await body(TaskOperationGroup(queue, members, suspension))
            try await members.waitForAll()
            return value
        }
    }
}
