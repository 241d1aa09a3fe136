// The steps of an operation's life. Each step holds the operation's lock. The caller performs the effects of the step
// after the lock is released.

import Synchronization

extension AnyTaskOperation {
    /// The properties of an operation that its host needs.
    struct Snapshot: Sendable {
        let slot: Int
        let isReady: Bool
        let isDelayed: Bool
        let hasEnded: Bool
        /// Whether a time limit passed before the operation was added.
        let isLate: Bool
        let level: PriorityLevel
        let hasDependencies: Bool
        let weight: Int
        let hasLimits: Bool
        let hasOptions: Bool

        func newcomer(isBarrier: Bool) -> Newcomer {
            Newcomer(level: level, isReady: isReady, isBarrier: isBarrier, isDelayed: isDelayed, weight: weight)
        }
    }

    /// The result of an attempt to start.
    enum Start: Sendable {
        /// The operation executes. `escalation` is the operation's level if it is higher than the level of the task;
        /// otherwise nil. The operation requests `executor`.
        case executes(escalation: PriorityLevel?, executor: (any TaskExecutor)?)
        /// The operation has a new dependency, of which the host does not know yet.
        case mustWait
    }

    var snapshot: Snapshot { record.withLock { $0.snapshot } }

    /// Adds the operation to a host. An operation that was cancelled before its addition stays finished.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded`. `TaskOperationError.notReady` if `mustBeReady` is true and a
    ///   dependency is unfinished. `TaskOperationError.dependencyCycle` if the operation waits for a permit whose
    ///   holder waits for the operation.
    func submit(
        to host: Scheduler, bindings: [TaskLocalBinding], mustBeReady: Bool
    ) throws(TaskOperationError) -> Snapshot {
        let unfinished = mustBeReady ? dependencies.filter { !$0.isFinished } : []
        var snapshot = try submitIfOrdered(to: host, bindings, after: unfinished)
        while snapshot == nil {
            let cycle = try WaitOrder.makeEdges { () throws(TaskOperationError) in
                snapshot = try submitIfOrdered(to: host, bindings, after: unfinished)
                if snapshot != nil { return nil }
                return (.operation(self), record.withLock { $0.permits(of: host) }.map(WaitNode.permit))
            }
            if let cycle, !Self.lendPermit(on: cycle) { throw .dependencyCycle(Self.labels(of: cycle)) }
        }
        return snapshot!
    }

    /// Adds the operation to a host. If a permit that the operation needs has the same or a higher rank, returns nil
    /// and changes nothing.
    @inline(__always)
    private func submitIfOrdered(
        to host: Scheduler, _ bindings: [TaskLocalBinding], after unfinished: [AnyTaskOperation]
    ) throws(TaskOperationError) -> Snapshot? {
        try record.withLock { record throws(TaskOperationError) -> Snapshot? in
            if record.wasSubmitted { throw .alreadyAdded(OperationLabel(self)) }
            if !unfinished.isEmpty, record.phase == .created {
                throw .notReady(OperationLabel(self), waitingFor: unfinished.map { OperationLabel($0) })
            }
            if let defaults = host.defaults, record.phase == .created { record.complete(by: defaults) }
            if let permit = host.permit, permit.rank.value >= rank.value { return nil }
            if record.hasLimits, !record.ranksAboveLimits(at: rank.value) { return nil }
            record.submit(to: host, bindings)
            return record.snapshot
        }
    }

    /// Undoes `submit`, because the host refused this operation or an operation that was added in the same step.
    func withdraw() {
        let bindings = leaveHost()
        unlinkDependencies()
        revokeOptions()
        record.withLock { $0.wasSubmitted = false }
        extendLifetime(bindings)
    }

    /// Removes the reference to the host. No queue accepts the operation until `withdraw` has removed its links.
    ///
    /// A host calls this in the step in which it removes the operation from its state. When a dependency ends, it
    /// therefore finds both the operation and its slot, or neither.
    ///
    /// - Returns: The task locals, which the caller releases after it has unlocked the host.
    func leaveHost() -> [TaskLocalBinding] {
        record.withLock { record in
            guard record.phase == .submitted else { return [] }
            record.phase = .created
            let hadDefaults = record.host?.defaults != nil
            record.host = nil
            if hadDefaults { record.complete(by: nil) }
            record.slot = -1
            record.floor = .background
            guard let links = record.links, !links.bindings.isEmpty else { return [] }
            defer { links.bindings = [] }
            return links.bindings
        }
    }

