// The continuation of a suspended task is stored in one place, which a lock protects. The thread that resumes the
// continuation removes it under the lock, so it is resumed once. Debug builds check this. In release builds, the check
// would take 5 % of the time of an operation that is awaited on an idle queue.

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
/// If the wait is ended before the registration, `end` finds no continuation. For this reason, `isOver` is called after
/// the registration.
///
/// - Parameters:
///   - endsWhenCancelled: Whether the wait ends when the task is cancelled.
///   - register: Stores the continuation for other threads, or resumes it.
///   - isOver: Called once after the registration. Returns whether an event other than a cancellation has ended the
///     wait before.
///   - end: Removes the continuation and resumes it. Has no effect if the continuation is not stored.
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

/// Suspends the calling task like the form without `raise`, and reports the priority of the task.
///
/// - Parameter raise: Called with the task's priority when that priority increases during the wait, and once after the
///   registration. Has no effect if the continuation is not stored.
@inline(__always)
func withCancellableWait(
    endsWhenCancelled: Bool = true, register: (WaitContinuation<Bool>) -> Void,
    raise: @Sendable (TaskPriority) -> Void, isOver: () -> Bool = { false }, end: @Sendable () -> Void
) async -> Bool {
    await withWaitHandlers(endsWhenCancelled: endsWhenCancelled, raise: raise, end: end) { continuation in
        register(continuation)
        raise(Task.currentPriority)
        if endsWhenCancelled && Task.isCancelled || isOver() { end() }
    }
}

/// Suspends the calling task until its continuation is resumed, with handlers of its cancellation and escalation.
///
/// - Parameters:
///   - endsWhenCancelled: Whether to call `end` when the task is cancelled.
///   - raise: Called with the task's priority when that priority increases.
///   - end: Called when the task is cancelled, or if it was cancelled before.
///   - register: Stores the continuation for other threads, or resumes it. A handler that is called earlier finds no
///     continuation. For this reason, `register` reads the priority and the cancellation of the task after storing the
///     continuation, or under the lock that the handlers take.
@inline(__always)
func withWaitHandlers(
    endsWhenCancelled: Bool, raise: @Sendable (TaskPriority) -> Void, end: @Sendable () -> Void,
    register: (WaitContinuation<Bool>) -> Void
) async -> Bool {
    await withTaskCancellationHandler {
        var isEnd = false
        await withEscalationHandler {
            // The isolation is the same as that of the enclosing closure. The compiler does not know that, and would
            // otherwise hop twice.
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

// Escalation of tasks needs a runtime newer than the platforms that this package supports. On an older runtime,
// operations are still raised in their queues, but a task that is already executing keeps its priority.

/// Performs an operation, and calls a handler if the task is escalated meanwhile.
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
    /// Raises the task's priority, if the runtime can.
    func escalateIfAvailable(to priority: TaskPriority) {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            escalatePriority(to: priority)
        }
    }
}

extension Task {
    /// Raises the task's priority, if the runtime can.
    package func escalateIfAvailable(to priority: TaskPriority) {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            escalatePriority(to: priority)
        }
    }
}
