internal import Dispatch
internal import TaskOperations
internal import TaskOperationsExtras

/// Where the bridge's own handlers run. They are short, and of a user's code they call only the properties that tell the
/// state of an operation of Foundation. The queue is serial, so it gets a thread even if blocked work holds all threads of
/// the global queues.
let bridgeQueue = DispatchQueue(label: "TaskOperationsBridge", qos: .userInitiated)

#if !TASK_OPERATIONS_EXPLORED
    /// Runs the bridge's own tasks there, which do nothing but wait.
    let bridgeExecutor = DispatchQueueExecutor(bridgeQueue)
#endif

/// Waits until something of Dispatch notifies, without blocking a thread.
///
/// - Parameters:
///   - timeout: When to stop waiting; nil for never.
///   - subscribe: Has the handler that it gets called on `bridgeQueue`.
func waitForNotification(
    timeout: DispatchTime?, subscribe: (_ handler: @escaping @Sendable () -> Void) -> Void
) async -> DispatchTimeoutResult {
    let result = OneShot<DispatchTimeoutResult>()
    subscribe { result.provide(.success) }
    guard let timeout else { return await result.value }
    let timer = startTimer(deadline: timeout) { result.provide(.timedOut) }
    defer { timer.cancel() }
    return await result.value
}

/// Has a handler called at a deadline, unless the timer is cancelled before.
func startTimer(deadline: DispatchTime, handler: @escaping @Sendable () -> Void) -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: bridgeQueue)
    timer.schedule(deadline: deadline)
    timer.setEventHandler(handler: handler)
    timer.activate()
    return timer
}
