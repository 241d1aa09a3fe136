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

    /// Operations of other queues that have become ready.
    typealias Readied = TinyArray<(operation: AnyTaskOperation, scheduler: Scheduler)>
}

/// An operation that a worker must run.
struct StartedOperation: Sendable {
    let operation: AnyTaskOperation
    let slot: Int
    /// The executor of the operation; nil if the operation runs in the place of the queue.
    let executor: (any TaskExecutor)?
    /// The level to which the worker's task must be raised; nil if it has that level.
    let escalation: PriorityLevel?
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
        var (effects, readied) = (Effects(), Readied())
        let (ending, step) = withCore(&effects) { core -> (OperationEnding, WorkerStep?) in
            // The end has the time from before it, because other queues see it at once.
            _ = core.recording?.ticks
            let ending = operation.endBody(outcome)
            // The failure of an abandoned operation was noted when the operation was abandoned.
            let isFailureNew = failures != nil && operation.failure != nil && !core.state.finishing.contains(slot)
            if ending.hasHandlers || isFailureNew {
                core.state.markFinished(slot)
                return (ending, nil)
            }
            core.leave(operation, slot, ending, self, &readied)
            return (ending, next(worker, isSliceOver, &core))
        }
        if let step {
            performEnd(ending, &readied, &effects, worker, step, isSliceOver)
            return step
        }
        if !effects.isEmpty { perform(effects) }
        noteFailure(of: operation)
        ending.callHandlers(operation)
        effects = Effects()
        let stepAfterHandlers = withCore(&effects) { core in
            core.leave(operation, slot, ending, self, &readied)
            return next(worker, isSliceOver, &core)
        }
        performEnd(ending, &readied, &effects, worker, stepAfterHandlers, isSliceOver)
        return stepAfterHandlers
    }

    /// Performs the effects of an operation's end, after which a worker takes its next step.
    @inline(__always)
    private nonisolated func performEnd(
        _ ending: borrowing OperationEnding, _ readied: inout Readied,
        _ effects: inout Effects, _ worker: Worker, _ step: WorkerStep, _ isSliceOver: Bool
    ) {
        ending.endOptions()
        if readied.isEmpty, effects.isEmpty {
            if ending.hasLinks { ending.resumeWaiters() }
        } else if case .leave = step, !isSliceOver, !worker.isWorn, !ending.hasWaiters {
            handOver(worker, to: &readied, &effects)
        } else {
            tell(readied, effects)
            ending.resumeWaiters()
        }
    }
}

// MARK: - Hand-over

extension Scheduler {
    /// Tells other queues of an end. The last of them may start an operation on the worker, which leaves this queue.
    /// Such an operation needs no new worker: the creation of a task and the wake of a thread take longer than an
    /// operation.
    ///
    /// Only the last queue may do so, and only if nothing else remains to be done. Otherwise code of the user, such as
    /// an observer, would delay an operation that has started.
    @inline(never)
    private nonisolated func handOver(_ worker: Worker, to readied: inout Readied, _ effects: inout Effects) {
        let served = effects.takeLastServed()
        let last = served == nil && effects.isEmpty ? readied.popLast() : nil
        tell(readied, effects)
        if let served {
            served.scheduler.take(worker, from: self) { $0.claimWasServed(served.claim, startAt: $1) }
        }
        if let last {
            last.scheduler.take(worker, from: self) { core, _ in
                core.updateReadiness(of: last.operation)
                return nil
            }
        }
    }

    /// Operations of other queues become ready before the effects are performed, so that a task that waits for this
    /// queue to be empty finds them ready.
    private nonisolated func tell(_ readied: Readied, _ effects: Effects) {
        readied.forEach { operation, scheduler in scheduler.readinessChanged(of: operation) }
        if !effects.isEmpty { perform(effects) }
    }

