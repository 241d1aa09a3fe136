extension TaskOperationQueue {
    /// Adds an interceptor, which is a function that calls each body. Use it for a trace span, a transaction or a task
    /// local.
    ///
    /// ```swift
    /// queue.addBodyInterceptor { operation, body in
    ///     try await withSpan(operation.name ?? "operation") { _ in try await body() }
    /// }
    /// ```
    ///
    /// Call this before you add operations. An operation that starts at the same time may run without the interceptor.
    /// An interceptor that is added later wraps the earlier interceptors.
    ///
    /// The interceptor runs in the task of the body, on the body's executor. The operation holds its permit, and the
    /// inherited task locals are set. `current` is the operation only within `body`. If the body of an operation does
    /// not run, the interceptor is not called.
    ///
    /// - Parameter surround: Calls `body` once. `body` throws the error of the operation's body. The outcome of the
    ///   operation is the outcome of its body, even if `surround` throws another error. If `surround` throws without
    ///   calling `body`, the operation fails with that error. If `surround` returns without calling `body`, the
    ///   operation fails with `BodySurroundingError.bodyNotCalled`.
    public func addBodyInterceptor(
        _ surround:
            @escaping @Sendable (_ operation: AnyTaskOperation, _ body: () async throws -> Void) async throws -> Void
    ) {
        scheduler.surroundings.add(surround)
    }
}
