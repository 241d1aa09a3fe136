import Synchronization

extension Scheduler {
    /// Adds an operation.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded`. `.notReady` if the operation must be ready and is not.
    ///   `.dependencyCycle` if the operation would close a cycle through a barrier, through a wait until the queue is
    ///   empty, or through a permit that is never lent.
    nonisolated func submit(
        _ operation: AnyTaskOperation, isBarrier: Bool = false, mustBeReady: Bool = false
    ) throws(TaskOperationError) {
        try submitAndLink(operation, mustBeReady: mustBeReady)
        if isBarrier {
            hasHadBarriers.store(true, ordering: .sequentiallyConsistent)
            try insertInOrder([operation], isBarrier: true)
        } else if !inbox.add(operation) {
            try insert(operation)
        }
    }

    /// Adds an operation that was created as added to this queue. It has no options. Only its dependencies know it.
    ///
    /// - Throws: `TaskOperationError.dependencyCycle`, as `submit(_:isBarrier:mustBeReady:)` does.
    nonisolated func submit(
        plain operation: AnyTaskOperation, dependencies: [AnyTaskOperation]
    ) throws(TaskOperationError) {
        if !dependencies.isEmpty { operation.link(newDependencies: dependencies) }
        if inbox.add(operation, at: .default) { return }
        try insert(operation, plain: dependencies.isEmpty ? Newcomer(isReady: true) : nil)
    }

    private nonisolated func insert(
        _ operation: AnyTaskOperation, plain: Newcomer? = nil
    ) throws(TaskOperationError) {
        // The search for a cycle must precede the drop of another operation.
        if !dropsQueued, withCore({ core in insert(operation, plain: plain, onlyInOrder: true, in: &core) }) { return }
        try insertInOrder([operation], isBarrier: false)
    }

    /// Adds operations in one step. No operation starts before all of them are in the queue.
    ///
    /// - Throws: The errors of `submit(_:isBarrier:mustBeReady:)`. If the call throws, no operation was added.
    nonisolated func submit(_ operations: [AnyTaskOperation]) throws(TaskOperationError) {
        var submitted = 0
        var (dependents, withOptions) = ([AnyTaskOperation](), [AnyTaskOperation]())
        do {
            for operation in operations {
                let parts = try operation.attach(to: self, bindings: capturedTaskLocals, mustBeReady: false)
                if parts.hasDependencies { dependents.append(operation) }
                if parts.hasOptions { withOptions.append(operation) }
                submitted += 1
            }
        } catch {
            for operation in operations.prefix(submitted) { operation.withdraw() }
            throw error
        }
        for dependent in dependents { dependent.linkDependencies() }
        for operation in withOptions { operation.beginOptions(hasDefaults: defaults != nil) }
        try insertInOrder(operations, isBarrier: false)
    }

    @inline(__always)
    nonisolated func submitAndLink(
        _ operation: AnyTaskOperation, mustBeReady: Bool = false
    ) throws(TaskOperationError) {
        let parts = try operation.attach(to: self, bindings: capturedTaskLocals, mustBeReady: mustBeReady)
        if parts.hasDependencies { operation.linkDependencies() }
        if parts.hasOptions { operation.beginOptions(hasDefaults: defaults != nil) }
    }

    private nonisolated var capturedTaskLocals: [TaskLocalBinding] {
        taskLocals.isEmpty ? [] : taskLocals.map { $0.capture() }
    }

