import Synchronization

extension Scheduler {
    package nonisolated var isSuspended: Bool {
        get { withCore { $0.state.isSuspended } }
        set { withSuspension { $0.state.setSuspended(newValue) } }
    }

    /// All unfinished operations, in the order in which they were added.
    nonisolated var operations: [AnyTaskOperation] { withCore { $0.state.elements } }

    nonisolated var operationCount: Int { withCore { $0.state.count } }

    /// Drains a queue whose owner is being freed. The suspension of the queue and a width of 0 no longer apply.
    nonisolated func ownerWasReleased(cancelsOperations: Bool) {
        // A scope has finished its operations before its end.
        if scopeWorkers != nil { return }
        // Before the queue resumes, so that none of the operations starts.
        if cancelsOperations { cancelAll(andSet: .cancelling) }
        withSuspension { $0.state.drain() }
    }

    /// Advances the admission. First closes the inbox, if operations are no longer accepted: an operation that a thread adds to
    /// the inbox during the event would be refused only when this thread performs its effects, after the addition has
    /// returned.
    private nonisolated func setAdmission(_ new: AdmissionState, in core: inout SchedulerCore) {
        if new != .open { emptyInbox(&core, openFor: nil) }
        core.state.setAdmission(new)
    }

    /// Shuts the queue down. The queue refuses later operations.
    nonisolated func shutDown() {
        withCore { setAdmission(.shut, in: &$0) }
    }
}

// MARK: - Waiting until the queue is empty

extension Scheduler {
    /// Waits until the queue is empty.
    ///
    /// - Returns: True if the queue is empty; false if the wait was abandoned.
    /// - Throws: `TaskOperationError.waitCycle` in the body of an operation of this queue, or of an operation for which
    ///   an operation of this queue waits.
    nonisolated func waitUntilEmpty(_ wait: QueueWait) async throws(TaskOperationError) -> Bool {
        if withCore({ $0.state.isEmpty }) { return true }
        try await AnyTaskOperation.withWaitEdge(.end(self)) { await suspendUntilEmpty(wait) }
        return !wait.isGivenUp
    }

    /// Waits until the queue is empty. After a timeout, or when the waiting task is cancelled, cancels the remaining
    /// operations and waits for their ends.
    ///
    /// - Throws: The errors of the wait without a limit.
    nonisolated func waitUntilEmpty(
        cancellingAfter limit: Duration, clock: any Clock<Duration>
    ) async throws(TaskOperationError) {
        let wait = QueueWait()
        let isOver = try await withTimeoutHandler(limit, clock: clock) { () async throws(TaskOperationError) in
            try await waitUntilEmpty(wait)
        } onTimeout: { [self] in
            giveUp(wait)
        }
        if isOver { return }
        cancelAll()
        _ = try await waitUntilEmpty(QueueWait(endsWhenCancelled: false))
    }

    /// Finishes the operations of a scope's queue, even if the queue is suspended. When the queue is empty, it refuses
    /// later operations.
    ///
    /// Cancels the operations if one of them waits for the body that closes the queue, because the wait would never
    /// end.
    ///
    /// - Returns: The cycle of this wait, as an error; nil if there is none.
    nonisolated func close(in group: inout DiscardingTaskGroup) async -> TaskOperationError? {
        let isEmpty = withSuspension { core in
            core.state.drain()
            core.state.setAdmission(.closing)
            return core.state.isEmpty
        }
        var cycle: TaskOperationError?
        // Outside of a body, the wait has no edge.
        if !isEmpty, scopeWorkers!.openingBody != nil {
            do {
                try await AnyTaskOperation.withWaitEdge(.end(self)) { await scopeWorkers!.serve(in: &group) }
                return nil
            } catch {
                cancelAll(andSet: .cancelling)
                cycle = error
            }
        }
        await scopeWorkers!.serve(in: &group)
        return cycle
    }

    /// Suspends the task until the queue is empty, without a search for cycles. The wait raises no priorities, because
    /// it would have to raise all operations of the queue.
    private nonisolated func suspendUntilEmpty(_ wait: QueueWait) async {
        await withCancellableWait(endsWhenCancelled: wait.endsWhenCancelled) { continuation in
            withCore { $0.state.waitUntilEmpty(continuation, number: wait.number) }
        } isOver: {
            wait.mustEnd.isSet
        } end: {
            giveUp(wait)
        }
    }

