extension Scheduler {
    /// Cancels every operation that has not ended. `andAdded`: and any that is added from now on.
    nonisolated func cancelAll(andAdded: Bool = false) {
        let operations = apply { scheduler in
            if andAdded { scheduler.state.setIntake(.cancelling) }
            scheduler.state.hold()
            return scheduler.state.elements
        }
        let outcome = Outcome(.failure(CancellationError()))
        var (rest, executing) = (operations[...], [AnyTaskOperation]())
        while !rest.isEmpty {
            executing += cancelUnstarted(rest.prefix(Self.cancelledAtOnce), outcome)
            rest = rest.dropFirst(Self.cancelledAtOnce)
        }
        apply { $0.state.release() }
        // Cancelling a task calls its handlers, which must not find the queue held.
        for operation in executing { operation.cancel() }
    }

    /// So many operations at most are cancelled while the scheduler is entered.
    private nonisolated static var cancelledAtOnce: Int { 64 }

    /// Ends operations that have not started, in one step. Returns those that have.
    private nonisolated func cancelUnstarted(
        _ operations: ArraySlice<AnyTaskOperation>, _ outcome: Outcome
    ) -> [AnyTaskOperation] {
        var (cancellation, departure) = (Cancellation(operations: operations, outcome: outcome), Departure())
        enter(with: &cancellation, &departure) { scheduler, cancellation in scheduler.carryOut(&cancellation) }
        for (operation, ending) in cancellation.ended { operation.letDependentsGoOn(endedUnstarted: ending) }
        if let outbox = departure.outbox.take() { carryOut(outbox) }
        for (operation, ending) in cancellation.ended { operation.carryOutUnstarted(ending, self) }
        return cancellation.executing
    }

    private struct Cancellation {
        let operations: ArraySlice<AnyTaskOperation>
        let outcome: Outcome
        var ended: [(AnyTaskOperation, OperationEnding)] = []
        var executing: [AnyTaskOperation] = []
    }

    private func carryOut(_ cancellation: inout Cancellation) {
        cancellation.ended.reserveCapacity(cancellation.operations.count)
        for operation in cancellation.operations {
            guard let slot = slot(of: operation) else { continue }
            let ending = operation.record.withLock { $0.cancelUnstarted(cancellation.outcome) }
            if let ending {
                if state.changes.isObserved { state.tell(.cancelled, slot) }
                removeUnstarted(at: slot)
                cancellation.ended.append((operation, ending))
            } else {
                cancellation.executing.append(operation)
            }
        }
    }
}
