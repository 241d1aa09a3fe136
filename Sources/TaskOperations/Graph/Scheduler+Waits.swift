import Synchronization

// The calls that operations make to their scheduler. These calls carry no state. The scheduler reads the operation
// again under its own lock, so that the calls may arrive in any order.

extension Scheduler {
    /// Called after an operation may have become ready or not ready.
    nonisolated func readinessChanged(of operation: AnyTaskOperation) {
        withCore { $0.updateReadiness(of: operation) }
    }

    /// Changes an operation, and updates its row in the same step. Therefore no thread finds a finished operation that the
    /// queue still counts, and no operation starts that has an unfinished dependency.
    ///
    /// - Parameters:
    ///   - effects: Receives the effects, which the caller performs.
    ///   - change: Receives the worker that runs the body; nil if the operation has not started.
    nonisolated func inOneStep<Result: Sendable>(
        with operation: AnyTaskOperation, _ effects: inout QueueEffects, _ change: (Worker?) -> Result
    ) -> Result {
        withCore(&effects.effects) { core in
            // If the operation has left the queue, the caller finds this out.
            guard let slot = core.slot(of: operation) else { return change(nil) }
            let isObserved = core.state.changes.isOn && !operation.isCancelled
            let result = change(core.state.rows[slot].worker)
            if isObserved, operation.isCancelled { core.state.report(.cancelled, slot) }
            if operation.isFinished {
                core.removeUnstarted(at: slot)
            } else {
                core.updateReadiness(of: operation)
            }
            return result
        }
    }

    // MARK: Priorities

    /// Called after the level of an operation has changed. Returns the operations whose floor may have changed, and the
    /// worker whose task the caller must escalate.
    ///
    /// - Parameter hasRisen: Whether the task of an executing body needs a higher level.
    nonisolated func levelChanged(
        of operation: AnyTaskOperation, hasRisen: Bool
    ) -> (floorChanges: [AnyTaskOperation], worker: Worker?) {
        var worker: Worker?
        let floorChanges = withLevels { core in
            guard let slot = core.slot(of: operation) else { return }
            core.state.setLevel(slot, operation.record.withLock { $0.orderLevel })
            if hasRisen { worker = core.state.rows[slot].worker }
            worker?.isWorn = true
        }
        return (floorChanges, worker)
    }

    /// Changes the level that a wait until the queue is empty passes on; nil means no level. Returns the operations
    /// whose floor may have changed.
    nonisolated func idleWaitersChanged(from: PriorityLevel?, to: PriorityLevel?) -> [AnyTaskOperation] {
        withLevels { $0.state.idleWaitersChanged(from: from, to: to) }
    }

    /// Applies an event. Returns the operations whose floor may have changed, which the caller updates.
    private nonisolated func withLevels(_ event: (inout SchedulerCore) -> Void) -> [AnyTaskOperation] {
        var effects = Effects()
        withCore(&effects, event)
        if effects.isEmpty { return [] }
        let floorChanges = effects.takeFloorChanges()
        perform(effects)
        return floorChanges
    }

    /// Calls a function with the level that an operation inherits through barriers and from waits until the queue is
    /// empty. The level does not change during the call. Does nothing if the operation has left the queue.
    nonisolated func withFloor(of operation: AnyTaskOperation, _ body: (PriorityLevel) -> Void) {
        withCore { core in
            if let slot = core.slot(of: operation) { body(core.state.floor(of: slot)) }
        }
    }

    // MARK: The permit of a body that awaits

    /// Lends the permit of an executing operation if the operation still waits. Returns false if the permits of the
    /// queue do not rank below the operation.
    ///
    /// - Parameter allEffects: Receives the effects, which the caller performs after releasing all locks.
    nonisolated func lendPermit(of operation: AnyTaskOperation, _ allEffects: inout [Effects]) -> Bool {
        var effects = Effects()
        let isDone = withCore(&effects) { core in
            guard let slot = core.slot(of: operation) else { return true }
            guard let isWaiting = operation.permitWasLent(by: permit!) else { return false }
            if isWaiting { core.state.lend(slot) }
            return true
        }
        if !effects.isEmpty { allEffects.append(effects) }
        return isDone
    }

    /// Records that a wait has begun in an operation that has lent its permit. Returns false if the operation has its
    /// permit back.
    nonisolated func beginWait(within operation: AnyTaskOperation) -> Bool {
        withCore { core in
            guard let slot = core.slot(of: operation), operation.hasLentPermit else { return false }
            core.state.lend(slot)
            return true
        }
    }

    /// Removes the wait for a target, at a slot of an operation that has lent its permit. Returns when the task may
    /// continue.
    nonisolated func endWait(within operation: AnyTaskOperation, _ wait: Int, for target: WaitNode) async {
        await withWaitContinuation { (continuation: Continuation) in
            let (isHere, change) = withCore { core in
                guard let slot = core.slot(of: operation) else { return (false, nil as Inheritance.Change?) }
                let (change, isLast) = operation.removeLentWait(wait)
                core.state.endWait(slot, continuation, isLast: isLast)
                return (true, change)
            }
            target.isNoLongerAwaited()
            if let change { Inheritance.propagate(change) }
            if !isHere { continuation.resume() }
        }
    }

    // MARK: Barriers

    /// The operations for which an operation waits because of barriers. These are the previous barrier and, if the
    /// operation is a barrier itself, all operations between both.
    nonisolated func operationsHoldingBack(_ operation: AnyTaskOperation) -> [AnyTaskOperation] {
        withCore { $0.operationsHoldingBack(operation) }
    }

    /// Calls a function with the operations for which an operation waits because of barriers. These operations stay the
    /// same during the call.
    nonisolated func whileHoldingBack(
        _ operation: AnyTaskOperation, _ body: ([AnyTaskOperation]) -> Bool
    ) -> Bool {
        withCore { body($0.operationsHoldingBack(operation)) }
    }

    // MARK: The end of all operations

    nonisolated var endRank: Int { rankOfEnd.value }

    /// Called when a body is about to wait until the queue is empty.
    nonisolated func willBeAwaited() {
        withCore { core in
            core.awaitingBodyCount += 1
            if isAwaited { return }
            emptyInbox(&core, openFor: nil)
            isAwaitedByBodies.store(true, ordering: .sequentiallyConsistent)
            rankOfEnd.set(Rank.next())
        }
    }

    /// Called when a body no longer waits until the queue is empty.
    nonisolated func isNoLongerAwaited() {
        withCore { $0.awaitingBodyCount -= 1 }
    }

    /// Lowers the rank of the queue's end if the new rank is above the ranks of all operations. Returns false if it is
    /// not. If no body waits for the end any more, its rank has no effect, and does not change.
    nonisolated func lowerEnd(to rank: Int) -> Bool {
        withCore { core in
            if endRank <= rank || !isAwaited { return true }
            // A finished operation, such as the operation of an abandoned body, waits for no other.
            let isAbove = core.state.rows.all.allSatisfy { record in
                record.element.rank.value < rank || record.element.isFinished
            }
            guard isAbove else { return false }
            rankOfEnd.set(rank)
            return true
        }
    }
}
