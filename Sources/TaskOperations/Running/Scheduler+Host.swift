import Synchronization

// What operations tell their scheduler. The scheduler does not take their word for how they stand: it looks, once it is
// entered, so that messages which overtake each other do no harm.

extension Scheduler {
    nonisolated func readinessChanged(of operation: AnyTaskOperation) {
        apply(operation) { scheduler, operation in scheduler.updateReadiness(of: operation) }
    }

    nonisolated func inOneStep<Result: Sendable>(
        with operation: AnyTaskOperation, _ end: @escaping () -> Result, then follow: (Result) -> Void
    ) -> Result {
        var (input, departure) = ((operation, end), Departure())
        let result = enter(with: &input, &departure) { scheduler, input in
            // If it is not here yet, it is found finished when it comes.
            let slot = scheduler.slot(of: input.0)
            let isObserved = scheduler.state.changes.isObserved && !input.0.isCancelled
            let result = input.1()
            if isObserved, let slot, input.0.isCancelled { scheduler.state.tell(.cancelled, slot) }
            if let slot, input.0.isFinished { scheduler.removeUnstarted(at: slot) }
            return result
        }
        follow(result)
        if let outbox = departure.outbox.take() { carryOut(outbox) }
        return result
    }

    // MARK: Priorities

    nonisolated func priorityChanged(of operation: AnyTaskOperation) -> [AnyTaskOperation] {
        applyLevels(operation) { scheduler, operation in
            if let slot = scheduler.slot(of: operation) { scheduler.state.setLevel(slot, operation.snapshot.level) }
        }
    }

    nonisolated func endInherits(from: PriorityLevel?, to: PriorityLevel?) -> [AnyTaskOperation] {
        applyLevels((from, to)) { scheduler, levels in
            scheduler.state.endInherits(from: levels.0, to: levels.1)
        }
    }

    /// Applies an event; its caller sees to the floors that it changes.
    private nonisolated func applyLevels<Input>(
        _ input: Input, _ event: @escaping (isolated Scheduler, inout Input) -> Void
    ) -> [AnyTaskOperation] {
        var (input, departure) = (input, Departure())
        enter(with: &input, &departure, event)
        guard var outbox = departure.outbox.take() else { return [] }
        defer { carryOut(outbox) }
        return outbox.takeNewFloors()
    }

    nonisolated func withFloor(of operation: AnyTaskOperation, _ body: (PriorityLevel) -> Void) {
        withoutActuallyEscaping(body) { body in
            var input = (operation, body)
            look(with: &input) { scheduler, input in
                if let slot = scheduler.slot(of: input.0) { input.1(scheduler.state.floor(of: slot)) }
            }
        }
    }

    // MARK: The permit of a body that awaits

    nonisolated func lendPermit(of operation: AnyTaskOperation) -> Bool {
        apply(operation) { scheduler, operation in
            guard let slot = scheduler.slot(of: operation) else { return true }
            guard let count = operation.permitWasLent(by: scheduler.permit!) else { return false }
            scheduler.state.beginWaits(slot, upTo: count)
            return true
        }
    }

    nonisolated func beginWait(within operation: AnyTaskOperation) -> Bool {
        apply(operation) { scheduler, operation in
            guard let slot = scheduler.slot(of: operation), let count = operation.lentWaitCount else { return false }
            scheduler.state.beginWaits(slot, upTo: count)
            return true
        }
    }

    nonisolated func endWait(within operation: AnyTaskOperation, _ target: WaitNode) async {
        await withWaitContinuation { (continuation: Continuation) in
            let (isHere, change) = apply((operation, target, continuation)) { scheduler, input in
                guard let slot = scheduler.slot(of: input.0) else { return (false, nil as Inheritance.Change?) }
                let change = input.0.removeLentWait(for: input.1)
                scheduler.state.endWait(slot, input.2)
                return (true, change)
            }
            if let change { Inheritance.carryOut(change) }
            if !isHere { continuation.resume() }
        }
    }

    // MARK: Barriers

    nonisolated var hasBarriers: Bool { hasHadBarriers.load(ordering: .sequentiallyConsistent) }

    nonisolated func operationsHoldingBack(_ operation: AnyTaskOperation) -> [AnyTaskOperation] {
        apply(operation) { scheduler, operation in scheduler.holdingBack(operation) }
    }

    nonisolated func whileHoldingBack(
        _ operation: AnyTaskOperation, _ body: ([AnyTaskOperation]) -> Bool
    ) -> Bool {
        withoutActuallyEscaping(body) { body in
            apply((operation, body)) { scheduler, input in input.1(scheduler.holdingBack(input.0)) }
        }
    }

    func holdingBack(_ operation: AnyTaskOperation) -> [AnyTaskOperation] {
        guard let slot = slot(of: operation) else { return [] }
        state.indexArrivals()
        return state.elementsHoldingBack(slot)
    }

    // MARK: The end of all

    nonisolated var isAwaited: Bool { isAwaitedByBodies.load(ordering: .sequentiallyConsistent) }

    nonisolated var endRank: Int { end.value }

    nonisolated func willBeAwaited() {
        apply { scheduler in
            scheduler.awaitingBodyCount += 1
            if scheduler.isAwaited { return }
            // Said before the mailbox is emptied: what is put in later is looked at by the thread that adds it.
            scheduler.isAwaitedByBodies.store(true, ordering: .sequentiallyConsistent)
            scheduler.takeMail()
            scheduler.end.set(Rank.next())
        }
    }

    nonisolated func isNoLongerAwaited() {
        apply { $0.awaitingBodyCount -= 1 }
    }

    nonisolated func lowerEnd(to rank: Int) -> Bool {
        apply(rank) { scheduler, rank in
            if scheduler.end.value <= rank { return true }
            // An operation that has ended, such as that of an abandoned body, waits for nothing.
            let isAbove = scheduler.state.records.all.allSatisfy { record in
                record.element.rank.value < rank || record.element.isFinished
            }
            guard isAbove else { return false }
            scheduler.end.set(rank)
            return true
        }
    }

    nonisolated func reasonToWait(of operation: AnyTaskOperation) -> String {
        let (barrier, isSuspended) = apply(operation) { scheduler, operation in
            let slot = scheduler.slot(of: operation)
            return (
                slot.flatMap { scheduler.state.elementsHoldingBack($0).last }, scheduler.state.isSuspended
            )
        }
        if let barrier { return "waits behind \(OperationLabel(barrier)) for a barrier in \(label)" }
        return isSuspended ? "waits for \(label) to be resumed" : "waits for its turn in \(label)"
    }
}
