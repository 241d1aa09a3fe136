import TaskOperations

/// Tells code that blocks a thread that its result is no longer needed. Tasks need no signal, because they can be
/// cancelled.
public final class CancellationSignal: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var handlers: [@Sendable () -> Void] = []
    }

    private let state = Lock(State())

    /// Creates a signal that has not been sent.
    public init() {}

    /// Whether the signal has been sent.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Sends the signal.
    public func cancel() {
        let handlers = state.withLock { state in
            state.isCancelled = true
            defer { state.handlers = [] }
            return state.handlers
        }
        for handler in handlers { handler() }
    }

    /// Calls a handler once, when the signal is sent. If it has been sent already, calls the handler at once.
    public func onCancel(_ handler: @escaping @Sendable () -> Void) {
        let isTooLate = state.withLock { state in
            if !state.isCancelled { state.handlers.append(handler) }
            return state.isCancelled
        }
        if isTooLate { handler() }
    }

    /// Throws if the signal has been sent.
    public func check() throws {
        if isCancelled { throw CancellationError() }
    }
}
