public import Dispatch
public import TaskOperations

extension DispatchWorkItem {
    /// Waits until the item has run, without blocking a thread. The wait also ends if Dispatch skips the item because
    /// it was cancelled. An item that has not been submitted yet must first be submitted and run.
    ///
    /// Cancelling the task does not end the wait, and does not cancel the item. To cancel the item, call `cancel()`.
    public func finished() async {
        _ = await waitForNotification(timeout: nil) { notify(queue: bridgeQueue, execute: $0) }
    }

    /// Waits until the item has run or was skipped, or the time is up, without blocking a thread.
    ///
    /// - Parameter timeout: The time at which the wait ends.
    /// - Returns: `.success` if the item had run or was skipped in time.
    public func finished(timeout: DispatchTime) async -> DispatchTimeoutResult {
        await waitForNotification(timeout: timeout) { notify(queue: bridgeQueue, execute: $0) }
    }
}

extension TaskOperation where Success == Void {
    /// Creates an operation for a work item. When the operation starts, it submits the item to a Dispatch queue. It
    /// finishes when the item has run.
    ///
    /// Cancelling the executing operation cancels the item. If any code cancels the item, the operation fails with
    /// `CancellationError`.
    ///
    /// - Parameters:
    ///   - workItem: The item. Old code can still cancel, await and observe the item. Only this operation may submit
    ///     it.
    ///   - queue: The Dispatch queue on which the item runs.
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: The operations that must finish first, with any outcome.
    ///   - options: The other options.
    public convenience init(
        _ workItem: DispatchWorkItem, on queue: DispatchQueue,
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions()
    ) {
        let shared = SharedWorkItem(item: workItem)
        self.init(name: name, priority: priority, dependencies: dependencies, options) { () async throws -> Void in
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
