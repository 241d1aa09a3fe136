import Synchronization

// The steps of an operation's life. Each step holds the operation's lock. The caller performs the effects of the step
// after the lock is released.

extension AnyTaskOperation {
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
            if !unfinished.isEmpty, phase == .created {
                throw .notReady(OperationLabel(self), waitingFor: unfinished.map { OperationLabel($0) })
            }
            if let defaults = scheduler.defaults, phase == .created { record.complete(by: defaults) }
            if let permit = scheduler.permit, permit.rank.value >= rank.value { return nil }
            if record.hasLimits, !record.ranksAboveLimits(at: rank.value) { return nil }
            record.wasSubmitted = true
            if phase == .created {
                enter(.added)
                record.scheduler = scheduler
                if !bindings.isEmpty { record.madeLinks().madeExtras().bindings = bindings }
            }
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
            guard phase == .added else { return [] }
            enter(.created)
            let hadDefaults = record.scheduler?.defaults != nil
            record.scheduler = nil
            if hadDefaults { record.complete(by: nil) }
            slot = -1
            record.floor = .background
            guard let extras = record.links?.extras else { return [] }
            defer { extras.bindings = [] }
            return extras.bindings
        }
    }

    /// Sets the operation's slot in its queue. A change of another thread finds the slot from now on, or the row contains
    /// the change.
    ///
    /// - Parameter onlyInOrder: Whether to set the slot only if the operation is in order in this place.
    /// - Returns: The properties of the operation; nil if the slot was not set.
    func assignSlot(_ slot: Int, in place: GraphPlace?, onlyInOrder: Bool) -> Newcomer? {
        record.withLock { record in
            let isInOrder = place.map { takeRank(in: $0, record) } ?? true
            if !isInOrder, onlyInOrder { return nil }
            self.slot = slot
            return newcomer(record)
        }
    }

    /// The properties of the operation that a scheduler needs when the operation arrives.
    func newcomer(_ record: borrowing OperationRecord) -> Newcomer {
        Newcomer(
            level: record.orderLevel, isReady: phase == .added && record.mayStart, isDelayed: record.isDelayed,
            weight: Int(record.weight), hasEnded: isFinished, isLate: record.isLate && phase == .added,
            hasLimits: record.hasLimits, hasLinks: record.links != nil,
            hasExecutor: record.links?.extras?.executor != nil)
    }

    /// Gives the operation a rank that fits its place in a scheduler. The rank must be above the ranks of the operations
    /// for which the operation would wait because of barriers, and below the rank of the scheduler's end. Returns false
    /// if the operation cannot have such a rank.
    func takeRank(in place: GraphPlace) -> Bool { record.withLock { takeRank(in: place, $0) } }

    private func takeRank(in place: GraphPlace, _ record: borrowing OperationRecord) -> Bool {
        if isFinished { return true }
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

    /// Runs the body in the task of a body. The operation is the current one until the body returns.
    @inline(__always)
    func run(on bodyTask: BodyTask) async -> Outcome? {
        await bodyTask.withCurrent(self) { await runBody() }
    }

    /// Runs a function with the task locals that the operation inherited from the code that added it.
    func withTaskLocals(_ run: @Sendable () async -> Outcome?) async -> Outcome? {
        let bindings = record.withLock { $0.links?.extras?.bindings ?? [] }
        return await Self.with(bindings[...], run)
    }

    private static func with(
        _ bindings: ArraySlice<TaskLocalBinding>, _ run: @Sendable () async -> Outcome?
    ) async -> Outcome? {
        guard let binding = bindings.first else { return await run() }
        return await binding { await with(bindings.dropFirst(), run) }
    }

    /// Ends the operation under the lock of its record.
    func end(_ record: inout OperationRecord, _ outcome: Outcome?) -> OperationEnding {
        finish(outcome)
        return record.end()
    }

    /// Ends the operation after its body has ended. An abandoned operation has already ended.
    func endBody(_ outcome: Outcome?) -> OperationEnding {
        record.withLock { record in
            if isFinished { return record.end() }
            return end(&record, outcome)
        }
    }

    /// Whether the operation and its body have both ended, so that neither waits for another operation. An abandoned
    /// operation has finished while its body still executes.
    func isOver(_ record: borrowing OperationRecord) -> Bool { isFinished && record.scheduler == nil }

    /// Calls a function under the lock of the operation, and under the lock of its queue if that queue has a row for it.
    /// The operation therefore cannot start during the call. If the function ends the operation, or adds something for
    /// which it must wait, the queue learns of this in the same step, or when it makes the row.
    ///
    /// - Parameter step: Receives the worker that runs the body; nil if the operation has not started or has ended.
    /// - Returns: The effects on the queue, which the caller performs.
    func inOneStepWithQueue<Result: Sendable>(
        _ step: (inout OperationRecord, Worker?) -> Result
    ) -> (result: Result, effects: QueueEffects) {
        while true {
            var result: Result?
            let scheduler = record.withLock { record -> Scheduler? in
                if slot >= 0, let scheduler = record.scheduler { return scheduler }
                result = step(&record, nil)
                return nil
            }
            guard let scheduler else { return (result!, QueueEffects()) }
            var effects = QueueEffects(scheduler)
            // Another thread may have withdrawn the operation in the meantime.
            if let result = scheduler.inOneStep(
                with: self, &effects,
                { worker in
                    record.withLock { $0.scheduler === scheduler ? step(&$0, worker) : nil }
                })
            {
                return (result, effects)
            }
            effects.perform()
        }
    }

    /// The worker that runs the body; nil before the start and after the end of the body.
    var worker: Worker? {
        record.withLock { $0.scheduler }.flatMap { scheduler in
            scheduler.withCore { core in core.slot(of: self).flatMap { core.state.rows[$0].worker } }
        }
    }
}

/// The effects of a step on the queue of an operation, to perform with no lock held.
struct QueueEffects: Sendable {
    private let scheduler: Scheduler?
    var effects = Scheduler.Effects()

    init(_ scheduler: Scheduler? = nil) {
        self.scheduler = scheduler
    }

    func perform() {
        if !effects.isEmpty { scheduler!.perform(effects) }
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

    /// The edges that would be out of order if the operation had this place.
    func orderViolation(of operation: AnyTaskOperation, in scheduler: Scheduler) -> WaitOrder.OrderViolation? {
        if operation.isFinished { return nil }
        let rank = operation.rank.value
        if rank >= endRank { return (.end(scheduler), [.operation(operation)]) }
        let high = (before ?? []).filter { $0.rank.value >= rank }
        return high.isEmpty ? nil : (.operation(operation), high.map(WaitNode.operation))
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
        record.withLock { $0.scheduler }?.delayEnded(of: self)
    }
}

// MARK: - Work outside the library

extension TaskOperation where Success == Void {
    /// Creates an operation that represents work outside this library. Call `finishExternally` to end the operation.
    package static func placeholder(name: String?) -> TaskOperation<Void> {
        let operation = TaskOperation<Void>(name: name) {}
        operation.refusesAddition = true
        return operation
    }
}

extension AnyTaskOperation {
    /// Whether queues refuse the operation with `TaskOperationError.alreadyAdded`. True after the operation was added to a
    /// queue or started, even if it had already ended at that time. An operation that was added cannot be accepted again.
    package var refusesAddition: Bool {
        get { record.withLock { $0.wasSubmitted } }
        set {
            record.withLock { record in
                // An operation that was cancelled meanwhile can be added, too, and stays finished.
                if newValue || phase == .created || phase == .finished { record.wasSubmitted = newValue }
            }
        }
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