    /// Ends a wait until the queue is empty, or until it has room, whether or not this is the case.
    private nonisolated func giveUp(_ wait: QueueWait) {
        wait.mustEnd.set()
        withCore { core in
            if core.state.stopWaitingUntilEmpty(wait.number) || core.state.stopWaitingForRoom(wait.number) {
                wait.hasEndedEarly.set()
            }
        }
    }
}

/// A task's wait until a queue is empty, or until it has room for an operation. The wait can be abandoned.
struct QueueWait: Sendable {
    let number = Rank.next()
    var endsWhenCancelled = true
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

extension Scheduler {
    /// Cancels every operation that has not ended.
    ///
    /// - Parameters:
    ///   - cause: The error of operations that have not started, and the cancellation cause of executing bodies.
    ///   - unstartedOnly: Whether executing operations are not cancelled.
    ///   - admission: The new state of the admission, which is set in the same step. It decides whether later operations are refused or
    ///     cancelled.
    nonisolated func cancelAll(
        throwing cause: any Error = CancellationError(), unstartedOnly: Bool = false,
        andSet admission: AdmissionState = .open
    ) {
        let outcome = Outcome(.failure(cause))
        var rest: ArraySlice<AnyTaskOperation> = []
        // The step that lists all operations also cancels the first ones, so that a small number is cancelled in one
        // step.
        var executing = cancelUnstarted(outcome) { core in
            setAdmission(admission, in: &core)
            core.state.blockStarts()
            rest = core.state.elements[...]
            return rest.prefix(Self.cancelledAtOnce)
        }
        while rest.count > Self.cancelledAtOnce {
            rest = rest.dropFirst(Self.cancelledAtOnce)
            executing += cancelUnstarted(outcome) { _ in rest.prefix(Self.cancelledAtOnce) }
        }
        withCore { $0.state.unblockStarts() }
        if unstartedOnly { return }
        // Cancelling a task calls its handlers, which must not run while starts are blocked.
        for operation in executing { operation.cancel(throwing: cause) }
    }

    /// The maximum number of operations that are cancelled while the lock is held once.
    private nonisolated static var cancelledAtOnce: Int { 64 }

    /// Ends unstarted operations in one step. Returns the operations that have started.
    ///
    /// - Parameter begin: Called first in the step. Returns the operations to end.
    private nonisolated func cancelUnstarted(
        _ outcome: Outcome, _ begin: (inout SchedulerCore) -> ArraySlice<AnyTaskOperation>
    ) -> [AnyTaskOperation] {
        var effects = Effects()
        let (ended, executing) = withCore(&effects) { core in
            let operations = begin(&core)
            return core.cancelUnstarted(operations, outcome)
        }
        for (operation, ending) in ended {
            _ = failures?.note(operation)
            operation.notifyDependents(endedUnstarted: ending)
        }
        if !effects.isEmpty { perform(effects) }
        for (operation, ending) in ended { operation.performUnstartedEnd(ending, self) }
        return executing
    }
}

extension SchedulerCore {
    /// Ends the unstarted ones among some operations. Returns these, and the operations that have started and not
    /// ended.
    fileprivate mutating func cancelUnstarted(
        _ operations: ArraySlice<AnyTaskOperation>, _ outcome: Outcome
    ) -> (ended: [(AnyTaskOperation, OperationEnding)], executing: [AnyTaskOperation]) {
        var (ended, executing) = ([(AnyTaskOperation, OperationEnding)](), [AnyTaskOperation]())
        ended.reserveCapacity(operations.count)
        for operation in operations {
            guard let slot = slot(of: operation) else { continue }
            guard let ending = operation.cancelUnstarted(outcome) else {
                executing.append(operation)
                continue
            }
            if state.changes.isOn { state.report(.cancelled, slot) }
            removeUnstarted(at: slot)
            ended.append((operation, ending))
        }
        return (ended, executing)
    }
}

// Waiting for room in a queue with a limit on its queued operations.

extension Scheduler {
    /// Adds an operation as soon as there is room for it, in the order of the calls.
    ///
    /// - Throws: `CancellationError` if the task is cancelled first; `TaskOperationError` as `submit` does,
    ///   `queueShutDown`, `limitFull`, and `waitCycle` if the waiting body keeps a permit that is needed to make room. If
    ///   the call throws, the operation was not added. After `queueShutDown` and `limitFull`, the operation has ended.
    package nonisolated func submitWaitingForRoom(_ operation: AnyTaskOperation) async throws {
        try Task.checkCancellation()
        try submitAndLink(operation)
        // Read now. Later, the body may have failed with the same error for another operation.
        let refusal = operation.failure as? TaskOperationError
        let wait = QueueWait()
        do {
            // Queued operations need a permit of this queue to start, so the wait for room is a wait for that permit.
            if !takeNow(operation) {
                try await AnyTaskOperation.withWaitEdge(.permit(permit!), for: .room(self)) {
                    await suspend(wait, toAdd: operation)
                }
            }
        } catch {
            operation.withdraw()
            throw error
        }
        if wait.isGivenUp {
            operation.withdraw()
            throw CancellationError()
        }
        if case .limitFull(let label, _, _)? = refusal, label == OperationLabel(operation) { throw refusal! }
        if case .queueShutDown(let label, _)? = operation.failure as? TaskOperationError,
            label == OperationLabel(operation)
        {
            throw operation.failure!
        }
        if hasBarriers || isAwaited { try restoreOrder(operation) }
    }

