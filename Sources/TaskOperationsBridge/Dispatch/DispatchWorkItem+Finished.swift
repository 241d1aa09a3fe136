public import Dispatch
public import TaskOperations

extension DispatchWorkItem {
    /// Waits until the item has run, or was skipped because it was cancelled, without blocking a thread. An item
    /// that is not submitted anywhere is waited for until it is.
    ///
    /// Cancelling the task ends neither the wait nor the item; `cancel()` is for that.
    public func finished() async {
        _ = await waitForNotification(timeout: nil) { notify(queue: bridgeQueue, execute: $0) }
    }

    /// Waits until the item has run, or was skipped, or the time is up, without blocking a thread.
    ///
    /// - Parameter timeout: When to stop waiting.
    /// - Returns: Whether the item was done in time.
    public func finished(timeout: DispatchTime) async -> DispatchTimeoutResult {
        await waitForNotification(timeout: timeout) { notify(queue: bridgeQueue, execute: $0) }
    }
}

extension TaskOperation where Success == Void {
    /// Makes an operation that submits a work item to a Dispatch queue when it starts, and is finished when the item
    /// is. Cancelling the operation while it executes cancels the item; an item that is cancelled, from either side,
    /// makes the operation fail with `CancellationError`.
    ///
    /// - Parameters:
    ///   - workItem: The item. Old code can still cancel, await and observe it; only this operation may submit it.
    ///   - queue: The Dispatch queue on which the item runs.
    ///   - options: The options.
    public convenience init(
        _ workItem: DispatchWorkItem, on queue: DispatchQueue, _ options: OperationOptions = OperationOptions()
    ) {
        let shared = SharedWorkItem(item: workItem)
        self.init(options) { () async throws -> Void in
            try await shared.run(on: queue)
        }
    }
}

private struct SharedWorkItem: @unchecked Sendable {  // Dispatch's own calls on an item are safe from any thread.
    let item: DispatchWorkItem

    func run(on queue: DispatchQueue) async throws {
        queue.async(execute: item)
        await withTaskCancellationHandler {
            await item.finished()
        } onCancel: {
            item.cancel()
        }
        if item.isCancelled { throw CancellationError() }
    }
}
