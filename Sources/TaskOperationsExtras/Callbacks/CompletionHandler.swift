import TaskOperations

/// A completion handler for an API that reports with a callback.
///
/// An operation or a call of `withCompletionHandler` creates the completion handler. Calling the handler ends that
/// operation or call.
///
/// Only the first call has an effect. Later calls are ignored. The first ignored call is reported to `MisuseReport`,
/// with the name of the work. If the handler is released without being called, the work fails with
/// `CallbackError.completionReleased`.
public final class CompletionHandler<Success: Sendable>: Sendable {
    private let call: PendingCallback<Success>

    init(_ call: PendingCallback<Success>) {
        self.call = call
        call.setCompletion(self)
    }

    deinit { call.completionWasReleased() }

    /// Ends the work with an outcome.
    public func callAsFunction(_ outcome: Result<Success, any Error>) {
        call.complete(outcome)
    }

    /// Ends the work with an outcome whose error has a specific type.
    public func callAsFunction(_ outcome: Result<Success, some Error>) {
        call.complete(outcome.mapError { $0 })
    }

    /// Ends the work with a value.
    public func callAsFunction(returning value: Success) {
        call.complete(.success(value))
    }

    /// Ends the work with an error.
    public func callAsFunction(throwing error: any Error) {
        call.complete(.failure(error))
    }

    /// Ends the work with an optional value and an optional error, as many APIs pass them. If the error is not nil, the
    /// value is ignored. If both are nil, the work fails with `CallbackError.noOutcome`.
    public func callAsFunction(_ value: Success?, _ error: (any Error)?) {
        call.complete(value: value, error: error)
    }

    /// Sets a cancellation handler. It is called once if the work is cancelled before the completion is called. If the
    /// work is already cancelled, `onCancel` calls the handler and then returns. A later handler replaces an earlier
    /// one.
    ///
    /// The cancellation handler must stop the work. If the stopped work does not call the completion, the cancellation
    /// handler must call the completion.
    ///
    /// ```swift
    /// completion.onCancel { completion in
    ///     socket.close()
    ///     completion(throwing: CancellationError())
    /// }
    /// ```
    ///
    /// The cancellation handler is retained until the work is completed or cancelled. Use its parameter instead of
    /// capturing the completion. The cancellation handler would retain a captured completion. If the work then released
    /// the completion without a call, the operation would never end.
    public func onCancel(_ handler: @escaping @Sendable (_ completion: CompletionHandler<Success>) -> Void) {
        if call.setCancellationHandler(handler) { handler(self) }
    }
}

extension CompletionHandler where Success == Void {
    /// Ends the work.
    public func callAsFunction() {
        call.complete(.success(()))
    }

    /// Ends the work. If `error` is not nil, the work fails with this error.
    public func callAsFunction(_ error: (any Error)?) {
        call.complete(error.map { .failure($0) } ?? .success(()))
    }
}
