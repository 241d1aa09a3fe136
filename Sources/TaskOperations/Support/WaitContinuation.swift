// A lock protects the stored continuation of a suspended task. A thread removes the continuation under the lock, and
// then resumes it. Therefore no continuation is resumed twice. Debug builds check this: Cost, row 15.

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
/// A call of `end` before the registration finds no continuation. For this reason, the function checks after the
/// registration whether the wait must end.
///
/// - Parameters:
///   - endsWhenCancelled: Whether the wait ends when the task is cancelled.
///   - register: Stores the continuation for other threads, or resumes it.
///   - isOver: Called after the registration, unless a cancellation has ended the wait. Returns true if another event
///     should already have ended the wait.
///   - end: Removes and resumes the continuation. Has no effect if the continuation is not stored.
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

/// Suspends the calling task until its continuation is resumed. During the wait, calls `end` when the task is
/// cancelled, and `raise` when the task is escalated.
///
/// - Parameters:
///   - endsWhenCancelled: Whether to call `end` when the task is cancelled.
///   - raise: Called with the task's priority when that priority increases.
///   - end: Called when the task is cancelled, or at the beginning if it was cancelled before.
///   - register: Stores the continuation for other threads, or resumes it. A handler that is called earlier finds no
///     continuation. For this reason, `register` must itself read the priority and the cancellation of the task. It
///     must read them after storing the continuation, or under the lock that the handlers take.
@inline(__always)
func withWaitHandlers(
    endsWhenCancelled: Bool, raise: @Sendable (TaskPriority) -> Void, end: @Sendable () -> Void,
    register: (WaitContinuation<Bool>) -> Void
) async -> Bool {
    await withTaskCancellationHandler {
        var isEnd = false
        await withEscalationHandler {
            // The call has the isolation of the enclosing closure. With the default argument, the compiler would not
            // know this, and the task would hop twice.
            isEnd = await withWaitContinuation(isolation: nil, register)
        } onEscalated: { priority in
            raise(priority)
        }
        return isEnd
    } onCancel: {
        if endsWhenCancelled { end() }
    }
}

// MARK: - Escalation

// The escalation of tasks needs a newer runtime than the oldest platforms that this package supports. On an older
// runtime, escalation still raises operations in their queues, but a task that is already executing keeps its priority.

/// Performs an operation, and calls a handler when the task is escalated during the operation.
@inline(__always)
package func withEscalationHandler<Failure>(
    _ operation: () async throws(Failure) -> Void, onEscalated: @Sendable (TaskPriority) -> Void
) async throws(Failure) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
        try await withTaskPriorityEscalationHandler { () async throws(Failure) in
            try await operation()
        } onPriorityEscalated: { _, priority in
            onEscalated(priority)
        }
    } else {
        try await operation()
    }
}

extension UnsafeCurrentTask {
    /// Raises the task's priority if the runtime supports escalation.
    func escalateIfAvailable(to priority: TaskPriority) {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            escalatePriority(to: priority)
        }
    }
}
