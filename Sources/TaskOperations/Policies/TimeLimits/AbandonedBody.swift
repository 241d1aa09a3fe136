// An operation whose body ignores cancellation can end without it. The body goes on, and keeps the permit until it has
// really ended; for everything else the operation is finished.
//
// Nothing can wait for such a body, so that its waits are no edges of the wait graph. It lends its permit for each of
// them, as nobody could tell otherwise whether what it awaits needs that permit.

/// What came of an operation whose body goes on.
final class AbandonedOutcome: Outcome, @unchecked Sendable {
    // Both are constant, and only asked for under no lock, or to be returned from one.

    /// Where the body still has its place.
    weak let scheduler: Scheduler?
    /// What the body executes in. It knows the body's tasks once that has begun, which can be after the abandonment.
    weak let runner: OperationRunner?

    init(_ failure: any Error, _ scheduler: Scheduler, _ runner: OperationRunner?) {
        self.scheduler = scheduler
        self.runner = runner
        super.init(.failure(failure))
    }
}

extension OperationRecord {
    /// Where the body of an abandoned operation has its place.
    var abandonedBodyHost: (any OperationHost)? { (outcome as? AbandonedOutcome)?.scheduler }
}

extension AnyTaskOperation {
    /// What is left to do for an operation that was abandoned.
    private struct Abandonment: Sendable {
        let ending: OperationEnding
        let runner: OperationRunner?
        /// The waits of the body, which hand nothing on any more.
        let waits: [OperationLinks.Wait]
    }

    /// Ends an operation that executes with a failure, and then cancels its body, which keeps its permit until it has
    /// ended. Does nothing if the operation does not execute.
    func abandon(_ failure: any Error) {
        guard let scheduler = record.withLock({ $0.phase == .executing ? $0.host : nil }) as? Scheduler else { return }
        let abandonment = scheduler.apply((self, failure)) { scheduler, input in
            input.0.abandon(input.1, in: scheduler)
        }
        guard let abandonment else { return }
        scheduler.permit?.remove(self)
        Inheritance.carryOut(
            abandonment.waits.compactMap { wait in
                wait.handedOn.map { Inheritance.Change(target: wait.target, from: $0, to: nil) }
            })
        // The handlers of both sides are the user's, and may take long.
        Task.detached(executorPreference: scheduler.handlerExecutor, priority: effectivePriority) { [self] in
            abandonment.ending.callHandlers(self)
            letOthersGoOn(abandonment.ending)
        }
        abandonment.runner?.cancel()
    }

    private func abandon(_ failure: any Error, in scheduler: isolated Scheduler) -> Abandonment? {
        guard let slot = scheduler.slot(of: self) else { return nil }
        let abandonment = record.withLock { record -> Abandonment? in
            guard record.phase == .executing else { return nil }
            let (runner, waits) = (record.runner, record.links?.waits ?? [])
            record.isCancelled = true
            record.isRunnerWorn = true
            let outcome = AbandonedOutcome(failure, scheduler, runner)
            return Abandonment(ending: record.end(outcome), runner: runner, waits: waits)
        }
        guard let abandonment else { return nil }
        // Its permit is lent for the waits that have begun, as for those that come.
        scheduler.state.beginWaits(slot, upTo: abandonment.waits.count { $0.isSuspended })
        scheduler.state.beginEnding(slot)
        return abandonment
    }

    /// Waits for something. If an abandoned body does so, its permit is lent.
    static func lendingAbandonedPermit(while wait: () async -> Void) async {
        guard let operation = executing, let scheduler = operation.schedulerOfAbandonedBody else { return await wait() }
        scheduler.apply(operation) { scheduler, operation in
            if let slot = scheduler.slot(of: operation) { scheduler.state.beginWait(slot) }
        }
        await wait()
        await scheduler.endWait(within: operation, .operation(operation))
    }

    /// Where the calling task, or one of which it is a child, executes the abandoned body of this operation.
    private var schedulerOfAbandonedBody: Scheduler? {
        guard let outcome = record.withLock({ $0.outcome }) as? AbandonedOutcome else { return nil }
        // Asked for by a task that has begun within the body, if it is the one.
        return outcome.runner?.binding == BodyBinding.current ? outcome.scheduler : nil
    }
}