    /// Adds an operation if the queue has room and no other operation waits for room. Returns whether it added the
    /// operation.
    private nonisolated func takeNow(_ operation: AnyTaskOperation) -> Bool {
        withCore { core in
            let newcomer = operation.record.withLock { operation.newcomer($0) }
            let mustWait =
                core.state.isFull && core.state.admission.state.accepts && !newcomer.hasEnded && !newcomer.isLate
            if !mustWait { insert(operation, in: &core) }
            return !mustWait
        }
    }

    private nonisolated func suspend(_ wait: QueueWait, toAdd operation: AnyTaskOperation) async {
        await withCancellableWait { continuation in
            withCore { $0.state.waitForRoom(operation, continuation, number: wait.number) }
        } end: {
            giveUp(wait)
        }
    }
}

extension Scheduler {
    /// Records that the suspension of another queue also suspends this queue, until `stopFollowingSuspension` is called.
    ///
    /// - Parameter update: Called after the other queue was suspended or resumed, or after it can no longer be suspended.
    package nonisolated func followSuspension(of source: Scheduler, update: @escaping @Sendable () -> Void) {
        source.withCore { $0.followers.append(SuspensionFollower(update: update), number: queueNumber) }
        let former = withCore { core in
            defer { core.suspensionSource = source }
            return core.suspensionSource
        }
        // Released after unlocking.
        extendLifetime(former)
    }

    /// The scheduler whose suspension also suspends this queue; nil if there is none.
    nonisolated var suspensionSource: Scheduler? { withCore { $0.suspensionSource } }

    package nonisolated func stopFollowingSuspension() {
        let source = withCore { $0.suspensionSource.take() }
        let follower = source?.withCore { $0.followers.remove(queueNumber) }
        // Released after unlocking.
        extendLifetime(follower)
    }

    /// Applies an event that may suspend or resume the queue, and notifies the followers.
    nonisolated func withSuspension<Result: Sendable>(_ event: (inout SchedulerCore) -> Result) -> Result {
        let (result, followers) = withCore { core in (event(&core), core.followers) }
        followers.forEach { $0.update() }
        return result
    }
}

// Members that other modules of the package use to build their own policies.

extension Scheduler {
    /// The executor of bodies from the configuration.
    package nonisolated var bodyExecutor: (any TaskExecutor)? {
        if case .executor(let executor) = place { executor } else { nil }
    }

    /// The numbers of added, unfinished and refused operations.
    package nonisolated var counts: ChangeCounts { withCore { $0.state.counts } }

    /// Returns the observer that counts the queue's operations. The queue retains this observer.
    ///
    /// - Parameter new: The observer to set if the queue has no such observer.
    package nonisolated func countObserver(orSet new: any TaskOperationObserver) -> any TaskOperationObserver {
        withCore { core in
            core.makeObservation(of: identity)
            let observer = core.observation!.value.countObserver ?? new
            core.observation!.value.countObserver = observer
            return observer
        }
    }
}

extension AnyTaskOperation {
    /// The scheduler of the operation; nil if the operation was not added, or has finished.
    package var scheduler: Scheduler? { record.withLock { $0.scheduler } }
}
