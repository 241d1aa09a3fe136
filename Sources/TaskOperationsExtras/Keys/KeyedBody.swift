import Synchronization
import TaskOperations

/// The body of an operation with a key. Another body can replace it until it begins.
final class KeyedBody<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var body: TaskOperation<Value>.Body?
        var hasBegun = false
    }

    private let state: Lock<State>

    init(_ body: @escaping TaskOperation<Value>.Body) {
        state = Lock(State(body: body))
    }

    /// Runs the body. A retry policy calls this several times, with the same body.
    func run() async throws -> Value {
        let body = state.withLock { state in
            state.hasBegun = true
            return state.body
        }
        // An abandoned operation has ended before its body, which may still call this.
        guard let body else { throw CancellationError() }
        return try await body()
    }

    /// Replaces the body. Does nothing and returns false if the body has begun.
    func replace(by new: @escaping TaskOperation<Value>.Body) -> Bool {
        let former = state.withLock { state in
            if state.hasBegun { return nil as TaskOperation<Value>.Body? }
            defer { state.body = new }
            return state.body
        }
        return former != nil
    }

    /// Releases the body. Called at the end of the operation.
    func end() {
        let former = state.withLock { state in
            state.hasBegun = true
            return state.body.take()
        }
        extendLifetime(former)
    }
}
