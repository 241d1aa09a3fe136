extension Scheduler {
    /// What a worker has to do, from one operation to the next.
    struct Turn: ~Copyable, Sendable {
        let worker: Worker
        /// What executes on the worker; nil if nothing is left for it.
        fileprivate(set) var operation: AnyTaskOperation?
        fileprivate(set) var slot = 0
        /// How far the worker has looked at the queue's run.
        fileprivate var position = ReadyRing.Position()
        /// The offer of a run that the worker took under the lock of the scheduler.
        fileprivate var taken: ReadyRing.Taken?
        /// What was taken from a run and could not start.
        fileprivate var refused: AnyTaskOperation?
        /// What executed, and is to end.
        fileprivate var ended: AnyTaskOperation?
        /// What came of the operation that executed.
        fileprivate var outcome: Outcome?
        /// What the end of that operation has led to, for after the scheduler is left.
        fileprivate var ending: OperationEnding?
        /// Operations of other queues that it has made ready.
        fileprivate var readiedElsewhere: [(operation: AnyTaskOperation, host: any OperationHost)] = []
        /// What the worker's task must be raised to, as something more urgent came to wait just now.
        fileprivate(set) var escalation: PriorityLevel?
        /// Where the operation wants to run; nil if that is the place of the queue.
        fileprivate(set) var executor: (any TaskExecutor)?
        /// Whether to yield, and then to begin again.
        fileprivate(set) var mustYield = false
        /// Whether the worker must run no other operation.
        fileprivate var mustLeave = false
        var slice: TimeSlice

        init(on worker: Worker, slice: TimeSlice) {
            self.worker = worker
            self.slice = slice
        }
    }
}

// MARK: - What workers call

extension Scheduler {
    /// A worker's task runs, and gets something to start with if anything is left for it.
    nonisolated func workerBegan(_ turn: inout Turn) {
        turn.mustYield = false
        apply(to: &turn) { scheduler, turn in
            scheduler.state.workerBegan(at: turn.worker.level)
            turn.escalation = nil
            scheduler.startNext(&turn)
        }
    }

    /// The body of the turn's operation is done. Ends the operation, and gives the worker the next one, or has it yield or
    /// leave.
    ///
    /// An operation ends in one step with its leaving the queue, so that nobody finds it finished and still counted, or the
    /// other way round.
    nonisolated func conclude(_ turn: inout Turn, _ outcome: Outcome?) {
        turn.mustYield = turn.slice.isOver()
        if !turn.mustYield, let taken = takeNext(&turn, outcome) { return goOn(with: taken, &turn) }
        turn.outcome = outcome
        applyEnd(to: &turn, unless: { scheduler, turn in scheduler.takesNext(&turn) }) { scheduler, turn in
            turn.ended = turn.operation.take()
            scheduler.end(&turn)
        }
        if let taken = turn.taken.take() { return goOn(with: taken, &turn) }
        if let ending = turn.ending.take() { carryOut(ending, &turn) }
        // Not freed while the scheduler is entered.
        turn.ended = nil
    }

    /// Ends the operation that executed if it has no links, and takes the next one from the run in its place. Nil if it
    /// has, or if nothing is left of the run: then nothing has happened.
    nonisolated func takeNext(_ turn: inout Turn, _ outcome: Outcome?) -> ReadyRing.Taken? {
        let level = turn.worker.level
        // Often there is no run, and then the operation need not be locked.
        if !run.isOpen(at: level) { return nil }
        return turn.operation!.record.withLock { record in
            if record.links != nil || record.isRunnerWorn { return nil }
            let taken = run.take(inPlaceOf: turn.slot, level: level, from: &turn.position)
            if taken != nil { _ = record.end(outcome) }
            return taken
        }
    }

    /// A worker goes on with an operation that it has taken from a run.
    private nonisolated func goOn(with taken: ReadyRing.Taken, _ turn: inout Turn) {
        turn.outcome = nil
        if taken.isHalfway { prolongRun() }
        if !start(taken, &turn) { giveUp(&turn) }
    }

    /// Starts an operation that was taken from a run. Returns false if it turned out not to be ready any more, or to have
    /// ended: `giveUp` says so to the state.
    nonisolated func start(_ taken: ReadyRing.Taken, _ turn: inout Turn) -> Bool {
        turn.operation = nil
        turn.slot = taken.slot
        switch taken.operation.start(on: turn.worker.runner, level: turn.worker.level) {
        case .executes(let escalation, let executor):
            turn.begin(taken.operation, escalation, executor, place)
            return true
        case .mustWait, .hasEnded:
            turn.refused = taken.operation
            return false
        }
    }

    /// Gives up what was taken from a run and could not start, and gives the worker the next one.
    nonisolated func giveUp(_ turn: inout Turn) {
        turn.mustYield = false
        apply(to: &turn) { scheduler, turn in
            scheduler.refuseStart(of: turn.refused!, at: turn.slot)
            scheduler.next(&turn)
        }
        turn.refused = nil
    }

