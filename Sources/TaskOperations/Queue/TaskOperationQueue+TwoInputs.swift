extension TaskOperationQueue {
    /// Makes an operation that needs the values of two others and adds it. If one of these failed or was cancelled, the
    /// body does not run and the operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - first: An operation whose value the body gets.
    ///   - second: The operation whose value it gets after that.
    ///   - dependencies: More operations that have to be finished first, whatever comes of them.
    @discardableResult
    public func addOperation<First, Second, Success>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        after first: TaskOperation<First>,
        _ second: TaskOperation<Second>,
        dependencies: [AnyTaskOperation] = [],
        body: @escaping @Sendable (First, Second) async throws -> Success
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(
            name: name, priority: priority, after: first, second, dependencies: dependencies, body: body)
        addNew(operation)
        return operation
    }
}
