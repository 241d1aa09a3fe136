extension Scheduler {
    /// Cancels every operation that has not ended.
    ///
    /// - Parameters:
    ///   - cause: The error of operations that have not started, and the cause for bodies that execute.
    ///   - unstartedOnly: Whether operations that execute are left alone.
    ///   - intake: Set in the same step: whether operations that are added from now on are refused or cancelled.
    nonisolated func cancelAll(
        throwing cause: any Error = CancellationError(), unstartedOnly: Bool = false,
        andSet intake: QueueIntake = .open
    ) {
        let outcome = Outcome(.failure(cause))
        var rest: ArraySlice<AnyTaskOperation> = []
        // The first operations are cancelled in the step that lists all: few operations are cancelled in one step.
        var executing = cancelUnstarted(outcome) { core in
            core.state.setIntake(intake)
            core.state.blockStarts()
            rest = core.state.elements[...]
            return rest.prefix(Self.cancelledAtOnce)
        }
        while rest.count > Self.cancelledAtOnce {
            rest = rest.dropFirst(Self.cancelledAtOnce)
            executing += cancelUnstarted(outcome) { _ in rest.prefix(Self.cancelledAtOnce) }
        }
        withCore { $0.state.unblockStarts() }
        if unstartedOnly { return }
        // Cancelling a task calls its handlers, which must not find the queue held.
        for operation in executing { operation.cancel(throwing: cause) }
    }

    /// The number of operations that are cancelled at most under one lock.
    private nonisolated static var cancelledAtOnce: Int { 64 }

    /// Ends operations that have not started, in one step. Returns those that have.
    ///
    /// - Parameter begin: Called first in the step. Returns the operations.
    private nonisolated func cancelUnstarted(
        _ outcome: Outcome, _ begin: (inout SchedulerCore) -> ArraySlice<AnyTaskOperation>
    ) -> [AnyTaskOperation] {
        var effects = Effects()
        let (ended, executing) = withCore(&effects) { core in
            let operations = begin(&core)
            return core.cancelUnstarted(operations, outcome)
        }
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
            if state.changes.isObserved { state.report(.cancelled, slot) }
            removeUnstarted(at: slot)
            ended.append((operation, ending))
        }
        return (ended, executing)
    }
}