    /// Inserts a submitted operation into the state.
    ///
    /// - Parameters:
    ///   - plain: The properties of an operation that no other thread knows; nil for any other operation.
    ///   - onlyInOrder: Whether to insert the operation only if that leaves the wait graph in order.
    ///   - ticks: The ticks of the addition if it was before the event; otherwise 0.
    /// - Returns: False if `onlyInOrder` prevented the insertion.
    @discardableResult
    nonisolated func insert(
        _ operation: AnyTaskOperation, isBarrier: Bool = false, plain: Newcomer? = nil, onlyInOrder: Bool = false,
        ticks: UInt64 = 0, in core: inout SchedulerCore
    ) -> Bool {
        if core.state.isFull || !core.state.admission.state.accepts {
            // A finished operation needs no room. But observers learn of an operation that a limit refused.
            let isRefused = !operation.refusingLimits.isEmpty
            if core.state.admission.state.accepts && operation.isFinished && !isRefused {
                core.state.effects.removed.append(operation)
                return true
            }
            // Neither does an operation that must not start.
            let needsNoRoom =
                core.state.admission.state.accepts
                && (isRefused || operation.record.withLock { operation.newcomer($0).isLate })
            guard needsNoRoom || core.state.admitOrReject(operation) else { return true }
        }
        let slot = core.state.nextSlot
        let place = nextPlace(for: CollectionOfOne(operation), isBarrier: isBarrier, in: &core)
        var newcomer: Newcomer
        if let plain, place == nil {
            operation.slot = slot
            newcomer = plain
        } else {
            guard let assigned = operation.assignSlot(slot, in: place, onlyInOrder: onlyInOrder) else { return false }
            newcomer = assigned
        }
        newcomer.isBarrier = isBarrier
        if newcomer.hasLimits { core.state.setLimits(core.limitSet(of: operation, claimedBy: self), of: slot) }
        core.state.insert(operation, newcomer, at: slot, ticks: ticks)
        if let recording = core.recording, operation.name != nil || newcomer.hasLinks {
            operation.describe(core.state.arrivals, in: recording)
        }
        if newcomer.hasEnded { core.state.remove(slot) }
        if newcomer.isLate { core.state.dropLate(slot) }
        return true
    }
}

// MARK: - The order of the wait graph

extension Scheduler {
    /// Inserts submitted operations in one step. If they would close a cycle, inserts none and throws an error.
    private nonisolated func insertInOrder(
        _ operations: [AnyTaskOperation], isBarrier: Bool
    ) throws(TaskOperationError) {
        let cycle = makeEdges { core in insert(operations, isBarrier: isBarrier, in: &core) }
        if let cycle {
            for operation in operations { operation.withdraw() }
            throw .dependencyCycle(AnyTaskOperation.labels(of: cycle))
        }
    }

    /// Makes edges under the lock of the queue. If the edges would close a cycle, and no body on it can lend its
    /// permit, returns the cycle.
    ///
    /// Effects are performed at the end, because an attempt may be made with a lock held.
    private nonisolated func makeEdges(_ attempt: (inout SchedulerCore) -> WaitOrder.OrderViolation?) -> [WaitNode]? {
        var allEffects: [Effects] = []
        defer { for effects in allEffects { perform(effects) } }
        while true {
            let cycle = WaitOrder.makeEdges {
                var effects = Effects()
                let orderViolation = withCore(&effects, attempt)
                if !effects.isEmpty { allEffects.append(effects) }
                return orderViolation
            }
            guard let cycle, AnyTaskOperation.lendPermit(on: cycle) else { return cycle }
        }
    }

    /// Inserts operations if the wait graph then remains in order. Otherwise returns edges that would be out of order.
    ///
    /// The order is valid until the end of the event. If the queue has barriers, the ranks of submitted operations
    /// decrease only under the queue's lock, and the ranks of the operations for which they wait do not increase.
    private nonisolated func insert(
        _ operations: [AnyTaskOperation], isBarrier: Bool, in core: inout SchedulerCore
    ) -> WaitOrder.OrderViolation? {
        if isBarrier { emptyInbox(&core, openFor: nil) }
        // An operation that is not accepted ends at once and waits for no other.
        if core.state.admission.state.accepts {
            while true {
                let place = nextPlace(for: operations, isBarrier: isBarrier, in: &core)
                guard let place, let misfit = operations.first(where: { !$0.takeRank(in: place) }) else { break }
                if let orderViolation = place.orderViolation(of: misfit, in: self) { return orderViolation }
                // Another operation has begun to wait for `misfit`. The next place therefore lists the earlier operations.
            }
        }
        for operation in operations { insert(operation, isBarrier: isBarrier, in: &core) }
        return nil
    }

    /// The place of the next operations to be added; nil if operations of any rank may have it.
    @inline(__always)
    private nonisolated func nextPlace(
        for operations: some Collection<AnyTaskOperation>, isBarrier: Bool, in core: inout SchedulerCore
    ) -> GraphPlace? {
        hasBarriers || isAwaited ? placeWithEdges(for: operations, isBarrier: isBarrier, in: &core) : nil
    }

