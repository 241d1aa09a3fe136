import Synchronization
import TaskOperations

/// A value for which one task waits. Several providers may provide a value, and only the first value is used.
///
/// The value may be provided before the wait begins.
package final class Promise<Value: Sendable>: Sendable {
    private enum State: Sendable {
        case empty
        case awaited(CheckedContinuation<Value, Never>)
        case provided(Value)
        /// The value was passed to the waiting task.
        case taken
    }

    private let state = Lock(State.empty)

    package init() {}

    /// Provides the value. If a value was provided before, has no effect and returns false.
    @discardableResult
    package func provide(_ value: Value) -> Bool {
        let (isFirst, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Value, Never>?) in
            switch state {
            case .empty:
                state = .provided(value)
                return (true, nil)
            case .awaited(let continuation):
                state = .taken
                return (true, continuation)
            case .provided, .taken:
                return (false, nil)
            }
        }
        waiting?.resume(returning: value)
        return isFirst
    }

    /// Whether the value was provided.
    package var isProvided: Bool {
        state.withLock { state in
            switch state {
            case .empty, .awaited: false
            case .provided, .taken: true
            }
        }
    }

    /// Waits for the value. Call it only once.
    package var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let value = state.withLock { state -> Value? in
                    switch state {
                    case .provided(let value):
                        state = .taken
                        return value
                    case .empty:
                        state = .awaited(continuation)
                        return nil
                    case .awaited, .taken:
                        preconditionFailure("the value of a Promise was asked for twice: \(state)")
                    }
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }
}
