import Synchronization

extension Scheduler {
    /// Cancels every operation that has not ended.
    ///
    /// - Parameters:
    ///   - cause: The error of operations that have not started, and the cancellation cause of executing bodies.
    ///   - unstartedOnly: Whether executing operations are not cancelled.
    ///   - intake: The new intake, which is set in the same step. It decides whether later operations are refused or
    ///     cancelled.
    nonisolated func cancelAll(
        throwing cause: any Error = CancellationError(), unstartedOnly: Bool = false,
        andSet intake: QueueIntake = .open
    ) {
        let outcome = Outcome(.failure(cause))
        var rest: ArraySlice<AnyTaskOperation> = []
        // The step that lists all operations also cancels the first ones, so that a small number is cancelled in one
        // step.
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
        // Cancelling a task calls its handlers, which must not run while starts are blocked.
        for operation in executing { operation.cancel(throwing: cause) }
    }

    /// The maximum number of operations that are cancelled while the lock is held once.
    private nonisolated static var cancelledAtOnce: Int { 64 }

    /// Ends unstarted operations in one step. Returns the operations that have started.
    ///
    /// - Parameter begin: Called first in the step. Returns the operations to end.
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
            operation.notifyDependents(endedUnstarted: ending)
        }
        if !effects.isEmpty { perform(effects) }
        for (operation, ending) in ended { operation.performUnstartedEnd(ending, self) }
        return executing
    }
}

extension SchedulerCore {
    /// Ends the unstarted ones among some operations. Returns these, and the operations that have started and not
    /// ended.
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
