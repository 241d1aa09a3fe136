extension Scheduler {
    /// How many bodies may execute at once.
    nonisolated var width: Int {
        get { apply { $0.state.permits.capacity } }
        set { apply(newValue) { scheduler, width in scheduler.state.setWidth(width) } }
    }

    nonisolated var isSuspended: Bool {
        get { apply { $0.state.isSuspended } }
        set {
            apply(newValue) { scheduler, isSuspended in scheduler.state.setSuspended(isSuspended) }
            GroupSuspension.changed(self)
        }
    }

    /// All operations that have not ended, in the order of adding.
    nonisolated var operations: [AnyTaskOperation] { apply { $0.state.elements } }

    nonisolated var operationCount: Int { apply { $0.state.count } }

    /// Cancels every operation that has not ended. `andAdded`: and any that is added from now on.
    nonisolated func cancelAll(andAdded: Bool = false) {
        let operations = apply { scheduler in
            if andAdded { scheduler.state.setIntake(.cancelling) }
            scheduler.state.hold()
            return scheduler.state.elements
        }
        for operation in operations where !operation.isExecuting { operation.cancel() }
        apply { $0.state.release() }
        // Cancelling a task calls its handlers, which must not find the queue held.
        for operation in operations { operation.cancel() }
    }

    /// The object that owns the queue is being freed, so nobody could resume the queue or raise its width from 0 any
    /// more: what it holds is finished.
    nonisolated func ownerWasReleased() {
        apply { $0.state.drain() }
        GroupSuspension.changed(self)
    }

    /// Takes no operation from now on.
    nonisolated func shutDown() {
        apply { $0.state.setIntake(.shut) }
    }

    /// Waits until no operation is left.
    ///
    /// - Throws: `TaskOperationError.waitCycle` within a body that an operation of this queue waits for, or is.
    nonisolated func waitUntilEmpty() async throws(TaskOperationError) {
        if apply({ $0.state.isEmpty }) { return }
        try await AnyTaskOperation.whileAwaiting(.end(self)) { await suspendUntilEmpty() }
    }

    /// Waits until no operation is left. After a time, or when the task that waits is cancelled, all that is left is
    /// cancelled.
    ///
    /// - Throws: As without a limit.
    nonisolated func waitUntilEmpty<C: Clock>(
        cancellingAfter limit: C.Duration, clock: C
    ) async throws(TaskOperationError) {
        if apply({ $0.state.isEmpty }) { return }
        try await AnyTaskOperation.whileAwaiting(.end(self)) {
            await withTaskGroup { group in
                group.addTask {
                    try? await clock.sleep(for: limit)
                    self.cancelAll()
                }
                await suspendUntilEmpty()
                group.cancelAll()
            }
        }
    }

    /// Finishes what is left, suspended or not, and takes nothing once the queue is empty.
    ///
    /// If what is left waits for the body that closes the queue, it could never end, and is cancelled.
    nonisolated func close() async {
        apply { scheduler in
            scheduler.state.drain()
            scheduler.state.setIntake(.closing)
        }
        GroupSuspension.changed(self)
        do {
            try await waitUntilEmpty()
        } catch {
            cancelAll(andAdded: true)
            await suspendUntilEmpty()
        }
    }

    /// Waits until no operation is left, without a look at what else waits. Nothing rises for it: all in the queue would,
    /// and lose the order that their priorities give them.
    nonisolated func suspendUntilEmpty() async {
        await withCheckedContinuation { continuation in
            apply(continuation) { scheduler, continuation in scheduler.state.waitUntilEmpty(continuation) }
        }
    }
}
