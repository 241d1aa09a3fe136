public import TaskOperations

extension TaskOperation {
    /// A function that starts work. The work reports its outcome with a completion handler. The function must not
    /// block.
    public typealias CallbackBody = @Sendable (_ completion: CompletionHandler<Success>) throws -> Void

    /// Creates an operation for an API with a completion handler. The operation executes until the completion is
    /// called. It holds its permit during this time.
    ///
    /// ```swift
    /// let page = TaskOperation<Data>(name: "page") { completion in
    ///     let request = client.load(url) { data, error in completion(data, error) }
    ///     completion.onCancel { _ in request.cancel() }
    /// }
    /// ```
    ///
    /// Cancelling the executing operation calls the handler of `onCancel`. The operation does not end before the
    /// completion is called, because the work is still in progress.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: The operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - start: Starts the work. If it throws, the operation fails with that error.
    public convenience init(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        callback start: @escaping CallbackBody
    ) {
        self.init(name: name, priority: priority, dependencies: dependencies, options) { () async throws -> Success in
            let call = PendingCallback<Success>("\(OperationLabel(AnyTaskOperation.current!))")
            call.begin(start)
            return try await call.value
        }
    }
}

extension TaskOperationQueue {
    /// Creates an operation for an API with a completion handler, and adds the operation to the queue.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: The operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - start: Starts the work. If it throws, the operation fails with that error.
    @discardableResult
    public func addOperation<Success>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        callback start: @escaping TaskOperation<Success>.CallbackBody
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(
            name: name, priority: priority, dependencies: dependencies, options, callback: start)
        addNew(operation)
        return operation
    }
}
