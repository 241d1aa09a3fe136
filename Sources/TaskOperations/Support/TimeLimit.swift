/// Performs a wait that ends early when its time limit has passed.
///
/// It is used like `withTaskCancellationHandler`: the handler only ends the wait, and `operation` returns the result.
/// The handler is called at most once, with no lock held. The handler does not begin after this function has returned,
/// but may still be running at that time.
///
/// - Parameters:
///   - timeout: The longest duration; nil for no limit. If it is not positive, the handler is called at once.
///   - clock: The clock that measures it.
///   - operation: The wait.
///   - onTimeout: Ends the wait.
package func withTimeLimit<C: Clock, Result, Failure>(
    _ timeout: C.Duration?, clock: C, operation: () async throws(Failure) -> Result,
    onTimeout: @escaping @Sendable () -> Void
) async throws(Failure) -> Result {
    guard let timeout else { return try await operation() }
    let limit = TimeLimit(onTimeout)
    limit.start(timeout, clock: clock)
    defer { limit.end() }
    return try await operation()
}

/// A deadline that calls a function when it passes.
package final class TimeLimit: DeadlineTarget, @unchecked Sendable {
    // Accessed only under the lock of `Deadlines`.
    var deadlinePlace: DeadlinePlace?

    private struct State: Sendable {
        var handler: (@Sendable () -> Void)?
        /// The task that sleeps instead if `Deadlines` cannot store the deadline.
        var task: Task<Void, Never>?
    }

    private let state: Lock<State>

    package init(_ handler: @escaping @Sendable () -> Void) {
        state = Lock(State(handler: handler))
    }

    package func start<C: Clock>(_ timeout: C.Duration, clock: C) {
        if let clock = clock as? any Clock<Duration>, let timeout = timeout as? Duration {
            if Deadlines.add(self, after: timeout, on: clock) { return }
        }
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