    /// What is left to do for an operation that has links and has ended.
    private nonisolated func carryOut(_ ending: OperationEnding, _ turn: inout Turn) {
        if ending.hasHandlers {
            ending.callHandlers(turn.ended!)
            turn.ending = ending
            applyEnd(to: &turn) { scheduler, turn in scheduler.leave(turn.ending!, &turn) }
            turn.ending = nil
        }
        ending.resumeWaiters()
    }

    /// Enters for the end of an operation. Other queues learn of what it has made ready before anything that waits for this
    /// one to be empty goes on.
    @inline(__always)
    private nonisolated func applyEnd(
        to turn: inout Turn, unless isSpared: @escaping (isolated Scheduler, inout Turn) -> Bool = { _, _ in false },
        _ event: @escaping (isolated Scheduler, inout Turn) -> Void
    ) {
        var departure = Departure()
        if enter(with: &turn, &departure, unless: isSpared, event) == nil { return }
        if !turn.readiedElsewhere.isEmpty {
            for (dependent, host) in turn.readiedElsewhere { host.readinessChanged(of: dependent) }
            turn.readiedElsewhere = []
        }
        if departure.outbox != nil { carryOut(departure.outbox!) }
    }
}

// MARK: - Within the scheduler

extension Scheduler {
    /// Takes the next operation from a run that another worker has opened or prolonged, while this one waited to enter. It
    /// would close the run again otherwise, which the other would do then in its turn: so both would enter, and wait for
    /// each other, for every operation.
    private func takesNext(_ turn: inout Turn) -> Bool {
        if turn.mustYield || runNotes.level == nil { return false }
        turn.taken = takeNext(&turn, turn.outcome)
        return turn.taken != nil
    }

    /// Ends the operation that executed. It leaves the queue at once, or, if it has completion handlers, once these have
    /// been called.
    private func end(_ turn: inout Turn) {
        let ending = turn.ended!.end(turn.outcome.take())
        if ending.isRunnerWorn { turn.mustLeave = true }
        if ending.hasHandlers {
            state.beginEnding(turn.slot)
        } else {
            leave(ending, &turn)
        }
        if ending.hasLinks { turn.ending = ending }
    }

    /// An operation that has ended leaves the queue, and the worker gets what comes next.
    private func leave(_ ending: borrowing OperationEnding, _ turn: inout Turn) {
        // The worker keeps it.
        _ = state.end(turn.slot)
        if limits.isInUse { updateLimits() }
        if ending.hasLinks { tellDependents(ending, &turn) }
        admitProducers()
        next(&turn)
    }

    private func tellDependents(_ ending: borrowing OperationEnding, _ turn: inout Turn) {
        let ended = turn.ended!
        ending.forEachDependent { dependent in
            switch dependent.dependencyFinished(ended, calledBy: self) {
            // It is ready, and not ended: that takes the scheduler, which is entered.
            case .inCaller(let slot): state.setReady(slot, true)
            case .elsewhere(let host): turn.readiedElsewhere.append((dependent, host))
            case nil: break
            }
        }
    }

    /// Takes back the permits of an operation that was taken from a run and could not start. What was said of it
    /// meanwhile was not heeded, as it counted as executing.
    private func refuseStart(of operation: AnyTaskOperation, at slot: Int) {
        let snapshot = operation.snapshot
        if snapshot.hasEnded {
            state.remove(slot)
        } else {
            state.refuseStart(slot)
            state.setReady(slot, snapshot.isReady)
        }
    }

    /// The worker starts what comes next, or yields, or leaves.
    private func next(_ turn: inout Turn) {
        turn.escalation = nil
        if turn.mustLeave {
            turn.mustYield = false
        } else if turn.mustYield {
            turn.mustYield = state.workerYields(at: turn.worker.level)
        } else {
            startNext(&turn)
        }
    }

    @inline(__always)
    private func nextStart(at level: PriorityLevel) -> Int? {
        limits.isInUse ? nextLimitedStart(at: level) : state.nextStart(at: level)
    }

    /// Starts what comes next on a worker, if it is of the worker's level.
    private func startNext(_ turn: inout Turn) {
        let (runner, level) = (turn.worker.runner, turn.worker.level)
        while let slot = nextStart(at: level) {
            let operation = state.records[slot].element
            switch operation.start(on: runner, level: level) {
            case .executes(let escalation, let executor):
                state.noteStart(slot)
                turn.slot = slot
                turn.begin(operation, escalation, executor, place)
                return
            case .mustWait: state.refuseStart(slot)
            case .hasEnded:
                // What it took goes back: it never started.
                state.refuseStart(slot)
                state.remove(slot)
            }
        }
    }
}

extension Scheduler.Turn {
    fileprivate mutating func begin(
        _ operation: AnyTaskOperation, _ escalation: PriorityLevel?, _ executor: (any TaskExecutor)?,
        _ place: Scheduler.Place
    ) {
        self.operation = operation
        self.escalation = escalation
        self.executor = if case .pool = place { executor } else { nil }
    }
}
