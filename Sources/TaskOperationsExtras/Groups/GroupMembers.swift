import TaskOperations

/// The operations of a group. Their combined progress is the progress of the group.
final class GroupMembers: Sendable {
    private let queue: TaskOperationQueue
    /// The operation that represents the group.
    private let operation: AnyTaskOperation
    /// The operations whose end `progress` has not counted yet. An operation may leave the queue before it is counted.
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

    /// The priority of operations that are added without a priority.
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

    /// Waits until all operations have ended, including operations that are added meanwhile.
    ///
    /// - Throws: `CancellationError` if the group and one of its operations were cancelled.
    func waitForAll() async throws {
        try await queue.waitUntilAllOperationsAreFinished()
        await uncounted.wait()
        if operation.isCancelled, queue.scheduler.hasCancelledOperations { throw CancellationError() }
    }
}
