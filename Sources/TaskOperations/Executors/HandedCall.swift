/// A synchronous function that another thread calls for a task, which may give up as long as the call has not
/// begun.
package final class HandedCall<Value: Sendable>: Sendable {
    private let function: @Sendable () throws -> Value
    private let hasBegun = Lock(false)
    private let outcome = OneShot<Result<Value, any Error>>()

    private init(_ function: @escaping @Sendable () throws -> Value) {
        self.function = function
    }

    /// Has a function called elsewhere, and waits for what comes of it.
    ///
    /// - Parameter submit: Arranges for the call that it gets to be made.
    /// - Throws: What the function throws, or `CancellationError` if the task is cancelled before the call has
    ///   begun. The function is not called then.
    package static func make(
        _ function: @escaping @Sendable () throws -> Value, by submit: (@escaping @Sendable () -> Void) throws -> Void
    ) async throws -> Value {
        try Task.checkCancellation()
        let call = HandedCall(function)
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

    /// Returns whether this is the first who begins: the call, or giving it up.
    private func begin() -> Bool {
        hasBegun.withLock { hasBegun in
            defer { hasBegun = true }
            return !hasBegun
        }
    }
}
