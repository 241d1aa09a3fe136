/// A completion that is outstanding: what the operation's body keeps, while the `OperationCompletion` is only with
/// whoever is to call it, so that its release shows that nobody will.
final class PendingCallback<Success: Sendable>: Sendable {
    private struct State: Sendable {
        var isCompleted = false
        var isCancelled = false
        var wasReported = false
        var cancellationHandler: (@Sendable () -> Void)?
    }

    private let operation: OperationLabel
    private let outcome = OneShot<Result<Success, any Error>>()
    private let state = Lock(State())

    init(_ operation: OperationLabel) {
        self.operation = operation
    }

    /// Waits for the completion, and hands cancellation on meanwhile.
    var value: Success {
        get async throws {
            try await withTaskCancellationHandler {
                try await outcome.value.get()
            } onCancel: {
                cancel()
            }
        }
    }

    func complete(_ result: Result<Success, any Error>) {
        if settle(result) { return }
        let isFirstReport = state.withLock { state in
            defer { state.wasReported = true }
            return !state.wasReported
        }
        if isFirstReport {
            MisuseReport.report("The completion of \(operation) was called more than once. The first call counts.")
        }
    }

    func complete(value: Success?, error: (any Error)?) {
        if let error { return complete(.failure(error)) }
        complete(value.map { .success($0) } ?? .failure(CallbackError.noOutcome(operation)))
    }

    func completionWasReleased() {
        settle(.failure(CallbackError.completionReleased(operation)))
    }

    /// Returns false where there is an outcome already.
    @discardableResult
    func settle(_ result: Result<Success, any Error>) -> Bool {
        // The handler is freed after the lock is left: it may hold anything.
        let (isFirst, handler) = state.withLock { state in
            defer { state.isCompleted = true }
            return (!state.isCompleted, state.cancellationHandler.take())
        }
        _ = handler
        if isFirst { outcome.provide(result) }
        return isFirst
    }

    func setCancellationHandler(_ handler: @escaping @Sendable () -> Void) {
        let (mustCall, replaced) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
            if state.isCompleted || state.isCancelled { return (!state.isCompleted, nil) }
            defer { state.cancellationHandler = handler }
            return (false, state.cancellationHandler)
        }
        _ = replaced
        if mustCall { handler() }
    }

    private func cancel() {
        let handler = state.withLock { state in
            state.isCancelled = true
            return state.cancellationHandler.take()
        }
        handler?()
    }
}
