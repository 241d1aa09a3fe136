import Synchronization

// What operations tell their scheduler. The scheduler does not take their word for how they stand: it looks, once it is
// entered, so that messages which overtake each other do no harm.

extension Scheduler {
    nonisolated func readinessChanged(of operation: AnyTaskOperation) {
        apply(operation) { scheduler, operation in scheduler.updateReadiness(of: operation) }
    }

    nonisolated func priorityChanged(of operation: AnyTaskOperation) {
        apply(operation) { scheduler, operation in
            if let slot = scheduler.slot(of: operation) { scheduler.state.setLevel(slot, operation.standing.level) }
        }
    }

    nonisolated func endedBeforeStart(_ operation: AnyTaskOperation) {
        apply(operation) { scheduler, operation in _ = scheduler.removeUnstarted(operation) }
    }

    nonisolated func beginWait(within operation: AnyTaskOperation) {
        apply(operation) { scheduler, operation in
            if let slot = scheduler.slot(of: operation) { scheduler.state.beginWait(slot) }
        }
    }

    nonisolated func endWait(within operation: AnyTaskOperation) async {
        await withCheckedContinuation { (continuation: Continuation) in
            let isHere = apply((operation, continuation)) { scheduler, input in
                guard let slot = scheduler.slot(of: input.0) else { return false }
                scheduler.state.endWait(slot, input.1)
                return true
            }
            if !isHere { continuation.resume() }
        }
    }

    nonisolated func operationsHoldingBack(
        _ operation: AnyTaskOperation, after arrival: UInt64, seenIn graph: inout WaitGraph
    ) -> (operations: [AnyTaskOperation], end: UInt64) {
        apply(in: &graph) { scheduler in
            guard let slot = scheduler.slot(of: operation) else { return ([], 0) }
            let record = scheduler.state.records[slot]
            return (
                scheduler.state.elementsHoldingBack(slot, after: arrival), record.isBarrier ? record.arrival : 0
            )
        }
    }

    nonisolated var hasImplicitWaits: Bool {
        isAwaitedByBodies.load(ordering: .sequentiallyConsistent) || apply { !$0.state.barriers.isEmpty }
    }

    nonisolated func willBeAwaited() {
        isAwaitedByBodies.store(true, ordering: .sequentiallyConsistent)
    }

    nonisolated func operations(seenIn graph: inout WaitGraph) -> [AnyTaskOperation] {
        apply(in: &graph) { $0.state.elements }
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

extension AnyTaskOperation {
    /// Ends the operation before its start, and takes it out of its queue, in one step: nobody finds it finished and still
    /// counted.
    ///
    /// - Parameter end: Ends it under its lock if it has not started. Called with the scheduler entered.
    func inOneStepWithHost<Result: Sendable>(_ end: @escaping () -> Result) -> Result {
        guard let scheduler = record.withLock({ $0.host }) as? Scheduler else { return end() }
        return scheduler.apply((self, end)) { scheduler, input in
            let slot = scheduler.slot(of: input.0)
            let result = input.1()
            if slot != nil, input.0.isFinished { _ = scheduler.removeUnstarted(input.0) }
            return result
        }
    }
}
