extension Scheduler {
    /// Cancels every operation that has not ended.
    ///
    /// - Parameters:
    ///   - cause: The error of operations that have not started, and the cause for bodies that execute.
    ///   - unstartedOnly: Whether operations that execute are left alone.
    ///   - andAdded: Whether operations that are added from now on are cancelled too.
    nonisolated func cancelAll(
        throwing cause: any Error = CancellationError(), unstartedOnly: Bool = false, andAdded: Bool = false
    ) {
        let operations = withCore { core in
            if andAdded { core.state.setIntake(.cancelling) }
            core.state.hold()
            return core.state.elements
        }
        let outcome = Outcome(.failure(cause))
        var (rest, executing) = (operations[...], [AnyTaskOperation]())
        while !rest.isEmpty {
            executing += cancelUnstarted(rest.prefix(Self.cancelledAtOnce), outcome)
            rest = rest.dropFirst(Self.cancelledAtOnce)
        }
        withCore { $0.state.release() }
        if unstartedOnly { return }
        // Cancelling a task calls its handlers, which must not find the queue held.
        for operation in executing { operation.cancel(throwing: cause) }
    }

    /// The number of operations that are cancelled at most under one lock.
    private nonisolated static var cancelledAtOnce: Int { 64 }

    /// Ends operations that have not started, in one step. Returns those that have.
    private nonisolated func cancelUnstarted(
        _ operations: ArraySlice<AnyTaskOperation>, _ outcome: Outcome
    ) -> [AnyTaskOperation] {
        var effects = Effects()
        let (ended, executing) = withCore(&effects) { $0.cancelUnstarted(operations, outcome) }
        for (operation, ending) in ended {
            _ = failures?.note(operation)
            operation.letDependentsGoOn(endedUnstarted: ending)
        }
        if !effects.isEmpty { perform(effects) }
        for (operation, ending) in ended { operation.carryOutUnstarted(ending, self) }
        return executing
    }
}

extension SchedulerCore {
    /// Ends operations that have not started. Returns these, and the others that have not ended.
    fileprivate mutating func cancelUnstarted(
        _ operations: ArraySlice<AnyTaskOperation>, _ outcome: Outcome
    ) -> (ended: [(AnyTaskOperation, OperationEnding)], executing: [AnyTaskOperation]) {
        var (ended, executing) = ([(AnyTaskOperation, OperationEnding)](), [AnyTaskOperation]())
        ended.reserveCapacity(operations.count)
        for operation in operations {
            guard let slot = slot(of: operation) else { continue }
            guard let ending = operation.record.withLock({ $0.cancelUnstarted(outcome) }) else {
                executing.append(operation)
                continue
            }
            if state.changes.isObserved { state.tell(.cancelled, slot) }
            removeUnstarted(at: slot)
            ended.append((operation, ending))
        }
        return (ended, executing)
    }
}
