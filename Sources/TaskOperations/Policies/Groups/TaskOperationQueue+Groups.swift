extension TaskOperationQueue {
    /// Makes an operation that consists of others, and adds it. It is finished when all of these are, those included that
    /// are added while it runs. See `TaskOperationGroup`.
    ///
    /// ```swift
    /// let sync = queue.addGroup(name: "sync", failures: .collectAll) { sync in
    ///     for account in accounts { sync.addOperation(name: account.name) { try await account.sync() } }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: What the group is called in messages and descriptions.
    ///   - priority: What orders it among the ready operations of the queue, and is that of its operations if they have
    ///     none of their own.
    ///   - maxConcurrentOperationCount: How many of its bodies may execute at once; not negative.
    ///   - failures: What a failure within the group does to the rest.
    ///   - dependencies: Operations that have to be finished before it starts, whatever comes of them.
    ///   - body: Adds operations. The group goes on after it, until all are finished. If it throws, what is left is
    ///     cancelled, and the group fails with that error.
    /// - Returns: The operation, with the value of `body`.
    @discardableResult
    public func addGroup<Value>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        maxConcurrentOperationCount: Int = defaultMaxConcurrentOperationCount,
        failures: GroupFailurePolicy = .failFast,
        dependencies: [AnyTaskOperation] = [],
        _ body: @escaping @Sendable (TaskOperationGroup) async throws -> Value
    ) -> TaskOperation<Value> {
        let operation = TaskOperation(
            name: name, priority: priority, maxConcurrentOperationCount: maxConcurrentOperationCount,
            failures: failures, dependencies: dependencies, group: body)
        addNew(operation)
        return operation
    }
}

extension TaskOperation {
    /// Makes an operation that consists of others: what `addGroup` of a queue adds.
    ///
    /// - Parameters: As for `addGroup` of a queue.
    public convenience init(
        name: String? = nil,
        priority: TaskPriority = .medium,
        maxConcurrentOperationCount: Int = TaskOperationQueue.defaultMaxConcurrentOperationCount,
        failures: GroupFailurePolicy = .failFast,
        dependencies: [AnyTaskOperation] = [],
        group body: @escaping @Sendable (TaskOperationGroup) async throws -> Success
    ) {
        TaskOperationQueue.checkWidth(maxConcurrentOperationCount)
        self.init(name: name, priority: priority, dependencies: dependencies) {
            try await Self.runGroup(name, maxConcurrentOperationCount, failures, body)
        }
    }

    private static func runGroup(
        _ name: String?, _ width: Int, _ policy: GroupFailurePolicy,
        _ body: @Sendable (TaskOperationGroup) async throws -> Success
    ) async throws -> Success {
        let operation = executing!
        let outer = operation.record.withLock { $0.host } as? Scheduler
        return try await withTaskOperationQueue(
            name: name, maxConcurrentOperationCount: width, executor: outer?.bodyExecutor,
            inheriting: outer?.taskLocals ?? []
        ) { queue in
            let members = GroupMembers(of: operation, on: queue, policy)
            let suspension = GroupSuspension(of: queue.scheduler, in: outer ?? .withoutQueue)
            suspension.begin()
            defer { suspension.end() }
            let value = try await body(TaskOperationGroup(queue, members, suspension))
            try await members.waitForAll()
            return value
        }
    }
}

extension Scheduler {
    /// The executor that was given for bodies.
    fileprivate nonisolated var bodyExecutor: (any TaskExecutor)? {
        if case .executor(let executor) = place { executor } else { nil }
    }
}
