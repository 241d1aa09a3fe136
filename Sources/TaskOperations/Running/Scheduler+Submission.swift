import Synchronization

extension Scheduler {
    /// Takes one operation in.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded`, `.notReady` where it must be ready, or `.dependencyCycle`
    ///   where a barrier closes one.
    func submit(
        _ operation: AnyTaskOperation, isBarrier: Bool = false, mustBeReady: Bool = false
    ) throws(TaskOperationError) {
        let standing = try claim(operation, mustBeReady: mustBeReady)
        if isBarrier || mayCloseCycle(standing) {
            return try insertChecked(CollectionOfOne(operation), isBarrier: isBarrier)
        }
        send(operation)
        // Whoever came to wait for it between the claim and the mailbox did not find it here.
        if hasImplicitEdges, mayCloseCycle(operation.standing) { try checkSent(operation) }
    }

    /// Puts an operation into the mailbox, and takes in what is there unless whoever works for the queue will do so in
    /// time.
    private func send(_ operation: AnyTaskOperation) {
        mailbox.put(operation)
        let urgent = urgentLevel.load(ordering: .sequentiallyConsistent)
        // The level as it is now: who raised it before the operation was in the mailbox did not find it there.
        if urgent != Storage.noLevel, operation.standing.level.rawValue >= urgent { apply { _ in } }
    }

    /// Takes operations in, in one step: none of them starts before all are weighed.
    ///
    /// - Throws: As for one operation. Then none has been added.
    func submit(_ operations: [AnyTaskOperation]) throws(TaskOperationError) {
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
        let isInserted = apply { storage in
            if hasImplicitEdges, operations.contains(where: { mayCloseCycle($0.standing) }) { return false }
            storage.insert(operations, isBarrier: false)
            return true
        }
        if !isInserted { try insertChecked(operations, isBarrier: false) }
    }

    private func claim(
        _ operation: AnyTaskOperation, mustBeReady: Bool = false
    ) throws(TaskOperationError) -> AnyTaskOperation.Standing {
        let bindings = taskLocals.isEmpty ? [] : taskLocals.map { $0.capture() }
        let standing = try operation.claim(for: self, bindings: bindings, mustBeReady: mustBeReady)
        if standing.hasDependencies { operation.linkDependencies() }
        return standing
    }

    /// Puts claimed operations into the state that may close a cycle, because of barriers or because a body awaits the
    /// whole queue. That is looked into first, and others who might are kept out meanwhile.
    private func insertChecked(
        _ operations: some Collection<AnyTaskOperation>, isBarrier: Bool
    ) throws(TaskOperationError) {
        if isBarrier { hasHadBarriers.store(true, ordering: .sequentiallyConsistent) }
        try WaitGraph.exclusively { graph throws(TaskOperationError) in
            var cycle = isAwaited ? graph.cycle(closedByAdding: operations, to: self) : nil
            var seen: UInt64 = 0
            while cycle == nil {
                let before = apply(in: &graph) { storage in
                    let before = storage.elementsHoldingBackNext(operations, isBarrier: isBarrier, after: &seen)
                    if before.isEmpty { storage.insert(operations, isBarrier: isBarrier) }
                    return before
                }
                if before.isEmpty { return }
                cycle = graph.cycle(closedByAny: operations.filter(\.holdsOthersUp), waitingFor: before)
            }
            for operation in operations { operation.unclaim() }
            throw .dependencyCycle(cycle!)
        }
    }

    /// Takes an operation back that was put into the mailbox and closes a cycle.
    private func checkSent(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        try WaitGraph.exclusively { graph throws(TaskOperationError) in
            let before = operationsHoldingBack(operation, after: 0, seenIn: &graph).operations
            let cycle =
                graph.cycle(closedBy: operation, waitingFor: before.map(WaitTarget.operation))
                ?? graph.cycle(closedByAdding: CollectionOfOne(operation), to: self)
            // Where it has started, or has ended, whoever closed the cycle has gone out of it.
            guard let cycle, apply(in: &graph, { $0.removeUnstarted(operation) }) else { return }
            operation.unclaim()
            throw .dependencyCycle(cycle)
        }
    }

    /// Whether an operation is waited for by more than what names it, or waits for more than it names.
    private func mayCloseCycle(_ standing: AnyTaskOperation.Standing) -> Bool {
        standing.isWaitedFor && hasHadBarriers.load(ordering: .sequentiallyConsistent)
            || standing.hasDependencies && isAwaited
    }

    private var hasImplicitEdges: Bool { isAwaited || hasHadBarriers.load(ordering: .sequentiallyConsistent) }

    private var isAwaited: Bool { isAwaitedByBodies.load(ordering: .sequentiallyConsistent) }

    /// Ends an operation that came too late.
    func reject(_ operation: AnyTaskOperation) {
        if storage.withLock({ $0.cancelsAdded }) { return operation.cancel() }
        let label = OperationLabel(operation)
        operation.endBeforeStart(TaskOperationError.queueShutDown(label, queueName: queueName), isCancellation: false)
    }
}

extension AnyTaskOperation {
    /// One that was cancelled before holds nobody up, though who depends on it and is not added does not know yet.
    fileprivate var holdsOthersUp: Bool {
        let standing = standing
        return standing.isWaitedFor && !standing.hasEnded
    }
}

extension Scheduler.Storage {
    /// What would hold operations back that are added now, where they hold others up.
    ///
    /// - Parameter seen: Leaves out what arrived by then, and becomes the last arrival.
    fileprivate func elementsHoldingBackNext(
        _ operations: some Collection<AnyTaskOperation>, isBarrier: Bool, after seen: inout UInt64
    ) -> [WaitTarget] {
        if !operations.contains(where: \.holdsOthersUp) { return [] }
        let elements = state.elementsHoldingBackNext(isBarrier: isBarrier, after: seen)
        seen = state.arrivals
        return elements.map(WaitTarget.operation)
    }

    fileprivate mutating func insert(_ operations: some Collection<AnyTaskOperation>, isBarrier: Bool) {
        for operation in operations { insert(operation, isBarrier: isBarrier) }
    }

    mutating func insert(_ operation: AnyTaskOperation, isBarrier: Bool) {
        if state.intake == .shut || cancelsAdded { return rejected.append(operation) }
        let slot = state.add(operation, isBarrier: isBarrier)
        let standing = operation.settle(at: slot)
        if standing.hasEnded {
            state.end(slot)
            return
        }
        state.setLevel(slot, standing.level)
        if standing.isReady { state.setReady(slot, true) }
    }
}
