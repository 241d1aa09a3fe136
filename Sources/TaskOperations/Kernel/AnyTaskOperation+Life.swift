import Synchronization

// The steps of an operation's life. Each step holds the operation's lock. The caller performs the effects of the step
// after the lock is released.

extension AnyTaskOperation {
    /// The operation's slot in its scheduler; negative before its insertion.
    var slot: Int { record.withLock { Int($0.slot) } }

    /// Attaches the operation to a scheduler, which then inserts it. An operation that was cancelled before its addition
    /// stays finished.
    ///
    /// - Returns: Whether the caller must link dependencies, and whether it must begin options.
    /// - Throws: `TaskOperationError.alreadyAdded`. `TaskOperationError.notReady` if `mustBeReady` is true and a
    ///   dependency is unfinished. `TaskOperationError.dependencyCycle` if the operation waits for a permit whose
    ///   holder waits for the operation.
    func attach(
        to scheduler: Scheduler, bindings: [TaskLocalBinding], mustBeReady: Bool
    ) throws(TaskOperationError) -> (hasDependencies: Bool, hasOptions: Bool) {
        let unfinished = mustBeReady ? dependencies.filter { !$0.isFinished } : []
        var parts = try attachIfOrdered(to: scheduler, bindings, after: unfinished)
        while parts == nil {
            let cycle = try WaitOrder.makeEdges { () throws(TaskOperationError) in
                parts = try attachIfOrdered(to: scheduler, bindings, after: unfinished)
                if parts != nil { return nil }
                return (.operation(self), record.withLock { $0.permits(of: scheduler) }.map(WaitNode.permit))
            }
            if let cycle, !Self.lendPermit(on: cycle) { throw .dependencyCycle(Self.labels(of: cycle)) }
        }
        return parts!
    }

    /// Attaches the operation to a scheduler. If a permit that the operation needs has the same or a higher rank, returns
    /// nil and changes nothing.
    @inline(__always)
    private func attachIfOrdered(
        to scheduler: Scheduler, _ bindings: [TaskLocalBinding], after unfinished: [AnyTaskOperation]
    ) throws(TaskOperationError) -> (hasDependencies: Bool, hasOptions: Bool)? {
        try record.withLock { record throws(TaskOperationError) in
            if record.wasSubmitted { throw .alreadyAdded(OperationLabel(self)) }
            if !unfinished.isEmpty, record.phase == .created {
                throw .notReady(OperationLabel(self), waitingFor: unfinished.map { OperationLabel($0) })
            }
            if let defaults = scheduler.defaults, record.phase == .created { record.complete(by: defaults) }
            if let permit = scheduler.permit, permit.rank.value >= rank.value { return nil }
            if record.hasLimits, !record.ranksAboveLimits(at: rank.value) { return nil }
            record.attach(to: scheduler, bindings)
            let hasDependencies = record.links.map { !$0.dependencies.isEmpty } ?? false
            return (hasDependencies, record.options != nil || scheduler.defaults != nil)
        }
    }

    /// Undoes `attach`, because the scheduler refused this operation or an operation that was added in the same step.
    func withdraw() {
        let bindings = leaveScheduler()
        unlinkDependencies()
        revokeOptions()
        record.withLock { $0.wasSubmitted = false }
        extendLifetime(bindings)
    }

    /// Removes the reference to the scheduler. No queue accepts the operation until `withdraw` has removed its links.
    ///
    /// A scheduler calls this in the step in which it removes the operation from its state. When a dependency ends, it
    /// therefore finds both the operation and its slot, or neither.
    ///
    /// - Returns: The task locals, which the caller releases after it has unlocked the scheduler.
    func leaveScheduler() -> [TaskLocalBinding] {
        record.withLock { record in
            guard record.phase == .submitted else { return [] }
            record.phase = .created
            let hadDefaults = record.scheduler?.defaults != nil
            record.scheduler = nil
            if hadDefaults { record.complete(by: nil) }
            record.slot = -1
            record.floor = .background
            guard let links = record.links, !links.bindings.isEmpty else { return [] }
            defer { links.bindings = [] }
            return links.bindings
        }
    }

    /// Sets the operation's slot in the scheduler. Every later change uses this slot.
    ///
    /// - Parameter onlyInOrder: Whether to set the slot only if the operation is in order in this place.
    /// - Returns: The properties of the operation; nil if the slot was not set.
    func assignSlot(_ slot: Int, in place: GraphPlace, onlyInOrder: Bool) -> Newcomer? {
        record.withLock { record in
            let isInOrder = place.isFree || takeRank(in: place, record)
            if !isInOrder, onlyInOrder { return nil }
            record.slot = Int32(slot)
            return record.newcomer
        }
    }

    /// Gives the operation a rank that fits its place in a scheduler. The rank must be above the ranks of the operations
    /// for which the operation would wait because of barriers, and below the rank of the scheduler's end. Returns false
    /// if the operation cannot have such a rank.
    func takeRank(in place: GraphPlace) -> Bool { record.withLock { takeRank(in: place, $0) } }

