extension TaskOperationQueue {
    /// Adds an interceptor: a function that calls each body. Use it for a trace span, a transaction or a task local.
    ///
    /// ```swift
    /// queue.addBodyInterceptor { operation, body in
    ///     try await withSpan(operation.name ?? "operation") { _ in try await body() }
    /// }
    /// ```
    ///
    /// Call this before you add operations: an operation that starts at the same time may run without the interceptor.
    /// An interceptor that is added later wraps the earlier ones. It runs in the task of the body, on the body's
    /// executor, with the permit of the operation and the task locals that the queue inherits. Only within `body`,
    /// `current` is the operation. The interceptor is not called for an operation whose body does not run.
    ///
    /// - Parameter surround: Calls `body` once. `body` throws the error of the operation's body, and the outcome of
    ///   that body is the outcome of the operation, even if `surround` throws another error. If `surround` throws
    ///   without calling `body`, the operation fails with that error. If it returns without calling `body`, the
    ///   operation fails with `BodySurroundingError.bodyNotCalled`.
    public func addBodyInterceptor(
        _ surround:
            @escaping @Sendable (_ operation: AnyTaskOperation, _ body: () async throws -> Void) async throws -> Void
    ) {
        scheduler.surroundings.add(surround)
    }
}
