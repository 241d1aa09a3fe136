import Synchronization

// The interface for the bridge. It covers operations that represent work outside this library, and bodies with their
// own executors.

extension TaskOperation where Success == Void {
    /// Creates an operation that represents work outside this library. Call `finishExternally` to end the operation.
    package static func placeholder(name: String?) -> TaskOperation<Void> {
        let operation = TaskOperation<Void>(name: name) {}
        operation.rejectSubmission()
        return operation
    }
}

extension AnyTaskOperation {
    /// Lets queues accept the operation again, after `rejectSubmission`.
    package func acceptSubmission() {
        record.withLock { record in
            // An operation that was cancelled meanwhile can be added, too, and stays finished.
            if phase == .created || phase == .finished { record.wasSubmitted = false }
        }
    }

    /// Waits for the end of the operation. A waiting body always lends its permit, because the awaited work may need a
    /// permit without the library's knowledge. Cancelling the task does not end the wait.
    package func waitLendingPermit() async throws(TaskOperationError) {
        try await Self.withWaitEdge(.operation(self), permit: .lent) {
            _ = await suspendUntilFinished(endsEarly: false)
        }
    }

    /// Makes queues refuse the operation with `TaskOperationError.alreadyAdded`.
    package func rejectSubmission() {
        record.withLock { $0.wasSubmitted = true }
    }

    /// Runs the body on `executor` if the queue has no executor. If the next operation has the same executor, it runs
    /// in the same task, without a change of executors.
    ///
    /// Call this before the operation is added.
    package func runBody(on executor: any TaskExecutor) {
        record.withLock { $0.madeLinks().madeExtras().executor = executor }
    }

    /// The executor of the body if the queue has no executor.
    var executor: (any TaskExecutor)? { record.withLock { $0.links?.extras?.executor } }
}

// Members that other modules of the package use to build their own policies and waits.

extension AnyTaskOperation {
    /// Whether the operation was added to a queue or started. Also true if the operation had already ended at that
    /// time.
    package var wasSubmitted: Bool { record.withLock { $0.wasSubmitted } }

    /// Whether the operation is finished or cancelled. Reads both properties at the same moment.
    package var isFinishedOrCancelled: Bool { record.withLock { isFinished || $0.isCancelled } }

    /// Returns a unique number for a wait. `leaveWait` ends the wait with this number.
    package static func nextWaitNumber() -> Int { Rank.next() }

    /// Whether an operation is a direct dependency of this one. Takes constant time.
    package func hasDependency(_ operation: AnyTaskOperation) -> Bool {
        record.withLock { $0.links?.dependencies.contains(operation) ?? false }
    }

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

/// An object that another module keeps with an operation until the operation has finished.
package typealias Attachment = any AnyObject & Sendable

extension AnyTaskOperation {
    /// Whether the operation has finished, and the progress that is attached to it.
    package var attachedProgress: (isFinished: Bool, progress: Attachment?) {
        record.withLock { (isFinished, $0.links?.extras?.progress) }
    }

    /// Attaches `progress` if the operation has no progress yet.
    ///
    /// - Parameter onEnd: Called when the operation has finished, but only if this call attached `progress`.
    /// - Returns: The operation's progress, which is `progress` or the progress that was attached earlier. Nil if the
    ///   operation has finished.
    package func attach(progress: Attachment, onEnd: @escaping @Sendable (AnyTaskOperation) -> Void) -> Attachment? {
        record.withLock { record in
            if isFinished { return nil }
            let links = record.madeLinks()
            if let present = links.extras?.progress { return present }
            links.madeExtras().progress = progress
            links.addHandler(onEnd, isOwn: true)
            return progress
        }
    }
}
