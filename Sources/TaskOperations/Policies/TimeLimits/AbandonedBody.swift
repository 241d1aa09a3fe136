// An operation whose body ignores cancellation can end before the body. The body continues and keeps its permit until
// its end. Otherwise the operation is finished. The waits of the body remain in the wait graph.

extension AnyTaskOperation {
    /// Ends an executing operation with a failure, and then cancels its body. The body keeps its permit until it has
    /// ended. Does nothing if the operation is not executing.
    func abandon(_ failure: any Error) {
        guard let scheduler = record.withLock({ $0.phase == .executing ? $0.host : nil }) else { return }
        let abandonment = scheduler.withCore { core in abandon(failure, in: &core) }
        guard let (ending, runner) = abandonment else { return }
        scheduler.noteFailure(of: self)
        // Completion handlers and cancellation handlers are user code, and may take long.
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
