extension TaskOperationQueue {
    /// Adds a function that is called around each body: for a span of a trace, a transaction, or a task local.
    ///
    /// ```swift
    /// queue.addBodyInterceptor { operation, body in
    ///     try await withSpan(operation.name ?? "operation") { _ in try await body() }
    /// }
    /// ```
    ///
    /// Call this before operations are added: an operation that starts at the same time may run without the function. A
    /// function that is added later surrounds the earlier ones. It runs on the executor of the body, with the permit of the
    /// operation, in its task, and with the task locals that the queue inherits. Within `body` only, `current` is the
    /// operation. The function is not called for an operation whose body does not run.
    ///
    /// - Parameter surround: Calls `body` once. `body` throws the error of the operation's body, and the outcome of that
    ///   body is the outcome of the operation, even if `surround` throws another error. If `surround` throws without calling
    ///   `body`, the operation fails with that error. If it returns without calling `body`, the operation fails with
    ///   `BodySurroundingError.bodyNotCalled`.
    public func addBodyInterceptor(
        _ surround:
            @escaping @Sendable (_ operation: AnyTaskOperation, _ body: () async throws -> Void) async throws -> Void
    ) {
        scheduler.surroundings.add(surround)
    }
}
