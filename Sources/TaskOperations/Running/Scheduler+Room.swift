// Waiting for room in a queue with a limit on its queued operations.

extension Scheduler {
    /// The number of operations that may be queued.
    nonisolated var queuedLimit: Int {
        get { withCore { $0.state.acceptance.limit } }
        set { withCore { $0.state.setQueuedLimit(newValue) } }
    }

    nonisolated var waitingProducerCount: Int { withCore { $0.state.acceptance.producers.count } }

    /// Adds an operation as soon as there is room for it, in the order of the calls.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first; `TaskOperationError` as `submit` does,
    ///   `queueShutDown`, and `waitCycle` if the waiting body keeps a permit that is needed to make room. If the call
    ///   throws, the operation was not added. After `queueShutDown`, the operation has ended.
    package nonisolated func submitWaitingForRoom(_ operation: AnyTaskOperation) async throws {
        try Task.checkCancellation()
        try submitAndLink(operation)
        let wait = WaitForRoom(operation: operation)
        do {
            // Queued operations need a permit of this queue to start, so the wait for room is a wait for that permit.
            if !takeNow(operation) {
                try await AnyTaskOperation.withWaitEdge(.permit(permit!), for: .room(self)) { await suspend(wait) }
            }
        } catch {
            operation.withdraw()
            throw error
        }
        if wait.isGivenUp.isSet {
            operation.withdraw()
            throw CancellationError()
        }
        if let error = operation.failure as? TaskOperationError, case .queueShutDown = error { throw error }
        if hasBarriers || isAwaited { try restoreOrder(operation) }
    }

    /// Adds an operation if the queue has room and no other operation waits for room. Returns whether it added the
    /// operation.
    private nonisolated func takeNow(_ operation: AnyTaskOperation) -> Bool {
        withCore { core in
            let snapshot = operation.snapshot
            let mustWait =
                core.state.isFull && core.state.acceptance.intake.accepts && !snapshot.hasEnded && !snapshot.isLate
            if !mustWait { insert(operation, in: &core) }
            return !mustWait
        }
    }

    private nonisolated func suspend(_ wait: WaitForRoom) async {
        await withCancellableWait { continuation in
            withCore { $0.state.waitForRoom(wait.operation, continuation, number: wait.number) }
        } end: {
            giveUp(wait)
        }
    }

    private nonisolated func giveUp(_ wait: WaitForRoom) {
        withCore { core in
            if core.state.stopWaitingForRoom(wait.number) { wait.isGivenUp.set() }
        }
    }
}

/// A task's wait until its operation is added.
private struct WaitForRoom: Sendable {
    let operation: AnyTaskOperation
    let number = Rank.next()
    /// Set when the task no longer waits, because it was cancelled.
    let isGivenUp = AtomicFlag()
}
