public import Dispatch
public import TaskOperations

extension DispatchWorkItem {
    /// Waits until the item has run, or was skipped because it was cancelled, without blocking a thread. If the item
    /// has not been submitted, the wait continues until it is submitted and has run.
    ///
    /// Cancelling the task ends neither the wait nor the item. To cancel the item, call `cancel()`.
    public func finished() async {
        _ = await waitForNotification(timeout: nil) { notify(queue: bridgeQueue, execute: $0) }
    }

    /// Waits until the item has run, or was skipped, or the time is up, without blocking a thread.
    ///
    /// - Parameter timeout: The time at which the wait ends.
    /// - Returns: Whether the item was done in time.
    public func finished(timeout: DispatchTime) async -> DispatchTimeoutResult {
        await waitForNotification(timeout: timeout) { notify(queue: bridgeQueue, execute: $0) }
    }
}

extension TaskOperation where Success == Void {
    /// Creates an operation that submits a work item to a Dispatch queue when it starts, and finishes when the item has
    /// run. Cancelling the executing operation cancels the item. If the item is cancelled, by any code, the operation
    /// fails with `CancellationError`.
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
