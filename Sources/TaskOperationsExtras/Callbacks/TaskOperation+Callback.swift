public import TaskOperations

extension TaskOperation {
    /// Starts work that reports with a completion handler. It must not block.
    public typealias CallbackBody = @Sendable (_ completion: CompletionHandler<Success>) throws -> Void

    /// Creates an operation for an API with a completion handler. The operation executes, and holds its permit, from
    /// the start of the work until the completion is called.
    ///
    /// ```swift
    /// let page = TaskOperation<Data>(.name("page")) { completion in
    ///     let request = client.load(url) { data, error in completion(data, error) }
    ///     completion.onCancel { _ in request.cancel() }
    /// }
    /// ```
    ///
    /// Cancelling the executing operation calls the handler of `onCancel`. The operation still ends only when the
    /// completion is called, because only then is the work over.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - start: Starts the work. If it throws, the operation fails with that error.
    public convenience init(_ options: OperationOptions = OperationOptions(), callback start: @escaping CallbackBody) {
        self.init(options) { () async throws -> Success in
            let call = PendingCallback<Success>("\(OperationLabel(AnyTaskOperation.current!))")
            call.begin(start)
            return try await call.value
        }
    }
}

extension TaskOperationQueue {
    /// Creates an operation for an API with a completion handler and adds it.
    ///
    /// - Parameters:
    ///   - options: The options.
    ///   - start: Starts the work. If it throws, the operation fails with that error.
    @discardableResult
    public func addOperation<Success>(
        _ options: OperationOptions = OperationOptions(), callback start: @escaping TaskOperation<Success>.CallbackBody
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(options, callback: start)
        addNew(operation)
        return operation
    }
}
