import Synchronization
import TaskOperations

/// A call of a synchronous function on another thread. The task that waits for the call can cancel it before it begins.
package final class CancellableCall<Value: Sendable>: Sendable {
    private let function: @Sendable () throws -> Value
    private let hasBegun = Lock(false)
    private let outcome = Promise<Result<Value, any Error>>()

    private init(_ function: @escaping @Sendable () throws -> Value) {
        self.function = function
    }

    /// Calls a function on another thread, and waits for its result.
    ///
    /// - Parameter submit: A function that receives the call and makes another thread perform it.
    /// - Throws: The error that the function throws. If the task is cancelled before the call begins, throws
    ///   `CancellationError` and does not call the function.
    package static func make(
        _ function: @escaping @Sendable () throws -> Value, by submit: (@escaping @Sendable () -> Void) throws -> Void
    ) async throws -> Value {
        try Task.checkCancellation()
        let call = CancellableCall(function)
        return try await withTaskCancellationHandler {
            try submit { call.perform() }
            return try await call.outcome.value.get()
        } onCancel: {
            if call.begin() { call.outcome.provide(.failure(CancellationError())) }
        }
    }

    private func perform() {
        if begin() { outcome.provide(Result { try function() }) }
    }

    /// Returns true only for the first call. Both `perform` and the cancellation call this.
    private func begin() -> Bool {
        hasBegun.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
    }
}
