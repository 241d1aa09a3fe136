extension TaskOperation {
    /// Starts work that reports with a completion handler. It must not block.
    public typealias CallbackBody = @Sendable (_ completion: CompletionHandler<Success>) throws -> Void

    /// Makes an operation for an API with a completion handler. The operation executes, and holds its permit, from
    /// the start of the work until the completion is called.
    ///
    /// ```swift
    /// let page = TaskOperation<Data>(name: "page") { completion in
    ///     let request = client.load(url) { data, error in completion(data, error) }
    ///     completion.onCancel { _ in request.cancel() }
    /// }
    /// ```
    ///
    /// Cancelling the operation while it executes calls the handler given to `onCancel`; the operation ends when
    /// the completion is called even so, since the work is not over before that.
    ///
    /// - Parameters:
    ///   - name: What it is called in messages and descriptions.
    ///   - priority: What orders it among the ready operations of its queue.
    ///   - dependencies: Operations that have to be finished first, whatever comes of them.
    ///   - start: Starts the work. What it throws is what the operation fails with.
    public convenience init(
        name: String? = nil,
        priority: TaskPriority = .medium,
        dependencies: [AnyTaskOperation] = [],
        callback start: @escaping CallbackBody
    ) {
        self.init(name: name, priority: priority, dependencies: dependencies) { () async throws -> Success in
            let call = PendingCallback<Success>("\(OperationLabel(AnyTaskOperation.current!))")
            call.begin(start)
            return try await call.value
        }
    }
}

extension TaskOperationQueue {
    /// Makes an operation for an API with a completion handler and adds it.
    ///
    /// - Parameters: As for `TaskOperation.init(name:priority:dependencies:callback:)`.
    @discardableResult
    public func addOperation<Success>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        dependencies: [AnyTaskOperation] = [],
        callback start: @escaping TaskOperation<Success>.CallbackBody
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(name: name, priority: priority, dependencies: dependencies, callback: start)
        addNew(operation)
        return operation
    }
}
