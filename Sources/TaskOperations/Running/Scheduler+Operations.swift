// Operations as the state has them.
extension Scheduler {
    /// The operation's slot; nil if the operation is not in the queue (any more).
    func slot(of operation: AnyTaskOperation) -> Int? {
        let slot = operation.snapshot.slot
        return holds(operation, at: slot) ? slot : nil
    }

    private func holds(_ operation: AnyTaskOperation, at slot: Int) -> Bool {
        slot >= 0 && state.records.holds(slot) && state.records[slot].element === operation
    }

    /// Takes an operation in. Returns false if it is not in the order of the wait graph yet.
    @discardableResult
    func insert(_ operation: AnyTaskOperation, isBarrier: Bool = false) -> Bool {
        if state.isFull || !state.intake.takes {
            // What has ended needs no room.
            if state.intake.takes && operation.isFinished { return true }
            guard state.takesIn(operation) else { return true }
        }
        let slot = state.nextSlot
        let (snapshot, isInOrder) = operation.settle(
            at: slot, in: nextPlace(for: CollectionOfOne(operation), isBarrier: isBarrier))
        if snapshot.hasLimits { state.setLimits(limitSet(of: operation), of: slot) }
        state.insert(operation, snapshot.newcomer(isBarrier: isBarrier), at: slot)
        if snapshot.hasEnded { state.remove(slot) }
        return isInOrder || snapshot.hasEnded
    }

    /// The place of operations that are added now.
    @inline(__always)
    func nextPlace(for operations: some Collection<AnyTaskOperation>, isBarrier: Bool) -> HostPlace {
        hasBarriers || isAwaited ? placeWithEdges(for: operations, isBarrier: isBarrier) : HostPlace()
    }

    private func placeWithEdges(for operations: some Collection<AnyTaskOperation>, isBarrier: Bool) -> HostPlace {
        let hasEdges = isBarrier || !state.barriers.isEmpty
        let mustList = hasEdges && (isAwaited || operations.contains { $0.record.withLock { $0.isWaitedFor } })
        if mustList { state.indexArrivals() }
        return HostPlace(
            hasEdges: hasEdges, before: mustList ? state.elementsHoldingBackNext(isBarrier: isBarrier) : nil,
            endRank: end.value)
    }

    /// Removes an operation that has not started, and has it forget its slot in the same step.
    ///
    /// - Returns: What the caller releases after it has left the scheduler; nil if the operation has started or ended.
    func withdraw(_ operation: AnyTaskOperation) -> [TaskLocalBinding]? {
        guard let slot = slot(of: operation), removeUnstarted(at: slot) else { return nil }
        return operation.leaveHost()
    }

    /// Removes an operation that has not started. If a worker has taken it meanwhile, that does so, and false is returned.
    @discardableResult
    func removeUnstarted(at slot: Int) -> Bool {
        switch state.records[slot].status {
        case .waiting, .ready:
            state.remove(slot)
            return true
        case .executing, .lent, .returning:
            return false
        }
    }

    func updateReadiness(of operation: AnyTaskOperation) {
        let snapshot = operation.snapshot
        if holds(operation, at: snapshot.slot) { state.setReady(snapshot.slot, snapshot.isReady) }
    }
}
