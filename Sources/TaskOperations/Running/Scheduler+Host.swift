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

    func lendPermit(of operation: AnyTaskOperation) -> Bool {
        apply { storage in
            guard let slot = storage.slot(of: operation) else { return true }
            guard let count = operation.permitWasLent(by: permit!) else { return false }
            for _ in 0..<count { _ = storage.state.beginWait(slot) }
            return true
        }
    }

    func beginWait(within operation: AnyTaskOperation) -> Bool {
        apply { storage in
            guard let slot = storage.slot(of: operation), operation.isPermitLent else { return false }
            if storage.state.beginWait(slot) == .taskGoesOn {
                storage.freed.append(storage.returns.removeValue(forKey: slot)!)
            }
            return true
        }
    }

    func endWait(within operation: AnyTaskOperation, _ target: WaitNode) async {
        await withCheckedContinuation { continuation in
            let (mustWait, change) = apply { storage in
                guard let slot = storage.slot(of: operation) else { return (false, nil as Inheritance.Change?) }
                let change = operation.removeLentWait(for: target)
                guard storage.state.endWait(slot) else { return (false, change) }
                storage.returns[slot] = continuation
                return (true, change)
            }
            if let change { Inheritance.carryOut([change]) }
            if !mustWait { continuation.resume() }
        }
    }

    // MARK: Barriers

    var hasBarriers: Bool { hasHadBarriers.load(ordering: .sequentiallyConsistent) }

    func operationsHoldingBack(_ operation: AnyTaskOperation) -> [AnyTaskOperation] {
        apply { storage in storage.slot(of: operation).map { storage.state.elementsHoldingBack($0) } ?? [] }
    }

    func whileHoldingBack(_ operation: AnyTaskOperation, _ body: ([AnyTaskOperation]) -> Bool) -> Bool {
        apply { storage in
            body(storage.slot(of: operation).map { storage.state.elementsHoldingBack($0) } ?? [])
        }
    }

    // MARK: The end of all

    var isAwaited: Bool { isAwaitedByBodies.load(ordering: .sequentiallyConsistent) }

    var endRank: Int { end.value }

    func willBeAwaited() {
        apply { storage in
            storage.awaitingBodyCount += 1
            if isAwaited { return }
            // Said before the mailbox is emptied: what is put in later is looked at by the thread that adds it.
            isAwaitedByBodies.store(true, ordering: .sequentiallyConsistent)
            takeMail(into: &storage)
            end.set(Rank.next())
        }
    }

    func isNoLongerAwaited() {
        apply { $0.awaitingBodyCount -= 1 }
    }

    func lowerEnd(to rank: Int) -> Bool {
        apply { storage in
            if end.value <= rank { return true }
            guard storage.state.records.all.allSatisfy({ $0.element.rank.value < rank }) else { return false }
            end.set(rank)
            return true
        }
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
