extension Scheduler {
    /// How many bodies may execute at once.
    nonisolated var width: Int {
        get { apply { $0.state.permits.capacity } }
        set { apply(newValue) { scheduler, width in scheduler.state.setWidth(width) } }
    }

    nonisolated func setCap(_ count: Int, at level: PriorityLevel) {
        apply((count, level)) { scheduler, input in scheduler.state.setCap(input.0, at: input.1) }
    }

    nonisolated func cap(at level: PriorityLevel) -> Int {
        apply(level) { scheduler, level in scheduler.state.lending.caps.map { $0[level].capacity } ?? .max }
    }

    nonisolated var isSuspended: Bool {
        get { apply { $0.state.isSuspended } }
        set {
            applyToSuspension(newValue) { scheduler, newValue in scheduler.state.setSuspended(newValue) }
        }
    }

    /// All operations that have not ended, in the order of adding.
    nonisolated var operations: [AnyTaskOperation] { apply { $0.state.elements } }

    nonisolated var operationCount: Int { apply { $0.state.count } }

    /// The object that owns the queue is being freed, so nobody could resume the queue or raise its width from 0 any
    /// more: what it holds is finished.
    nonisolated func ownerWasReleased() {
        // The end of a scope has done so.
        if scopeWorkers != nil { return }
        applyToSuspension(()) { scheduler, _ in scheduler.state.drain() }
    }

    /// Takes no operation from now on.
    nonisolated func shutDown() {
        apply { $0.state.setIntake(.shut) }
    }
}

// MARK: - Waiting until the queue is empty

extension Scheduler {
    /// Waits until no operation is left.
    ///
    /// - Returns: Whether none is; otherwise the wait was given up.
    /// - Throws: `TaskOperationError.waitCycle` within a body that an operation of this queue waits for, or is.
    nonisolated func waitUntilEmpty(_ wait: WaitUntilEmpty) async throws(TaskOperationError) -> Bool {
        if apply({ $0.state.isEmpty }) { return true }
        try await AnyTaskOperation.whileAwaiting(.end(self)) { await suspendUntilEmpty(wait) }
        return !wait.isGivenUp
    }

    /// Waits until no operation is left. After a time, or when the task that waits is cancelled, all that is left is
    /// cancelled.
    ///
    /// - Throws: As without a limit.
    nonisolated func waitUntilEmpty<C: Clock>(
        cancellingAfter limit: C.Duration, clock: C
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

    /// Finishes what is left in a scope, suspended or not, and takes nothing once the queue is empty.
    ///
    /// If what is left waits for the body that closes the queue, it could never end, and is cancelled.
    nonisolated func close(in group: inout DiscardingTaskGroup) async {
        let isEmpty = applyToSuspension(()) { scheduler, _ in
            scheduler.state.drain()
            scheduler.state.setIntake(.closing)
            return scheduler.state.isEmpty
        }
        if isEmpty { return await scopeWorkers!.serve(in: &group) }
        do {
            try await AnyTaskOperation.whileAwaiting(.end(self)) { await scopeWorkers!.serve(in: &group) }
        } catch {
            cancelAll(andAdded: true)
            await scopeWorkers!.serve(in: &group)
        }
    }

    /// Suspends the task until no operation is left, without a look at what else waits. Nothing rises for it: all in the
    /// queue would.
    private nonisolated func suspendUntilEmpty(_ wait: WaitUntilEmpty) async {
        await withTaskCancellationHandler {
            await withWaitContinuation { continuation in
                apply((wait.number, continuation)) { scheduler, input in
                    scheduler.state.waitUntilEmpty(input.1, number: input.0)
                }
                // If it was to end before it was there, nobody found it.
                if wait.isExhausted { giveUp(wait) }
            }
        } onCancel: {
            if wait.endsWhenCancelled { giveUp(wait) }
        }
    }

    /// Has a wait end, whether the queue is empty or not.
    nonisolated func giveUp(_ wait: WaitUntilEmpty) {
        wait.mustEnd.set()
        apply(wait) { scheduler, wait in
            if scheduler.state.stopWaitingUntilEmpty(wait.number) { wait.hasEndedEarly.set() }
        }
    }
}

/// A task waits until a queue is empty, or gives that up.
struct WaitUntilEmpty: Sendable {
    let number = Rank.next()
    let endsWhenCancelled: Bool
    /// Set when the wait is to be given up.
    fileprivate let mustEnd = Latch()
    /// Set when it was given up.
    fileprivate let hasEndedEarly = Latch()

    fileprivate var isExhausted: Bool { mustEnd.isSet || (endsWhenCancelled && Task.isCancelled) }

    var isGivenUp: Bool { hasEndedEarly.isSet }
}
