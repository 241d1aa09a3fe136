import Synchronization
import TaskOperations

/// The state of a `CompletionHandler`.
///
/// The waiting task retains this object, but not the `CompletionHandler`. Only the work retains the handler. If the
/// work releases the handler, nothing can call it any more.
final class PendingCallback<Success: Sendable>: Sendable {
    typealias CancellationHandler = @Sendable (CompletionHandler<Success>) -> Void

    private struct State: Sendable {
        var isCompleted = false
        var isCancelled = false
        var wasReported = false
        var cancellationHandler: CancellationHandler?
        /// The argument of the cancellation handler. Load it under the lock, but release it after unlocking.
        weak var completion: CompletionHandler<Success>?
    }

    /// The name of the work in messages.
    private let label: String
    private let outcome = Promise<Result<Success, any Error>>()
    private let state = Lock(State())

    init(_ label: String) {
        self.label = label
    }

    /// Starts the work. If `start` throws, the error is recorded before the completion is released. Otherwise the
    /// release would record `CallbackError.completionReleased`.
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

    /// Waits until the completion is called. If the task is cancelled meanwhile, calls the cancellation handler.
    var value: Success {
        get async throws {
            try await AnyTaskOperation.recordingWait(.completionHandler, "the completion of \(self.label)") {
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

    /// Provides the outcome. Returns false if an outcome was provided before.
    @discardableResult
    func settle(_ result: Result<Success, any Error>) -> Bool {
        // Frees the handler after unlocking, because freeing a closure may run any code.
        let (isFirst, handler) = state.withLock { state in
            defer { state.isCompleted = true }
            return (!state.isCompleted, state.cancellationHandler.take())
        }
        _ = handler
        if isFirst { outcome.provide(result) }
        return isFirst
    }

    /// Stores the handler, or returns true if the work is already cancelled. In that case the caller must call the
    /// handler.
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
        // If `completion` is nil, the completion was released, and its `deinit` ends the work.
        if let completion { handler?(completion) }
    }
}
