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
        let effect = inOneStepWithHost { [self] in end(failure, isCancellation: isCancellation) }
        switch effect {
        case .none: break
        case .cancel(let runner): runner?.cancel()
        case .end(let ending, let host): carryOutUnstarted(ending, host)
        }
    }

    private func end(_ failure: any Error, isCancellation: Bool) -> CancellationEffect {
        record.withLock { record -> CancellationEffect in
            if record.phase == .finished || (isCancellation && record.isCancelled) { return .none }
            if isCancellation { record.isCancelled = true }
            if record.phase != .executing {
                let host = record.host
                return .end(record.end(Outcome(.failure(failure))), host)
            }
            record.isRunnerWorn = true
            return .cancel(record.runner)
        }
    }

    /// What is left to do after the operation's lock is left.
    private enum CancellationEffect: Sendable {
        case none
        case cancel(OperationRunner?)
        case end(OperationEnding, (any OperationHost)?)
    }

    /// Handlers are called on a task of their own, as whoever cancels may hold a lock that they want too; what waits for
    /// the operation goes on after them, as ever.
    func carryOutUnstarted(_ ending: OperationEnding, _ host: (any OperationHost)?) {
        discardBody()
        if ending.wasDelayed { Deadlines.remove(self) }
        host?.endedBeforeStart(self)
        ending.leaveDependencies(self)
        if ending.hasHandlers {
            Task.detached(executorPreference: host?.handlerExecutor, priority: effectivePriority) { [self] in
                ending.callHandlers(self)
                letOthersGoOn(ending)
            }
        } else {
            letOthersGoOn(ending)
        }
    }

    func letOthersGoOn(_ ending: OperationEnding) {
        ending.forEachDependent { $0.dependencyFinished(self)?.readinessChanged(of: $0) }
        ending.resumeWaiters()
    }
}
