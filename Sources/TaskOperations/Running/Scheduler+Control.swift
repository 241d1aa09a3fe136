extension Scheduler {
    /// How many bodies may execute at once.
    nonisolated var width: Int {
        get { withCore { $0.state.width.capacity } }
        set { withCore { $0.state.setWidth(newValue) } }
    }

    nonisolated func setCap(_ count: Int, at level: PriorityLevel) {
        withCore { $0.state.setCap(count, at: level) }
    }

    nonisolated func cap(at level: PriorityLevel) -> Int {
        withCore { $0.state.permits.caps.map { $0[level].capacity } ?? .max }
    }

    package nonisolated var isSuspended: Bool {
        get { withCore { $0.state.isSuspended } }
        set { withSuspension { $0.state.setSuspended(newValue) } }
    }

    /// All operations that have not ended, in the order of adding.
    nonisolated var operations: [AnyTaskOperation] { withCore { $0.state.elements } }

    package nonisolated var operationCount: Int { withCore { $0.state.count } }

    /// Finishes the operations of a queue whose owner is being freed: its suspension and its width can no longer be
    /// changed.
    nonisolated func ownerWasReleased() {
        // The end of a scope has finished them.
        if scopeWorkers != nil { return }
        withSuspension { $0.state.drain() }
    }

    /// Takes no operation from now on.
    nonisolated func shutDown() {
        withCore { $0.state.setIntake(.shut) }
    }
}

// MARK: - Waiting until the queue is empty

extension Scheduler {
    /// Waits until no operation is left.
    ///
    /// - Returns: True if no operation is left; false if the wait was given up.
    /// - Throws: `TaskOperationError.waitCycle` in the body of an operation of this queue, or of one for which such an
    ///   operation waits.
    nonisolated func waitUntilEmpty(_ wait: WaitUntilEmpty) async throws(TaskOperationError) -> Bool {
        if withCore({ $0.state.isEmpty }) { return true }
        try await AnyTaskOperation.withWaitEdge(.end(self)) { await suspendUntilEmpty(wait) }
        return !wait.isGivenUp
    }

    /// Waits until no operation is left. After a time limit, or when the waiting task is cancelled, cancels the remaining
    /// operations and waits for them.
    ///
    /// - Throws: As without a limit.
    nonisolated func waitUntilEmpty(
        cancellingAfter limit: Duration, clock: any Clock<Duration>
    ) async throws(TaskOperationError) {
        let wait = WaitUntilEmpty(endsWhenCancelled: true)
        let isOver = try await withTimeLimit(limit, clock: clock) { () async throws(TaskOperationError) in
            try await waitUntilEmpty(wait)
        } onTimeout: { [self] in
            giveUp(wait)
        }
        if isOver { return }
        cancelAll()
        _ = try await waitUntilEmpty(WaitUntilEmpty(endsWhenCancelled: false))
    }

    /// Finishes the operations of a scope, even if it is suspended. Once the queue is empty, it accepts none.
    ///
    /// Operations that wait for the body that closes the queue could never end, and are cancelled.
    nonisolated func close(in group: inout DiscardingTaskGroup) async {
        let isEmpty = withSuspension { core in
            core.state.drain()
            core.state.setIntake(.closing)
            return core.state.isEmpty
        }
        if isEmpty { return await scopeWorkers!.serve(in: &group) }
        do {
            try await AnyTaskOperation.withWaitEdge(.end(self)) { await scopeWorkers!.serve(in: &group) }
        } catch {
            cancelAll(andSet: .cancelling)
            await scopeWorkers!.serve(in: &group)
        }
    }

    /// Suspends the task until no operation is left, without a search for cycles. It raises no rank, because it would have
    /// to raise those of all operations in the queue.
    private nonisolated func suspendUntilEmpty(_ wait: WaitUntilEmpty) async {
        await withCancellableWait(endsWhenCancelled: wait.endsWhenCancelled) { continuation in
            withCore { $0.state.waitUntilEmpty(continuation, number: wait.number) }
        } isOver: {
            wait.mustEnd.isSet
        } end: {
            giveUp(wait)
        }
    }

    /// Has a wait end, whether the queue is empty or not.
    nonisolated func giveUp(_ wait: WaitUntilEmpty) {
        wait.mustEnd.set()
        withCore { core in
            if core.state.stopWaitingUntilEmpty(wait.number) { wait.hasEndedEarly.set() }
        }
    }
}

/// A task waits until a queue is empty, or gives that up.
struct WaitUntilEmpty: Sendable {
    let number = Rank.next()
    let endsWhenCancelled: Bool
    /// Set when the wait is to be given up.
    fileprivate let mustEnd = AtomicFlag()
    /// Set when it was given up.
    fileprivate let hasEndedEarly = AtomicFlag()

    var isGivenUp: Bool { hasEndedEarly.isSet }
}
