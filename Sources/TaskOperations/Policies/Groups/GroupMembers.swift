/// What has become of the operations of a group.
final class GroupMembers: Sendable {
    private struct State: Sendable {
        var failures: [GroupFailures.Failure] = []
        /// Whether any was cancelled.
        var hasCancelled = false
    }

    private let policy: GroupFailurePolicy
    private let queue: TaskOperationQueue
    /// The operation that the group is.
    private let operation: AnyTaskOperation
    private let state = Lock(State())
    /// Entered by each operation until it is known what has become of it. That can come after it has left the queue.
    private let pending = AsyncGroup()

    private let progress: ProgressSum

    init(of operation: AnyTaskOperation, on queue: TaskOperationQueue, _ policy: GroupFailurePolicy) {
        self.operation = operation
        self.queue = queue
        self.policy = policy
        let unit = operation.progressUnit
        progress = ProgressSum(of: unit)
        progress.register(for: queue.scheduler)
        unit?.setParts(progress)
    }

    /// What operations have that are added without a priority.
    var priority: TaskPriority { operation.effectivePriority }

    func willAdd() {
        pending.enter()
        operation.joinSumOfQueue()
        progress.countAddition()
    }

    func wasRefused() {
        progress.countEnd(wasAdded: false)
        pending.leave()
    }

    func didAdd(_ operation: AnyTaskOperation) {
        if !operation.addHandlerUnlessFinished({ [self] in didEnd($0) }) { didEnd(operation) }
    }

    private func didEnd(_ operation: AnyTaskOperation) {
        if let error = operation.failure {
            if operation.isCancelled, !error.isTimeout {
                state.withLock { $0.hasCancelled = true }
            } else {
                state.withLock { $0.failures.append(.init(operation: OperationLabel(operation), error: error)) }
                // Before anything goes on that depends on the operation.
                if policy == .failFast { queue.scheduler.cancelAll(andAdded: true) }
            }
        }
        operation.joinSumOfQueue()
        progress.countEnd()
        pending.leave()
    }

    /// Waits until all operations have ended, those included that are added meanwhile.
    ///
    /// - Throws: What the group fails with.
    func waitForAll() async throws {
        try await queue.waitUntilAllOperationsAreFinished()
        await pending.wait()
        let state = state.withLock { $0 }
        if let first = state.failures.first {
            throw policy == .failFast ? first.error : GroupFailures(failures: state.failures)
        }
        if state.hasCancelled, operation.isCancelled { throw CancellationError() }
    }
}

extension Error {
    fileprivate var isTimeout: Bool {
        if case .timedOut = self as? TaskOperationError { true } else { false }
    }
}
