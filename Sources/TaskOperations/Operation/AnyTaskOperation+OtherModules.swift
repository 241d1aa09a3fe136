// The members with which other modules of the package build policies and waits of their own.

extension AnyTaskOperation {
    /// Whether the operation was added to a queue or started, also if it had ended before.
    package var wasSubmitted: Bool { record.withLock { $0.wasSubmitted } }

    /// Whether the operation is finished or cancelled, at one moment.
    package var isFinishedOrCancelled: Bool { record.withLock { $0.phase == .finished || $0.isCancelled } }

    /// Returns a number for a wait, by which `leaveWait` ends it. No other wait has this number.
    package static func nextWaitNumber() -> Int { Rank.next() }

    /// Waits until the operation has finished.
    ///
    /// - Parameters:
    ///   - number: The number of the wait.
    ///   - endsEarly: Whether the wait ends when the task is cancelled.
    ///   - hasLeft: Called once after the registration: whether `leaveWait` was called before.
    /// - Returns: Whether the operation is finished.
    package func wait(
        number: Int, endsEarly: Bool, hasLeft: () -> Bool
    ) async throws(TaskOperationError) -> Bool {
        var isOver = true
        try await Self.withWaitEdge(.operation(self)) {
            isOver = await suspendUntilFinished(number: number, endsEarly: endsEarly, hasLeft: hasLeft)
        }
        return isOver
    }

    /// Performs a wait that the end of the operation ends. If a body waits, the wait is an edge of the wait graph.
    package func whileAwaited(wait: () async -> Void) async throws(TaskOperationError) {
        try await Self.withWaitEdge(.operation(self), wait: wait)
    }

    /// Replaces the level that a waiter outside of this module passes on.
    ///
    /// - Parameters:
    ///   - former: The previous level; nil for a new waiter.
    ///   - level: The new level; nil for a waiter that leaves.
    package func inherit(from former: PriorityLevel?, to level: PriorityLevel?) {
        Inheritance.carryOut(.init(target: .operation(self), from: former, to: level))
    }
}
