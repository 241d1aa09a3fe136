// If a body ignores cancellation, its operation can finish before the body ends. The body then keeps its permit until
// it ends, and its waits remain in the wait graph.

import Synchronization

extension AnyTaskOperation {
    /// Finishes an executing operation with a failure, and then cancels its body. Does nothing if the operation is not
    /// executing.
    func abandon(_ failure: any Error) {
        guard let scheduler = record.withLock({ $0.phase == .executing ? $0.host : nil }) else { return }
        let abandonment = scheduler.withCore { core in abandon(failure, in: &core) }
        guard let (ending, runner) = abandonment else { return }
        scheduler.noteFailure(of: self)
        // Completion handlers and cancellation handlers are user code and may take long. For this reason, a separate
        // task calls the completion handlers, while the current task cancels the body.
        HandlerTasks.run(on: scheduler.handlerExecutor, at: effectivePriority) { [self] in
            ending.callHandlers(self)
            notifyDependentsAndWaiters(ending)
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
