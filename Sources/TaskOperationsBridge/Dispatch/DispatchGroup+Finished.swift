public import Dispatch
public import TaskOperations

extension DispatchGroup {
    /// Waits until the group is empty, without blocking a thread.
    ///
    /// Cancelling the task does not end the wait, because the code after the wait relies on an empty group.
    public func finished() async {
        _ = await waitForNotification(timeout: nil) { notify(queue: bridgeQueue, execute: $0) }
    }

    /// Waits until the group is empty or the time is up, without blocking a thread.
    ///
    /// Dispatch keeps each notification until the group is empty. So a wait that has timed out occupies about 100 bytes
    /// until the group is empty.
    ///
    /// - Parameter timeout: The time at which the wait ends.
    /// - Returns: `.success` if the group was empty in time.
    public func finished(timeout: DispatchTime) async -> DispatchTimeoutResult {
        await waitForNotification(timeout: timeout) { notify(queue: bridgeQueue, execute: $0) }
    }

    /// Enters the group for an operation, and leaves the group when the operation has finished, with any outcome. The
    /// group is left before dependents of the operation start, and before tasks that await the operation resume.
    public func enter(for operation: AnyTaskOperation) {
        enter()
        operation.addHandler(on: bridgeExecutor) { _ in self.leave() }
    }
}
