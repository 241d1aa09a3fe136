@_spi(Lock) import TaskOperations

/// A completion that has not been called yet. The waiting side retains this object. Only the calling side retains the
/// `CompletionHandler`. If the handler is released, the completion can never be called.
final class PendingCallback<Success: Sendable>: Sendable {
    typealias CancellationHandler = @Sendable (CompletionHandler<Success>) -> Void

    private struct State: Sendable {
        var isCompleted = false
        var isCancelled = false
        var wasReported = false
        var cancellationHandler: CancellationHandler?
        /// The argument of the handler. Loaded under the lock, and never released there.
        weak var completion: CompletionHandler<Success>?
    }

    /// The name of the work in messages.
    private let label: String
    private let outcome = Promise<Result<Success, any Error>>()
    private let state = Lock(State())

    init(_ label: String) {
        self.label = label
    }

    /// Starts the work. This object does not retain the completion. If `start` throws, the completion must be released
    /// only after the error is recorded.
    func begin(_ start: (CompletionHandler<Success>) throws -> Void) {
        withExtendedLifetime(CompletionHandler(self)) { completion in
            do {
                try start(completion)
            } catch {
                settle(.failure(error))
            }
        }
    }

    func setCompletion(_ completion: CompletionHandler<Success>) {
        state.withLock { $0.completion = completion }
    }

    /// Waits for the completion. Passes on a cancellation during the wait.
    var value: Success {
        get async throws {
            try await AnyTaskOperation.recordingWait(.completionHandler, self) {
                try await withTaskCancellationHandler {
                    try await outcome.value.get()
                } onCancel: {
                    cancel()
                }
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
            MisuseReport.report("The completion of \(label) was called more than once. The first call counts.")
        }
    }

    func complete(value: Success?, error: (any Error)?) {
        if let error { return complete(.failure(error)) }
        complete(value.map { .success($0) } ?? .failure(CallbackError.noOutcome(label)))
    }

    func completionWasReleased() {
        settle(.failure(CallbackError.completionReleased(label)))
    }

    /// Provides the outcome. Returns false if there already is an outcome.
    @discardableResult
    func settle(_ result: Result<Success, any Error>) -> Bool {
        // The handler is freed after the lock is released, because freeing it may run any code.
        let (isFirst, handler) = state.withLock { state in
            defer { state.isCompleted = true }
            return (!state.isCompleted, state.cancellationHandler.take())
        }
        _ = handler
        if isFirst { outcome.provide(result) }
        return isFirst
    }

    /// Returns true if the caller must call the handler now.
    func setCancellationHandler(_ handler: @escaping CancellationHandler) -> Bool {
        let (mustCall, replaced) = state.withLock { state -> (Bool, CancellationHandler?) in
            if state.isCompleted || state.isCancelled { return (!state.isCompleted, nil) }
            defer { state.cancellationHandler = handler }
            return (false, state.cancellationHandler)
        }
        _ = replaced
        return mustCall
    }

    private func cancel() {
        let (handler, completion) = state.withLock { state in
            state.isCancelled = true
            return (state.cancellationHandler.take(), state.completion)
        }
        // Without a completion, its release is about to end the work.
        if let completion { handler?(completion) }
    }
}

extension PendingCallback: AwaitedSubject {
    package var waitDescription: String { "the completion of \(label)" }
}
