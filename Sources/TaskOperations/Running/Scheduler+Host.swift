import Synchronization

// Calls of operations. They carry no state: the scheduler reads the operation again under its lock, so that they may arrive
// in any order.

extension Scheduler {
    nonisolated func readinessChanged(of operation: AnyTaskOperation) {
        withCore { $0.updateReadiness(of: operation) }
    }

    nonisolated func inOneStep<Result: Sendable>(
        with operation: AnyTaskOperation, _ end: @escaping () -> Result, then follow: (Result) -> Void
    ) -> Result {
        var effects = Effects()
        let result = withCore(&effects) { core in
            // If it is not in the queue yet, its addition finds it finished.
            let slot = core.slot(of: operation)
            let isObserved = core.state.changes.isObserved && !operation.isCancelled
            let result = end()
            if isObserved, let slot, operation.isCancelled { core.state.tell(.cancelled, slot) }
            if let slot, operation.isFinished { core.removeUnstarted(at: slot) }
            return result
        }
        follow(result)
        if !effects.isEmpty { perform(effects) }
        return result
    }

    // MARK: Priorities

    nonisolated func priorityChanged(of operation: AnyTaskOperation) -> [AnyTaskOperation] {
        withLevels { core in
            if let slot = core.slot(of: operation) { core.state.setLevel(slot, operation.snapshot.level) }
        }
    }

    nonisolated func endInherits(from: PriorityLevel?, to: PriorityLevel?) -> [AnyTaskOperation] {
        withLevels { $0.state.endInherits(from: from, to: to) }
    }

    /// Applies an event. The caller updates the floors that it changes.
    private nonisolated func withLevels(_ event: (inout SchedulerCore) -> Void) -> [AnyTaskOperation] {
        var effects = Effects()
        withCore(&effects, event)
        if effects.isEmpty { return [] }
        let newFloors = effects.takeNewFloors()
        perform(effects)
        return newFloors
    }

    nonisolated func withFloor(of operation: AnyTaskOperation, _ body: (PriorityLevel) -> Void) {
        withCore { core in
            if let slot = core.slot(of: operation) { body(core.state.floor(of: slot)) }
        }
    }

    // MARK: The permit of a body that awaits

    nonisolated func lendPermit(of operation: AnyTaskOperation, _ actions: inout [() -> Void]) -> Bool {
        var effects = Effects()
        let isDone = withCore(&effects) { core in
            guard let slot = core.slot(of: operation) else { return true }
            guard let count = operation.permitWasLent(by: permit!) else { return false }
            core.state.beginWaits(slot, upTo: count)
            return true
        }
        if !effects.isEmpty { actions.append { [effects] in self.perform(effects) } }
        return isDone
    }

    nonisolated func beginWait(within operation: AnyTaskOperation) -> Bool {
        withCore { core in
            guard let slot = core.slot(of: operation), let count = operation.lentWaitCount else { return false }
            core.state.beginWaits(slot, upTo: count)
            return true
        }
    }

    nonisolated func endWait(within operation: AnyTaskOperation, _ target: WaitNode) async {
        await withWaitContinuation { (continuation: Continuation) in
            let (isHere, change) = withCore { core in
                guard let slot = core.slot(of: operation) else { return (false, nil as Inheritance.Change?) }
                let change = operation.removeLentWait(for: target)
                core.state.endWait(slot, continuation)
                return (true, change)
            }
            if let change { Inheritance.carryOut(change) }
            if !isHere { continuation.resume() }
        }
    }

    // MARK: Barriers

    nonisolated var hasBarriers: Bool { hasHadBarriers.load(ordering: .sequentiallyConsistent) }

    nonisolated func operationsHoldingBack(_ operation: AnyTaskOperation) -> [AnyTaskOperation] {
        withCore { $0.operationsHoldingBack(operation) }
    }

    nonisolated func whileHoldingBack(
        _ operation: AnyTaskOperation, _ body: ([AnyTaskOperation]) -> Bool
    ) -> Bool {
        withCore { body($0.operationsHoldingBack(operation)) }
    }

    // MARK: The end of all operations

    nonisolated var isAwaited: Bool { isAwaitedByBodies.load(ordering: .sequentiallyConsistent) }

    nonisolated var endRank: Int { end.value }

    nonisolated func willBeAwaited() {
        withCore { core in
            core.awaitingBodyCount += 1
            if isAwaited { return }
            isAwaitedByBodies.store(true, ordering: .sequentiallyConsistent)
            end.set(Rank.next())
        }
    }

    nonisolated func isNoLongerAwaited() {
        withCore { $0.awaitingBodyCount -= 1 }
    }

    nonisolated func lowerEnd(to rank: Int) -> Bool {
        withCore { core in
            if end.value <= rank { return true }
            // An operation that has ended, such as that of an abandoned body, waits for nothing.
            let isAbove = core.state.records.all.allSatisfy { record in
                record.element.rank.value < rank || record.element.isFinished
            }
            guard isAbove else { return false }
            end.set(rank)
            return true
        }
    }
}
