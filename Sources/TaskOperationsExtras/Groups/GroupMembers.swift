import TaskOperations

/// The operations of a group. Their combined progress is the progress of the group.
final class GroupMembers: Sendable {
    private let queue: TaskOperationQueue
    /// The operation that represents the group.
    private let operation: AnyTaskOperation
    /// Each operation is in this `AsyncGroup` until it has been counted, which may happen after it has left the queue.
    private let uncounted = AsyncGroup()
    private let progress: ProgressSum

    init(of operation: AnyTaskOperation, on queue: TaskOperationQueue) {
        self.operation = operation
        self.queue = queue
        let unit = operation.progressUnit
        progress = ProgressSum(of: unit)
        progress.register(for: queue.scheduler)
        unit?.setParts(progress)
    }

    /// The priority of operations that are added without one.
    var priority: TaskPriority { operation.effectivePriority }

    func willAdd() {
        uncounted.enter()
        operation.joinSumOfQueue()
        progress.countAddition()
    }

    func wasRefused() {
        progress.countEnd(wasAdded: false)
        uncounted.leave()
    }

    func didAdd(_ operation: AnyTaskOperation) {
        if !operation.addHandlerUnlessFinished({ [self] _ in didEnd() }) { didEnd() }
    }

    private func didEnd() {
        operation.joinSumOfQueue()
        progress.countEnd()
        uncounted.leave()
    }

    /// Waits until all operations have ended, including those that are added meanwhile.
    ///
    /// - Throws: `CancellationError` if the group was cancelled and this cancelled one of its operations.
    func waitForAll() async throws {
        try await queue.waitUntilAllOperationsAreFinished()
        await uncounted.wait()
        if operation.isCancelled, queue.scheduler.failures?.hasCancelled == true { throw CancellationError() }
    }
}
