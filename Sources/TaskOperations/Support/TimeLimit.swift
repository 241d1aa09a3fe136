import Synchronization

/// Performs a wait. If a time limit passes first, calls a handler that ends the wait.
///
/// Use this function like `withTaskCancellationHandler`. The handler only ends the wait, and `operation` returns the
/// result. The handler is called at most once, with no lock held. No call of the handler begins after this function has
/// returned. However, a call that began earlier may still be running.
///
/// - Parameters:
///   - timeout: The time until the handler is called; nil for no limit. If the time is not positive, the handler is
///     called at once.
///   - clock: The clock that measures the time.
///   - operation: The wait.
///   - onTimeout: The handler, which ends the wait.
package func withTimeLimit<Result, Failure>(
    _ timeout: Duration?, clock: any Clock<Duration>, operation: () async throws(Failure) -> Result,
    onTimeout: @escaping @Sendable () -> Void
) async throws(Failure) -> Result {
    guard let timeout else { return try await operation() }
    let limit = TimeLimit(onTimeout)
    limit.start(timeout, clock: clock)
    defer { limit.end() }
    return try await operation()
}

/// A timer that calls a function once, after a given time.
package final class TimeLimit: DeadlineTarget, @unchecked Sendable {
    // Accessed only under the lock of `Deadlines`.
    var deadlinePlace: DeadlinePlace?

    private struct State: Sendable {
        var handler: (@Sendable () -> Void)?
        /// The task that sleeps if `Deadlines` cannot store the deadline; otherwise nil.
        var task: Task<Void, Never>?
    }

    private let state: Lock<State>

    package init(_ handler: @escaping @Sendable () -> Void) {
        state = Lock(State(handler: handler))
    }

    package func start(_ timeout: Duration, clock: some Clock<Duration>) {
        if Deadlines.add(self, after: timeout, on: clock) { return }
        let task = Deadlines.sleep(for: self, timeout, on: clock)
        state.withLock { $0.task = task }
    }

    package func end() {
        Deadlines.remove(self)
        let ended = state.withLock { state in
            defer { state = State() }
            return state
        }
        ended.task?.cancel()
    }

    func deadlinePassed() {
        let handler = state.withLock { $0.handler.take() }
        handler?()
    }
}
