import Synchronization

// What operations tell their scheduler. The scheduler does not take their word for how they stand: it looks, under
// its own lock, so that messages which overtake each other do no harm.

extension Scheduler {
    func readinessChanged(of operation: AnyTaskOperation) {
        apply { $0.updateReadiness(of: operation) }
    }

    func priorityChanged(of operation: AnyTaskOperation) {
        apply { storage in
            if let slot = storage.slot(of: operation) { storage.state.setLevel(slot, operation.standing.level) }
        }
    }

    func endedBeforeStart(_ operation: AnyTaskOperation) {
        _ = apply { $0.removeUnstarted(operation) }
    }

    func beginWait(within operation: AnyTaskOperation) {
        apply { storage in
            guard let slot = storage.slot(of: operation) else { return }
            if storage.state.beginWait(slot) == .taskGoesOn {
                storage.freed.append(storage.returns.removeValue(forKey: slot)!)
            }
        }
    }

    func endWait(within operation: AnyTaskOperation) async {
        await withCheckedContinuation { continuation in
            let mustWait = apply { storage in
                guard let slot = storage.slot(of: operation), storage.state.endWait(slot) else { return false }
                storage.returns[slot] = continuation
                return true
            }
            if !mustWait { continuation.resume() }
        }
    }

    func operationsHoldingBack(
        _ operation: AnyTaskOperation, after arrival: UInt64, seenIn graph: inout WaitGraph
    ) -> (operations: [AnyTaskOperation], end: UInt64) {
        apply(in: &graph) { storage in
            guard let slot = storage.slot(of: operation) else { return ([], 0) }
            let record = storage.state.records[slot]
            return (storage.state.elementsHoldingBack(slot, after: arrival), record.isBarrier ? record.arrival : 0)
        }
    }

    var hasImplicitWaits: Bool {
        isAwaitedByBodies.load(ordering: .sequentiallyConsistent) || storage.withLock { !$0.state.barriers.isEmpty }
    }

    func willBeAwaited() {
        isAwaitedByBodies.store(true, ordering: .sequentiallyConsistent)
    }

    func operations(seenIn graph: inout WaitGraph) -> [AnyTaskOperation] {
        apply(in: &graph) { $0.state.elements }
    }

    func reasonToWait(of operation: AnyTaskOperation) -> String {
        let (barrier, isSuspended) = apply { storage in
            let slot = storage.slot(of: operation)
            return (slot.flatMap { storage.state.elementsHoldingBack($0).last }, storage.state.isSuspended)
        }
        if let barrier { return "waits behind \(OperationLabel(barrier)) for a barrier in \(label)" }
        return isSuspended ? "waits for \(label) to be resumed" : "waits for its turn in \(label)"
    }
}
