extension Scheduler {
    /// The next step of a worker.
    enum WorkerStep: Sendable {
        case run(StartedOperation)
        /// Yield to other tasks, and then ask for the first step again.
        case yield
        /// End, because the queue has no operation for the worker, or because its task was cancelled or escalated for
        /// one operation.
        case leave
    }

    /// An operation that a worker must run.
    struct StartedOperation: Sendable {
        let operation: AnyTaskOperation
        fileprivate let slot: Int
        /// The executor of the operation; nil if the operation runs in the place of the queue.
        let executor: (any TaskExecutor)?
        /// The level to which the worker's task must be raised.
        let escalation: PriorityLevel?
    }
}

// MARK: - Calls of workers

extension Scheduler {
    /// Called when a worker's task has begun to run.
    nonisolated func workerBegan(_ worker: Worker) -> WorkerStep {
        withCore { core in
            core.state.workerBegan(at: worker.level)
            return start(worker, &core)
        }
    }

    /// Ends an operation whose body has returned.
    ///
    /// The operation ends and leaves the queue in one step. Therefore no thread finds it finished and still counted, or
    /// unfinished and no longer counted. With completion handlers, it leaves the queue after these were called.
    nonisolated func finish(
        _ started: borrowing StartedOperation, _ outcome: Outcome?, on worker: Worker, isSliceOver: Bool
    ) -> WorkerStep {
        let (operation, slot) = (started.operation, started.slot)
        var (effects, readied) = (Effects(), [(operation: AnyTaskOperation, host: Scheduler)]())
        let (ending, step) = withCore(&effects) { core -> (OperationEnding, WorkerStep?) in
            let ending = operation.end(outcome)
            if ending.hasHandlers || failures != nil && operation.failure != nil {
                core.state.markFinished(slot)
                return (ending, nil)
            }
            core.leave(operation, slot, ending, self, &readied)
            return (ending, next(worker, ending, isSliceOver, &core))
        }
        if let step {
            perform(effects, after: readied)
            if ending.hasLinks { ending.resumeWaiters() }
            return step
        }
        if !effects.isEmpty { perform(effects) }
        noteFailure(of: operation)
        ending.callHandlers(operation)
        effects = Effects()
        let stepAfterHandlers = withCore(&effects) { core in
            core.leave(operation, slot, ending, self, &readied)
            return next(worker, ending, isSliceOver, &core)
        }
        perform(effects, after: readied)
        ending.resumeWaiters()
        return stepAfterHandlers
    }

    /// Performs the effects of an end. Operations of other queues become ready first, so that a task that waits for
    /// this queue to be empty finds them ready.
    @inline(__always)
    private nonisolated func perform(
        _ effects: Effects, after readied: [(operation: AnyTaskOperation, host: Scheduler)]
    ) {
        for (operation, host) in readied { host.readinessChanged(of: operation) }
        if !effects.isEmpty { perform(effects) }
    }
}

// MARK: - Under the lock

extension SchedulerCore {
    /// Removes an ended operation from the queue. The caller retains the operation.
    ///
    /// - Parameter readied: Receives the operations of other queues that have become ready.
    fileprivate mutating func leave(
        _ operation: AnyTaskOperation, _ slot: Int, _ ending: borrowing OperationEnding, _ scheduler: Scheduler,
        _ readied: inout [(operation: AnyTaskOperation, host: Scheduler)]
    ) {
        _ = state.end(slot)
        if limits != nil { updateLimits(of: scheduler) }
        if ending.hasLinks { tellDependents(operation, ending, scheduler, &readied) }
        if !state.acceptance.producers.isEmpty { scheduler.admitProducers(&self) }
    }

    private mutating func tellDependents(
        _ operation: AnyTaskOperation, _ ending: borrowing OperationEnding, _ scheduler: Scheduler,
        _ readied: inout [(operation: AnyTaskOperation, host: Scheduler)]
    ) {
        ending.forEachDependent { dependent in
            switch dependent.dependencyFinished(operation, calledBy: scheduler) {
            // The operation is still ready and has not ended, because both changes need the lock of this queue.
            case .inCaller(let slot): state.setReady(slot, true)
            case .elsewhere(let host): readied.append((dependent, host))
            case nil: break
            }
        }
    }
}

extension Scheduler {
    private nonisolated func next(
        _ worker: Worker, _ ending: borrowing OperationEnding, _ isSliceOver: Bool, _ core: inout SchedulerCore
    ) -> WorkerStep {
        if ending.isRunnerWorn { return .leave }
        if isSliceOver { return core.state.workerYields(at: worker.level) ? .yield : .leave }
        return start(worker, &core)
    }

    /// Starts the next operation on a worker if the operation has the worker's level.
    private nonisolated func start(_ worker: Worker, _ core: inout SchedulerCore) -> WorkerStep {
        while let slot = core.limits == nil
            ? core.state.nextStart(at: worker.level) : core.nextLimitedStart(at: worker.level)
        {
            let operation = core.state.records[slot].element
            switch operation.start(on: worker, level: worker.level) {
            case .executes(let escalation, let executor):
                core.state.noteStart(slot)
                let ownExecutor: (any TaskExecutor)? = if case .pool = place { executor } else { nil }
                return .run(
                    StartedOperation(operation: operation, slot: slot, executor: ownExecutor, escalation: escalation))
            case .mustWait: core.state.undoStart(slot)
            }
        }
        return .leave
    }
}
