extension TaskOperationQueue {
    /// Has something done around each body: a span of a trace, a scope of a database, a task local that bodies see.
    ///
    /// ```swift
    /// queue.addBodyInterceptor { operation, body in
    ///     try await withSpan(operation.name ?? "operation") { _ in try await body() }
    /// }
    /// ```
    ///
    /// To be called before operations are added: one that starts at the same time may go without. What is added later is
    /// put around what there is. It runs where bodies do, with the permit of the operation, which is cancelled with it, and
    /// with the task locals that the queue inherits; the current operation is known within `body` only. An operation whose
    /// body does not run keeps out of it.
    ///
    /// - Parameter surround: Calls `body`, once, which throws what the body of the operation throws. That is the outcome,
    ///   whatever is thrown on; an error that is thrown instead of calling `body` is the outcome otherwise. The body may not
    ///   be called at all: then the operation fails with `BodySurroundingError.bodyNotCalled`.
    public func addBodyInterceptor(
        _ surround:
            @escaping @Sendable (_ operation: AnyTaskOperation, _ body: () async throws -> Void) async throws -> Void
    ) {
        scheduler.surroundings.add(surround)
    }
}
