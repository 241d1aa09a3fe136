import Synchronization

extension Scheduler {
    /// Takes one operation in.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded`, `.notReady` where it must be ready, or `.dependencyCycle`
    ///   where a barrier closes one.
    nonisolated func submit(
        _ operation: AnyTaskOperation, isBarrier: Bool = false, mustBeReady: Bool = false
    ) throws(TaskOperationError) {
        let standing = try claim(operation, mustBeReady: mustBeReady)
        if isBarrier || mayCloseCycle(standing) {
            return try insertChecked(CollectionOfOne(operation), isBarrier: isBarrier)
        }
        if mailbox.put(operation) { apply { _ in } }
        // Whoever came to wait for it between the claim and the mailbox did not find it here.
        if hasImplicitEdges, mayCloseCycle(operation.standing) { try checkSent(operation) }
    }

    /// Takes operations in, in one step: none of them starts before all are weighed.
    ///
    /// - Throws: As for one operation. Then none has been added.
    nonisolated func submit(_ operations: [AnyTaskOperation]) throws(TaskOperationError) {
        var claimed = 0
        do {
            for operation in operations {
                _ = try claim(operation)
                claimed += 1
            }
        } catch {
            for operation in operations.prefix(claimed) { operation.unclaim() }
            throw error
        }
        // Not through the mailbox: that would go through all of them twice more, and there is one lock to take anyway.
        let isInserted = apply(operations) { scheduler, operations in
            if scheduler.hasImplicitEdges, operations.contains(where: { scheduler.mayCloseCycle($0.standing) }) {
                return false
            }
            scheduler.insert(operations)
            return true
        }
        if !isInserted { try insertChecked(operations, isBarrier: false) }
    }

    private nonisolated func claim(
        _ operation: AnyTaskOperation, mustBeReady: Bool = false
    ) throws(TaskOperationError) -> AnyTaskOperation.Standing {
        let bindings = taskLocals.isEmpty ? [] : taskLocals.map { $0.capture() }
        let standing = try operation.claim(for: self, bindings: bindings, mustBeReady: mustBeReady)
        if standing.hasDependencies { operation.linkDependencies() }
        return standing
    }

    /// Puts claimed operations into the state that may close a cycle, because of barriers or because a body awaits the
    /// whole queue. That is looked into first, and others who might are kept out meanwhile.
    private nonisolated func insertChecked(
        _ operations: some Collection<AnyTaskOperation> & Sendable, isBarrier: Bool
    ) throws(TaskOperationError) {
        if isBarrier { hasHadBarriers.store(true, ordering: .sequentiallyConsistent) }
        try WaitGraph.exclusively { graph throws(TaskOperationError) in
            var cycle = isAwaited ? graph.cycle(closedByAdding: operations, to: self) : nil
            var seen: UInt64 = 0
            while cycle == nil {
                let before: [WaitTarget]
                (before, seen) = apply(in: &graph) { [seen] scheduler in
                    let before = scheduler.holdingBackNext(operations, isBarrier: isBarrier, after: seen)
                    if before.isEmpty { scheduler.insert(operations, isBarrier: isBarrier) }
                    return (before, scheduler.state.arrivals)
                }
                if before.isEmpty { return }
                cycle = graph.cycle(closedByAny: operations.filter(\.holdsOthersUp), waitingFor: before)
            }
            for operation in operations { operation.unclaim() }
            throw .dependencyCycle(cycle!)
        }
    }

    /// Takes an operation back that was put into the mailbox and closes a cycle.
    private nonisolated func checkSent(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        try WaitGraph.exclusively { graph throws(TaskOperationError) in
            let before = operationsHoldingBack(operation, after: 0, seenIn: &graph).operations
            let cycle =
                graph.cycle(closedBy: operation, waitingFor: before.map(WaitTarget.operation))
                ?? graph.cycle(closedByAdding: CollectionOfOne(operation), to: self)
            // Where it has started, or has ended, whoever closed the cycle has gone out of it.
            guard let cycle else { return }
            if !apply(in: &graph, { scheduler in scheduler.removeUnstarted(operation) }) { return }
            operation.unclaim()
            throw .dependencyCycle(cycle)
        }
    }

    /// Whether an operation is waited for by more than what names it, or waits for more than it names.
    private nonisolated func mayCloseCycle(_ standing: AnyTaskOperation.Standing) -> Bool {
        standing.isWaitedFor && hasHadBarriers.load(ordering: .sequentiallyConsistent)
            || standing.hasDependencies && isAwaited
    }

    private nonisolated var hasImplicitEdges: Bool {
        isAwaited || hasHadBarriers.load(ordering: .sequentiallyConsistent)
    }

    private nonisolated var isAwaited: Bool { isAwaitedByBodies.load(ordering: .sequentiallyConsistent) }

    private func insert(_ operations: some Collection<AnyTaskOperation>, isBarrier: Bool = false) {
        for operation in operations { insert(operation, isBarrier: isBarrier) }
    }

    /// What would hold operations back that are added now, if they hold others up.
    ///
    /// - Parameter seen: Leaves out what arrived by then.
    private func holdingBackNext(
        _ operations: some Collection<AnyTaskOperation>, isBarrier: Bool, after seen: UInt64
    ) -> [WaitTarget] {
        if !operations.contains(where: \.holdsOthersUp) { return [] }
        return state.elementsHoldingBackNext(isBarrier: isBarrier, after: seen).map(WaitTarget.operation)
    }
}

extension AnyTaskOperation {
    /// One that was cancelled before holds nobody up, though who depends on it and is not added does not know yet.
    fileprivate var holdsOthersUp: Bool {
        let standing = standing
        return standing.isWaitedFor && !standing.hasEnded
    }
}
