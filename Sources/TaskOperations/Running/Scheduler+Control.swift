extension Scheduler {
    /// The number of bodies that may execute at once.
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

    /// All unfinished operations, in the order in which they were added.
    nonisolated var operations: [AnyTaskOperation] { withCore { $0.state.elements } }

    package nonisolated var operationCount: Int { withCore { $0.state.count } }

    /// Drains a queue whose owner is being freed. The suspension of the queue and a width of 0 no longer apply.
    nonisolated func ownerWasReleased(cancelsOperations: Bool) {
        // A scope has finished its operations before its end.
        if scopeWorkers != nil { return }
        // Before the queue resumes, so that none of the operations starts.
        if cancelsOperations { cancelAll(andSet: .cancelling) }
        withSuspension { $0.state.drain() }
    }

    /// Shuts the queue down. The queue refuses later operations.
    nonisolated func shutDown() {
        withCore { $0.state.setIntake(.shut) }
    }
}

// MARK: - Waiting until the queue is empty

extension Scheduler {
    /// Waits until the queue is empty.
    ///
    /// - Returns: True if the queue is empty; false if the wait was abandoned.
    /// - Throws: `TaskOperationError.waitCycle` in the body of an operation of this queue, or of an operation for which
    ///   an operation of this queue waits.
    nonisolated func waitUntilEmpty(_ wait: WaitUntilEmpty) async throws(TaskOperationError) -> Bool {
        if withCore({ $0.state.isEmpty }) { return true }
        try await AnyTaskOperation.withWaitEdge(.end(self)) { await suspendUntilEmpty(wait) }
        return !wait.isGivenUp
    }

    /// Waits until the queue is empty. After a time limit, or when the waiting task is cancelled, cancels the remaining
    /// operations and waits for their ends.
    ///
    /// - Throws: The errors of the wait without a limit.
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

    /// Finishes the operations of a scope's queue, even if the queue is suspended. When the queue is empty, it refuses
    /// later operations.
    ///
    /// Cancels the operations if one of them waits for the body that closes the queue, because the wait would never
    /// end.
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

    /// Suspends the task until the queue is empty, without a search for cycles. The wait raises no priorities, because
    /// it would have to raise all operations of the queue.
    private nonisolated func suspendUntilEmpty(_ wait: WaitUntilEmpty) async {
        await withCancellableWait(endsWhenCancelled: wait.endsWhenCancelled) { continuation in
            withCore { $0.state.waitUntilEmpty(continuation, number: wait.number) }
        } isOver: {
            wait.mustEnd.isSet
        } end: {
            giveUp(wait)
        }
    }

    /// Ends a wait, whether or not the queue is empty.
    nonisolated func giveUp(_ wait: WaitUntilEmpty) {
        wait.mustEnd.set()
        withCore { core in
            if core.state.stopWaitingUntilEmpty(wait.number) { wait.hasEndedEarly.set() }
        }
    }
}

/// A task's wait until a queue is empty. The wait can be abandoned.
struct WaitUntilEmpty: Sendable {
    let number = Rank.next()
    let endsWhenCancelled: Bool
    /// Set when the wait must end early.
    fileprivate let mustEnd = AtomicFlag()
    /// Set when the wait has ended early.
    fileprivate let hasEndedEarly = AtomicFlag()

    var isGivenUp: Bool { hasEndedEarly.isSet }
}

// MARK: - Retries

extension Scheduler {
    /// Waits until the rate of the queue allows another attempt.
    nonisolated func waitForAttempt() async {
        guard let clock else { return }
        if let start = withCore({ $0.state.reserveStart() }) { await clock.sleep(until: start) }
    }
}
