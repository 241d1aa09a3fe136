/// What is handed to an API that reports with a completion handler. Calling it ends the operation, or the call of
/// `withCompletionHandler`, that it was made for.
///
/// The first call counts. A second one is ignored, and reported once to `MisuseReport` by name. If the completion is
/// released without a call, the outcome is a failure with `CallbackError.completionReleased`.
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

    /// Ends the work with an outcome whose error has a type of its own.
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

    /// Ends the work in the manner of handlers that get a value or an error. If both are there, the error counts; if
    /// neither is, the outcome is a failure with `CallbackError.noOutcome`.
    public func callAsFunction(_ value: Success?, _ error: (any Error)?) {
        call.complete(value: value, error: error)
    }

    /// Has a handler called once if the work is cancelled before it is completed; at once, within this call, if it is
    /// cancelled already. The handler is to stop the work, which then calls the completion as ever. A later handler
    /// takes the place of an earlier one.
    ///
    /// A handler that captures the completion keeps it from being released, so that nobody would learn that it was
    /// dropped. If the handler has to call the completion, use the form that passes it.
    public func onCancel(_ handler: @escaping @Sendable () -> Void) {
        onCancel { _ in handler() }
    }

    /// As `onCancel` without a parameter, for a handler that calls the completion itself: it gets that, and need not
    /// capture it.
    ///
    /// ```swift
    /// completion.onCancel { completion in completion(throwing: CancellationError()) }
    /// ```
    public func onCancel(_ handler: @escaping @Sendable (_ completion: CompletionHandler<Success>) -> Void) {
        if call.setCancellationHandler(handler) { handler(self) }
    }
}

extension CompletionHandler where Success == Void {
    /// Ends the work.
    public func callAsFunction() {
        call.complete(.success(()))
    }

    /// Ends the work, with the error if there is one.
    public func callAsFunction(_ error: (any Error)?) {
        call.complete(error.map { .failure($0) } ?? .success(()))
    }
}
