public import Dispatch
public import TaskOperations

extension DispatchGroup {
    /// Waits until the group is empty, without blocking a thread.
    ///
    /// Cancelling the task does not end the wait, because the code after it relies on the empty group.
    public func finished() async {
        _ = await waitForNotification(timeout: nil) { notify(queue: bridgeQueue, execute: $0) }
    }

    /// Waits until the group is empty or the time is up, without blocking a thread.
    ///
    /// Dispatch keeps a notification until the group is empty, so each wait that has timed out occupies about 100 bytes
    /// until then.
    ///
    /// - Parameter timeout: The time at which the wait ends.
    /// - Returns: Whether the group was empty in time.
    public func finished(timeout: DispatchTime) async -> DispatchTimeoutResult {
        await waitForNotification(timeout: timeout) { notify(queue: bridgeQueue, execute: $0) }
    }

    /// Enters the group for an operation, and leaves it when the operation has finished, with any outcome. Dependents
    /// and tasks that await the operation continue only afterwards.
    public func enter(for operation: AnyTaskOperation) {
        enter()
        operation.addCompletionHandler(on: bridgeExecutor) { self.leave() }
    }
}
