@_spi(Lock) import TaskOperations

/// Tells code that blocks a thread that its result is not needed any more. A cancelled task knows this by itself.
public final class CancellationSignal: Sendable {
    private struct State: Sendable {
        var isCancelled = false
        var handlers: [@Sendable () -> Void] = []
    }

    private let state = Lock(State())

    /// Makes a signal that is not given yet.
    public init() {}

    /// Whether the signal was given.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Gives the signal.
    public func cancel() {
        let handlers = state.withLock { state in
            state.isCancelled = true
            defer { state.handlers = [] }
            return state.handlers
        }
        for handler in handlers { handler() }
    }

    /// Has a handler called once, when the signal is given; at once where it was given before.
    public func onCancel(_ handler: @escaping @Sendable () -> Void) {
        let isTooLate = state.withLock { state in
            if !state.isCancelled { state.handlers.append(handler) }
            return state.isCancelled
        }
        if isTooLate { handler() }
    }

    /// Throws where the signal was given.
    public func check() throws {
        if isCancelled { throw CancellationError() }
    }
}
