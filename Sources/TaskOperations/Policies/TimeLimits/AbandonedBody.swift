// An operation whose body ignores cancellation can end before the body. The body continues and keeps its permit until its
// end. Otherwise the operation is finished. The waits of the body remain in the wait graph.

extension AnyTaskOperation {
    /// Ends an operation that executes with a failure, and then cancels its body, which keeps its permit until it has
    /// ended. Does nothing if the operation does not execute.
    func abandon(_ failure: any Error) {
        guard let scheduler = record.withLock({ $0.phase == .executing ? $0.host : nil }) else { return }
        let abandonment = scheduler.withCore { core in abandon(failure, in: &core) }
        guard let (ending, runner) = abandonment else { return }
        scheduler.noteFailure(of: self)
        // The handlers of both sides are the user's, and may take long.
        Task.detached(executorPreference: scheduler.handlerExecutor, priority: effectivePriority) { [self] in
            ending.callHandlers(self)
            letOthersGoOn(ending)
        }
        runner?.cancel(throwing: failure)
    }

    private func abandon(
        _ failure: any Error, in core: inout SchedulerCore
    ) -> (OperationEnding, OperationRunner?)? {
        guard let slot = core.slot(of: self) else { return nil }
        let abandonment = record.withLock { record -> (OperationEnding, OperationRunner?)? in
            guard record.phase == .executing else { return nil }
            let runner = record.runner
            record.isCancelled = true
            record.isRunnerWorn = true
            return (record.abandon(AbandonedOutcome(failure, runner)), runner)
        }
        if abandonment != nil { core.state.markFinished(slot) }
        return abandonment
    }
}
