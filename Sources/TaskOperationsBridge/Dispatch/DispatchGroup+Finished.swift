public import Dispatch
public import TaskOperations

extension DispatchGroup {
    /// Waits until the group is empty, without blocking a thread.
    ///
    /// Cancelling the task does not end the wait, as what follows relies on the group being empty.
    public func finished() async {
        _ = await waitForNotification(timeout: nil) { notify(queue: bridgeQueue, execute: $0) }
    }

    /// Waits until the group is empty or the time is up, without blocking a thread.
    ///
    /// Dispatch keeps a notification until the group is empty, so that each wait that timed out costs some 100 bytes
    /// until then.
    ///
    /// - Parameter timeout: When to stop waiting.
    /// - Returns: Whether the group was empty in time.
    public func finished(timeout: DispatchTime) async -> DispatchTimeoutResult {
        await waitForNotification(timeout: timeout) { notify(queue: bridgeQueue, execute: $0) }
    }

    /// Enters the group for an operation, which leaves it when it has finished in whatever way. It leaves before
    /// anything that awaits or depends on the operation goes on.
    public func enter(for operation: AnyTaskOperation) {
        enter()
        operation.addCompletionHandler(on: bridgeExecutor) { self.leave() }
    }
}
