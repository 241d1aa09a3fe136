internal import Dispatch
internal import TaskOperations
internal import TaskOperationsExtras

/// The queue for the bridge's own handlers. The handlers are short. The only user code that they call is the state
/// properties of Foundation operations.
///
/// The queue is serial. Dispatch has a thread for a serial queue even if blocked work occupies all threads of the
/// global queues.
let bridgeQueue = DispatchQueue(label: "TaskOperationsBridge", qos: .userInitiated)

#if !TASK_OPERATIONS_EXPLORED
    /// Runs the bridge's own tasks, which only wait, on `bridgeQueue`.
    let bridgeExecutor = DispatchQueueExecutor(bridgeQueue)
#endif

/// Waits for a notification of a Dispatch object, without blocking a thread.
///
/// - Parameters:
///   - timeout: The time at which the wait ends. If nil, the wait is unlimited.
///   - subscribe: Registers its argument, so that Dispatch calls it on `bridgeQueue`.
func waitForNotification(
    timeout: DispatchTime?, subscribe: (_ handler: @escaping @Sendable () -> Void) -> Void
) async -> DispatchTimeoutResult {
    let result = Promise<DispatchTimeoutResult>()
    subscribe { result.provide(.success) }
    guard let timeout else { return await result.value }
    let timer = startTimer(deadline: timeout) { result.provide(.timedOut) }
    defer { timer.cancel() }
    return await result.value
}

/// Calls a handler at a deadline, unless the timer is cancelled first.
func startTimer(deadline: DispatchTime, handler: @escaping @Sendable () -> Void) -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: bridgeQueue)
    timer.schedule(deadline: deadline)
    timer.setEventHandler(handler: handler)
    timer.activate()
    return timer
}
