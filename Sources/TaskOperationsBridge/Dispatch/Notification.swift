internal import Dispatch
internal import TaskOperations
internal import TaskOperationsExtras

/// The queue of the bridge's own handlers. They are short. The only user code that they call are the properties for the
/// state of a Foundation operation. The queue is serial, so it gets a thread even if blocked work holds all threads of
/// the global queues.
let bridgeQueue = DispatchQueue(label: "TaskOperationsBridge", qos: .userInitiated)

#if !TASK_OPERATIONS_EXPLORED
    /// Runs the bridge's own tasks on this queue. They only wait.
    let bridgeExecutor = DispatchQueueExecutor(bridgeQueue)
#endif

/// Waits for a notification of a Dispatch object, without blocking a thread.
///
/// - Parameters:
///   - timeout: The time at which the wait ends; nil for no limit.
///   - subscribe: Registers the handler that it gets, to be called on `bridgeQueue`.
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