    private nonisolated func placeWithEdges(
        for operations: some Collection<AnyTaskOperation>, isBarrier: Bool, in core: inout SchedulerCore
    ) -> GraphPlace {
        let hasEdges = isBarrier || core.state.hasUnfinishedBarriers
        let mustList = hasEdges && (isAwaited || operations.contains { $0.record.withLock { $0.isWaitedFor } })
        if mustList { core.state.indexArrivals() }
        return GraphPlace(
            hasEdges: hasEdges, before: mustList ? core.state.elementsHoldingBackNext(isBarrier: isBarrier) : nil,
            endRank: endRank)
    }

    /// Called when the delay of an operation is over. A barrier then takes its place in the line.
    nonisolated func delayEnded(of operation: AnyTaskOperation) {
        let isBarrier = withCore { core in
            core.updateReadiness(of: operation)
            return core.slot(of: operation).map { core.state.isOutsideLine($0) } ?? false
        }
        if isBarrier { putIntoLine(operation) }
    }

    /// Puts a barrier behind all operations of the queue, except the operations that wait for the barrier. If one of
    /// these has started, the barrier could never run alone, and fails with `TaskOperationError.dependencyCycle`.
    private nonisolated func putIntoLine(_ barrier: AnyTaskOperation) {
        var dependents: [AnyTaskOperation] = []
        while let cycle = makeEdges({ core in putIntoLine(barrier, before: dependents, in: &core) }) {
            // The barrier would wait for this operation, which waits for the barrier.
            guard let dependent = cycle[1].operation, !dependents.contains(dependent),
                dependent.phase == .added
            else {
                let error = TaskOperationError.dependencyCycle(AnyTaskOperation.labels(of: cycle))
                barrier.endUnlessStarted(error, isCancellation: false)
                return
            }
            dependents = WaitOrder.nodes(operations.map(WaitNode.operation), waitingFor: .operation(barrier))
                .compactMap(\.operation)
        }
    }

    /// Puts a barrier into the line if the wait graph then remains in order. Otherwise returns edges that would be out
    /// of order.
    private nonisolated func putIntoLine(
        _ barrier: AnyTaskOperation, before dependents: [AnyTaskOperation], in core: inout SchedulerCore
    ) -> WaitOrder.OrderViolation? {
        guard let slot = core.slot(of: barrier), core.state.isOutsideLine(slot) else { return nil }
        core.state.indexArrivals()
        while true {
            // An operation that no longer ranks above the barrier no longer waits for it.
            let waiting = dependents.filter { $0.rank.value > barrier.rank.value }.compactMap { core.slot(of: $0) }
            let moving = core.state.operationsMoving(with: waiting)
            let mustList = isAwaited || barrier.record.withLock { $0.isWaitedFor }
            let before = mustList ? core.state.elementsHoldingBackNextBarrier(without: moving) : nil
            let place = GraphPlace(hasEdges: true, before: before, endRank: endRank)
            if barrier.takeRank(in: place) {
                core.state.endDelay(of: slot, before: moving)
                core.updateReadiness(of: barrier)
                return nil
            }
            if let orderViolation = place.orderViolation(of: barrier, in: self) { return orderViolation }
            // Another operation has begun to wait for the barrier. The next place therefore lists the operations.
        }
    }

    /// Changes ranks so that an operation ranks above the operations for which it waits in the queue, and below the
    /// operations that wait for it there. If the operation closes a cycle, withdraws it and throws an error.
    nonisolated func restoreOrder(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        guard let cycle = makeEdges({ core in orderViolation(of: operation, in: &core) }) else { return }
        // If the operation has started or ended, the cycle no longer exists.
        guard let bindings = withCore({ $0.withdraw(operation) }) else { return }
        operation.withdraw()
        extendLifetime(bindings)
        throw .dependencyCycle(AnyTaskOperation.labels(of: cycle))
    }

    private nonisolated func orderViolation(
        of operation: AnyTaskOperation, in core: inout SchedulerCore
    ) -> WaitOrder.OrderViolation? {
        if core.slot(of: operation) == nil { return nil }
        let before = core.operationsHoldingBack(operation)
        let place = GraphPlace(hasEdges: !before.isEmpty, before: before, endRank: endRank)
        return place.orderViolation(of: operation, in: self)
    }
}
