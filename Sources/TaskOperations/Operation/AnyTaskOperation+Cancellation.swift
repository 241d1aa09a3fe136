extension AnyTaskOperation {
    /// Marks the operation as cancelled. Before its start it is finished at once, with `CancellationError`, also on
    /// a suspended queue and with unfinished dependencies; its body never runs, and its dependents go on. While it
    /// executes, its task is cancelled, and the body decides what to do. Afterwards, or a second time, nothing
    /// happens.
    public func cancel() {
        endBeforeStart(CancellationError(), isCancellation: true)
    }

    /// Ends the operation where it has not started. Cancels its task where it has, and this is a cancellation.
    func endBeforeStart(_ failure: any Error, isCancellation: Bool) {
        let (ending, runner) = record.withLock { record -> (OperationEnding?, (any OperationRunner)?) in
            if record.phase == .finished || (isCancellation && record.isCancelled) { return (nil, nil) }
            if isCancellation { record.isCancelled = true }
            if record.phase != .executing { return (record.end(Outcome(.failure(failure))), nil) }
            record.isRunnerWorn = true
            return (nil, record.runner)
        }
        runner?.cancel()
        if let ending { carryOutUnstarted(ending) }
    }

    private func carryOutUnstarted(_ ending: OperationEnding) {
        discardBody()
        for dependent in ending.dependents { dependent.dependencyFinished(self)?.readinessChanged(of: dependent) }
        ending.host?.endedBeforeStart(self)
        guard ending.hasHandlers else { return ending.resumeWaiters() }
        Task.detached(priority: effectivePriority) {
            ending.callHandlers(self)
            ending.resumeWaiters()
        }
    }
}