    /// Sets the operation's slot in the host. Every later change uses this slot.
    ///
    /// - Parameter onlyInOrder: Whether to set the slot only if `fits` returns true for the place.
    /// - Returns: The properties of the operation; nil if the slot was not set.
    func assignSlot(_ slot: Int, in place: HostPlace, onlyInOrder: Bool) -> Snapshot? {
        record.withLock { record in
            if !place.isFree, !isOrdered(in: place, record), onlyInOrder { return nil }
            record.slot = Int32(slot)
            return record.snapshot
        }
    }

    /// Whether the rank of the operation fits its place in a host. The operation must rank above the operations for
    /// which it would wait because of barriers, and below the host's end. May change the rank to make this true.
    func isOrdered(in place: HostPlace) -> Bool { record.withLock { isOrdered(in: place, $0) } }

    private func isOrdered(in place: HostPlace, _ record: borrowing OperationRecord) -> Bool {
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

    /// Starts the operation if it is ready. The host then runs its body on a task of the given level.
    func start(on runner: OperationRunner, level: PriorityLevel) -> Start {
        record.withLock { record in
            assert(record.phase == .submitted, "an operation that has ended or started is still queued")
            if !record.isReady { return .mustWait }
            record.start(on: runner)
            let executor = record.links?.executor
            if record.effectiveLevel <= level { return .executes(escalation: nil, executor: executor) }
            record.isRunnerWorn = true
            return .executes(escalation: record.effectiveLevel, executor: executor)
        }
    }

    /// Runs the body as the current operation.
    ///
    /// Like `withValue`, the function has a parameter for its isolation. The compiler then knows that both isolations
    /// are the same, and omits two of four executor checks.
    @inline(__always)
    func run(on runner: OperationRunner, isolation: isolated (any Actor)? = #isolation) async -> Outcome? {
        await Self.$executing.withValue(
            self,
            operation: {
                runner.binding = BodyBinding.current
                return await runBody()
            }, isolation: isolation)
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

    /// Runs the body as the current operation, on the main actor.
    @MainActor
    func runOnMainActor(_ runner: OperationRunner) async -> Outcome? {
        await Self.$executing.withValue(self) { @MainActor in
            runner.binding = BodyBinding.current
            return await runBody()
        }
    }

    /// Ends the operation after its body has ended.
    func end(_ outcome: Outcome?) -> OperationEnding {
        record.withLock { $0.end(outcome) }
    }
}

/// The edges of the wait graph that an operation has because of its place in a host.
struct HostPlace {
    /// Whether the operation waits for another operation because of a barrier.
    var hasEdges = false
    /// The operations for which the operation waits because of barriers. A barrier waits for all operations since the
    /// last barrier. Nil if the host did not list the operations, because no operation waits for this one.
    var before: [AnyTaskOperation]?
    /// The rank of the host's end; `Int.max` if no task awaits the host's end. The host's end waits for the operation.
    var endRank = Int.max

    /// Whether an operation of any rank may have this place.
    var isFree: Bool { !hasEdges && endRank == .max }

    /// The edges that would be out of order if the operation had this place.
    func orderViolation(of operation: AnyTaskOperation, in host: Scheduler) -> WaitOrder.OrderViolation? {
        if operation.isFinished { return nil }
        let rank = operation.rank.value
        if rank >= endRank { return (.end(host), [.operation(operation)]) }
        let high = (before ?? []).filter { $0.rank.value >= rank }
        return high.isEmpty ? nil : (.operation(operation), high.map(WaitNode.operation))
    }
}

extension OperationRecord {
    fileprivate mutating func submit(to newHost: Scheduler, _ bindings: [TaskLocalBinding]) {
        wasSubmitted = true
        guard phase == .created else { return }
        phase = .submitted
        host = newHost
        if !bindings.isEmpty { madeLinks().bindings = bindings }
    }

    var snapshot: AnyTaskOperation.Snapshot {
        AnyTaskOperation.Snapshot(
            slot: Int(slot), isReady: isReady, isDelayed: isDelayed, hasEnded: phase == .finished,
            isLate: isLate && phase == .submitted, level: orderLevel,
            hasDependencies: links.map { !$0.dependencies.isEmpty } ?? false, weight: Int(weight),
            hasLimits: hasLimits, hasOptions: options != nil)
    }
}
