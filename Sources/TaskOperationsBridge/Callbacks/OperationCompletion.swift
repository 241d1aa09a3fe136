internal import TaskOperations

/// What a callback operation hands to an API that reports with a completion handler. Calling it ends the
/// operation.
///
/// The first call counts. A second one is ignored, and reported once to `MisuseReport` with the operation's name.
/// Where the completion is released without a call, the operation fails with `CallbackError.completionReleased`.
public final class OperationCompletion<Success: Sendable>: Sendable {
    private let call: PendingCallback<Success>

    init(_ call: PendingCallback<Success>) {
        self.call = call
    }

    deinit { call.completionWasReleased() }

    /// Ends the operation with an outcome.
    public func callAsFunction(_ outcome: Result<Success, any Error>) {
        call.complete(outcome)
    }

    /// Ends the operation with a value.
    public func callAsFunction(returning value: Success) {
        call.complete(.success(value))
    }

    /// Ends the operation with an error.
    public func callAsFunction(throwing error: any Error) {
        call.complete(.failure(error))
    }

    /// Ends the operation in the manner of handlers that get a value or an error. Where both are there, the error
    /// counts; where neither is, the operation fails with `CallbackError.noOutcome`.
    public func callAsFunction(_ value: Success?, _ error: (any Error)?) {
        call.complete(value: value, error: error)
    }

    /// Has a handler called once if the operation is cancelled before it is completed; at once, within this call,
    /// where it is cancelled already. The handler is to stop the work, which then calls the completion as ever.
    /// A later handler takes the place of an earlier one.
    ///
    /// The handler must not capture the completion: that would keep it, and hide that nothing else does. The form below
    /// hands it over instead.
    public func onCancel(_ handler: @escaping @Sendable () -> Void) {
        call.setCancellationHandler(handler)
    }

    /// Has a handler called as the other form does, with the completion, which it may call.
    ///
    /// ```swift
    /// completion.onCancel { completion in completion(throwing: CancellationError()) }
    /// ```
    public func onCancel(_ handler: @escaping @Sendable (_ completion: OperationCompletion) -> Void) {
        call.setCancellationHandler { [weak self] in
            if let self { handler(self) }
        }
    }
}

extension OperationCompletion where Success == Void {
    /// Ends the operation.
    public func callAsFunction() {
        call.complete(.success(()))
    }

    /// Ends the operation, with the error if there is one.
    public func callAsFunction(_ error: (any Error)?) {
        call.complete(error.map { .failure($0) } ?? .success(()))
    }
}