    private func takeRank(in place: GraphPlace, _ record: borrowing OperationRecord) -> Bool {
        if record.phase == .finished { return true }
        if place.endRank == .max {
            if !place.hasEdges { return true }
            // No operation or task waits for this operation, so its rank may increase.
            if !record.isWaitedFor {
                rank.set(Rank.next())
                return true
            }
        } else if !lowerRank(to: place.endRank - 1, record) {
            return false
        }
        if !place.hasEdges { return true }
        return place.before?.allSatisfy { $0.rank.value < rank.value } ?? false
    }

    /// Starts the operation if it is ready. The worker then runs its body.
    ///
    /// - Parameter usesOwnExecutor: Whether the body runs on the executor of the operation, if it has one.
    /// - Returns: Nil if the operation has a new dependency, of which the scheduler does not know yet.
    func start(on worker: Worker, slot: Int, usesOwnExecutor: Bool) -> StartedOperation? {
        record.withLock { record in
            assert(record.phase == .submitted, "an operation that has ended or started is still queued")
            if !record.isReady { return nil }
            record.start(on: worker)
            let isEscalated = record.effectiveLevel > worker.level
            if isEscalated { record.isRunnerWorn = true }
            return StartedOperation(
                operation: self, slot: slot, executor: usesOwnExecutor ? record.links?.executor : nil,
                escalation: isEscalated ? record.effectiveLevel : nil)
        }
    }

    /// Runs the body in the task of a runner. The operation is the current one until the body returns.
    @inline(__always)
    func run(on runner: OperationRunner) async -> Outcome? {
        await runner.withCurrent(self) { await runBody() }
    }

    /// Runs a function with the task locals that the operation inherited from the code that added it.
    func withTaskLocals(_ run: @Sendable () async -> Outcome?) async -> Outcome? {
        let bindings = record.withLock { $0.links?.bindings ?? [] }
        return await Self.with(bindings[...], run)
    }

    private static func with(
        _ bindings: ArraySlice<TaskLocalBinding>, _ run: @Sendable () async -> Outcome?
    ) async -> Outcome? {
        guard let binding = bindings.first else { return await run() }
        return await binding { await with(bindings.dropFirst(), run) }
    }

    /// Ends the operation after its body has ended.
    func end(_ outcome: Outcome?) -> OperationEnding {
        record.withLock { $0.end(outcome) }
    }
}

/// The edges of the wait graph that an operation has because of its place in a scheduler.
struct GraphPlace {
    /// Whether the operation waits for another operation because of a barrier.
    var hasEdges = false
    /// The operations for which the operation waits because of barriers. A barrier waits for all operations since the
    /// last barrier. Nil if the scheduler did not list the operations, because no operation waits for this one.
    var before: [AnyTaskOperation]?
    /// The rank of the scheduler's end; `Int.max` if no task awaits the scheduler's end. The scheduler's end waits for the operation.
    var endRank = Int.max

    /// Whether an operation of any rank may have this place.
    var isFree: Bool { !hasEdges && endRank == .max }

    /// The edges that would be out of order if the operation had this place.
    func orderViolation(of operation: AnyTaskOperation, in scheduler: Scheduler) -> WaitOrder.OrderViolation? {
        if operation.isFinished { return nil }
        let rank = operation.rank.value
        if rank >= endRank { return (.end(scheduler), [.operation(operation)]) }
        let high = (before ?? []).filter { $0.rank.value >= rank }
        return high.isEmpty ? nil : (.operation(operation), high.map(WaitNode.operation))
    }
}

extension OperationRecord {
    fileprivate mutating func attach(to newScheduler: Scheduler, _ bindings: [TaskLocalBinding]) {
        wasSubmitted = true
        guard phase == .created else { return }
        phase = .submitted
        scheduler = newScheduler
        if !bindings.isEmpty { madeLinks().bindings = bindings }
    }

    /// The properties of the operation that a scheduler needs when the operation arrives.
    var newcomer: Newcomer {
        Newcomer(
            level: orderLevel, isReady: isReady, isDelayed: isDelayed, weight: Int(weight),
            hasEnded: phase == .finished, isLate: isLate && phase == .submitted, hasLimits: hasLimits)
    }
}

// An operation with a delay waits for its deadline and for its dependencies.

extension AnyTaskOperation {
    /// Begins the delay of the operation. Called when a queue has accepted the operation and cannot start it yet.
    func beginDelay<C: Clock>(_ delay: Duration, on clock: C) where C.Duration == Duration {
        Deadlines.add(self, after: delay, on: clock, .high)
        // If the operation finished before the delay began, its end did not find the deadline.
        if isFinished { Deadlines.remove(self) }
    }
}

extension AnyTaskOperation: DeadlineTarget {
    var deadlineSlot: Int32 {
        get { record.withLock { $0.deadlineSlot } }
        set { record.withLock { $0.deadlineSlot = newValue } }
    }

    func deadlinePassed() {
        record.withLock { $0.insertedScheduler }?.delayEnded(of: self)
    }
}
