// Members that other modules of the package use to build their own policies and waits.

import Synchronization

extension AnyTaskOperation {
    /// Whether the operation was added to a queue or started. Also true if the operation had already ended at that
    /// time.
    package var wasSubmitted: Bool { record.withLock { $0.wasSubmitted } }

    /// Whether the operation is finished or cancelled. Reads both properties at the same moment.
    package var isFinishedOrCancelled: Bool { record.withLock { $0.phase == .finished || $0.isCancelled } }

    /// Returns a unique number for a wait. `leaveWait` ends the wait with this number.
    package static func nextWaitNumber() -> Int { Rank.next() }

    /// Waits until the operation has finished.
    ///
    /// - Parameters:
    ///   - number: The number of the wait.
    ///   - endsEarly: Whether the wait ends when the task is cancelled.
    ///   - hasLeft: Called once, after the wait is registered. Returns true if the wait must end, because `leaveWait`
    ///     was called before its registration.
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

    /// Performs a wait until the operation ends. If a body waits, the wait is an edge of the wait graph.
    package func whileAwaited(wait: () async -> Void) async throws(TaskOperationError) {
        try await Self.withWaitEdge(.operation(self), wait: wait)
    }

    /// Performs work that ends after operations of any queue have ended. This operation represents the work, and its
    /// dependencies are these operations. If a body performs the work, the wait graph has an edge from the body to this
    /// operation. The operations inherit only levels that the body inherits later.
    package func whileRepresentingWork(_ work: () async -> Void) async throws(TaskOperationError) {
        try await Self.withWaitEdge(.operation(self), for: .separatePriorities, wait: work)
    }

    /// Changes the level that a waiter of another module passes to the operation.
    ///
    /// - Parameters:
    ///   - former: The previous level; nil for a new waiter.
    ///   - level: The new level; nil if the waiter no longer waits.
    package func inherit(from former: PriorityLevel?, to level: PriorityLevel?) {
        Inheritance.propagate(.init(target: .operation(self), from: former, to: level))
    }
}
