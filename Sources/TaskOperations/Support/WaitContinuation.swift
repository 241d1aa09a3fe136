// The continuation of a suspended task is stored in one place, behind a lock. The thread that resumes it removes it
// from there under the lock, so it is resumed once. Debug builds check this. In release builds, the check would take a
// twentieth of the time of an operation that is awaited on an idle queue.

#if DEBUG
    package typealias WaitContinuation<Value> = CheckedContinuation<Value, Never>
#else
    package typealias WaitContinuation<Value> = UnsafeContinuation<Value, Never>
#endif

/// Suspends the calling task until its continuation is resumed.
@inline(__always)
func withWaitContinuation<Value>(
    isolation: isolated (any Actor)? = #isolation, _ body: (WaitContinuation<Value>) -> Void
) async -> sending Value {
    #if DEBUG
        await withCheckedContinuation(isolation: isolation, body)
    #else
        await withUnsafeContinuation(isolation: isolation, body)
    #endif
}

/// Suspends the calling task until its continuation is resumed. The wait can be ended early.
///
/// An end before the registration finds no continuation. For this reason `isOver` is called after the registration.
///
/// - Parameters:
///   - endsWhenCancelled: Whether the wait ends when the task is cancelled.
///   - register: Stores the continuation for other threads, or resumes it.
///   - isOver: Called once after the registration: whether an event other than a cancellation has ended the wait before.
///   - end: Removes the continuation and resumes it. Has no effect if it is not stored.
@inline(__always)
package func withCancellableWait<Value: Sendable>(
    endsWhenCancelled: Bool = true, register: (WaitContinuation<Value>) -> Void, isOver: () -> Bool = { false },
    end: @Sendable () -> Void
) async -> Value {
    await withTaskCancellationHandler {
        await withWaitContinuation { continuation in
            register(continuation)
            if endsWhenCancelled && Task.isCancelled || isOver() { end() }
        }
    } onCancel: {
        if endsWhenCancelled { end() }
    }
}

/// Suspends the calling task like the form without `raise`, and passes on its priority.
///
/// - Parameter raise: Called with the priority of the task when the priority increases during the wait, and once after the
///   registration. Has no effect if the continuation is not stored.
@inline(__always)
func withCancellableWait<Value: Sendable>(
    endsWhenCancelled: Bool = true, register: (WaitContinuation<Value>) -> Void,
    raise: @escaping @Sendable (TaskPriority) -> Void, isOver: () -> Bool = { false }, end: @Sendable () -> Void
) async -> Value {
    var value: Value?
    await withTaskCancellationHandler {
        await withEscalationHandler {
            value = await withWaitContinuation { continuation in
                register(continuation)
                raise(Task.currentPriority)
                if endsWhenCancelled && Task.isCancelled || isOver() { end() }
            }
        } onEscalated: { priority in
            raise(priority)
        }
    } onCancel: {
        if endsWhenCancelled { end() }
    }
    return value!
}
