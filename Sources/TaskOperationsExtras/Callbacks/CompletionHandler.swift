import TaskOperations

/// A completion handler for an API that takes one. Calling it ends the operation, or the call of
/// `withCompletionHandler`, that created it.
///
/// Only the first call has an effect. Later calls are ignored, and the misuse is reported once to `MisuseReport`, with
/// the name of the work. If the completion is released without a call, the outcome is a failure with
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

    /// Ends the work with an optional value and an optional error, as many APIs pass them. If both are non-nil, the
    /// error counts. If both are nil, the outcome is a failure with `CallbackError.noOutcome`.
    public func callAsFunction(_ value: Success?, _ error: (any Error)?) {
        call.complete(value: value, error: error)
    }

    /// Sets a handler that is called once if the work is cancelled before it is completed. If the work is already
    /// cancelled, the handler is called within this call. A later handler replaces an earlier one.
    ///
    /// The handler stops the work, which then calls the completion. If stopped work does not call the completion, the
    /// handler must call it.
    ///
    /// ```swift
    /// completion.onCancel { completion in
    ///     socket.close()
    ///     completion(throwing: CancellationError())
    /// }
    /// ```
    ///
    /// The handler is kept until the work is completed or cancelled. It gets the completion as a parameter, because a
    /// handler that captured the completion would keep it: a dropped completion would then never end the work.
    public func onCancel(_ handler: @escaping @Sendable (_ completion: CompletionHandler<Success>) -> Void) {
        if call.setCancellationHandler(handler) { handler(self) }
    }
}

extension CompletionHandler where Success == Void {
    /// Ends the work.
    public func callAsFunction() {
        call.complete(.success(()))
    }

    /// Ends the work. If `error` is not nil, the work fails with it.
    public func callAsFunction(_ error: (any Error)?) {
        call.complete(error.map { .failure($0) } ?? .success(()))
    }
}