    /// Applies an event of another queue. If this queue can then start an operation of the worker's level, starts it on
    /// the worker, which moves to this queue.
    ///
    /// - Parameter event: Receives the worker's level; nil if the event must start no operation. Returns the slot of the
    ///   operation that it has started.
    private nonisolated func take(
        _ worker: Worker, from other: Scheduler, _ event: (inout SchedulerCore, PriorityLevel?) -> Int?
    ) {
        let level = sharesWorkers(with: other) ? worker.level : nil
        let step = withCore { core -> WorkerStep in
            let slot = event(&core, level)
            return level == nil ? .leave : start(worker, &core, first: slot)
        }
        if case .run(let started) = step { worker.move(to: self, running: started) }
    }

    /// Whether the tasks of both queues' workers have the same executor.
    ///
    /// A worker of a scope is a child of the task that opened the scope, and runs bodies of that scope only. A worker on
    /// the main actor would leave the actor between the start of an operation and its body, which code on the main actor
    /// could then no longer cancel before its start.
    private nonisolated func sharesWorkers(with other: Scheduler) -> Bool {
        if scopeWorkers != nil || other.scopeWorkers != nil { return false }
        switch (place, other.place) {
        case (.pool, .pool): return true
        case (.executor(let executor), .executor(let other)): return executor === other
        default: return false
        }
    }
}

// MARK: - Under the lock

extension SchedulerCore {
    /// Removes an ended operation from the queue. The caller retains the operation.
    ///
    /// - Parameter readied: Receives the operations of other queues that have become ready.
    fileprivate mutating func leave(
        _ operation: AnyTaskOperation, _ slot: Int, _ ending: borrowing OperationEnding, _ scheduler: Scheduler,
        _ readied: inout Scheduler.Readied
    ) {
        _ = state.end(slot)
        if ending.hasLinks { tellDependents(operation, ending, scheduler, &readied) }
        if !state.admission.producers.isEmpty { scheduler.admitProducers(&self) }
    }

    private mutating func tellDependents(
        _ operation: AnyTaskOperation, _ ending: borrowing OperationEnding, _ scheduler: Scheduler,
        _ readied: inout Scheduler.Readied
    ) {
        ending.forEachDependent { dependent in
            guard let ready = dependent.dependencyFinished(operation) else { return }
            if ready.scheduler === scheduler {
                // The operation is still ready and has not ended, because both changes need the lock of this queue.
                state.setReady(ready.slot, true)
            } else {
                readied.append((dependent, ready.scheduler))
            }
        }
    }
}

extension Scheduler {
    private nonisolated func next(
        _ worker: Worker, _ isSliceOver: Bool, _ core: inout SchedulerCore
    ) -> WorkerStep {
        if worker.isWorn { return .leave }
        if isSliceOver {
            // Operations that wait for the released limits may need the worker.
            if core.limits != nil { core.updateLimits(of: self) }
            return core.state.workerYields(at: worker.level) ? .yield : .leave
        }
        return start(worker, &core)
    }

    /// Starts the next operation on a worker if the operation has the worker's level.
    ///
    /// - Parameter first: The slot of an operation that the state has started; nil if there is none.
    private nonisolated func start(
        _ worker: Worker, _ core: inout SchedulerCore, first: Int? = nil
    ) -> WorkerStep {
        guard
            let slot = first
                ?? (core.limits == nil
                    ? core.state.nextStart(at: worker.level) : core.nextLimitedStart(at: worker.level, in: self))
        else { return .leave }
        let operation = core.state.rows[slot].element
        let level = core.state.begin(slot, on: worker)
        if level > worker.level { worker.isWorn = true }
        assert(operation.phase == .added, "an operation that has ended or started is still queued")
        operation.enter(.executing)
        return .run(
            StartedOperation(
                operation: operation, slot: slot,
                executor: core.state.rows[slot].hasExecutor && isInPool ? operation.executor : nil,
                escalation: level > worker.level ? level : nil))
    }
}
