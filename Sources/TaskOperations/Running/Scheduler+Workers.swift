extension Scheduler {
    /// What a worker does after an operation.
    enum Release: Sendable {
        /// It can run another one.
        case goesOn
        /// It can run another one after others had the thread.
        case yields
        case leaves
    }

    /// What a worker has to do, from one operation to the next.
    struct Turn: ~Copyable, Sendable {
        /// What executes on the worker; nil where nothing is left for it.
        var operation: AnyTaskOperation?
        fileprivate(set) var slot = 0
        /// How far the worker has looked at the queue's run.
        var position = ReadyRun.Position()
        /// What was taken from a run and could not start.
        fileprivate var refused: AnyTaskOperation?
        /// What the worker's task must be raised to, as something more urgent came to wait just now.
        fileprivate(set) var escalation: PriorityLevel?
        /// Where the operation wants to run; nil where that is the place of the queue.
        fileprivate(set) var executor: (any TaskExecutor)?
        /// Whether to yield, and then to begin again.
        var mustYield = false
        var slice: TimeSlice

        init(slice: TimeSlice) { self.slice = slice }
    }

    /// A worker's task runs, and gets something to start with where anything is left for it.
    func workerBegan(_ worker: Worker, _ turn: inout Turn) {
        apply { storage in
            storage.starting.add(-1, at: worker.level)
            storage.start(&turn, on: worker, place)
        }
    }

    /// The operation that executed, and was taken out of the turn, has ended, and made others ready. The worker gets the
    /// next one, or yields.
    ///
    /// The caller keeps the operation, and this what was refused: neither must be freed under the lock.
    func finish(_ turn: inout Turn, readied: Few<AnyTaskOperation>, by worker: Worker, _ release: Release) {
        let refused = turn.refused.take()
        apply { storage in
            if let refused {
                storage.refuseStart(of: refused, at: turn.slot)
            } else {
                storage.remove(at: turn.slot)
            }
            for dependent in readied { storage.updateReadiness(of: dependent) }
            turn.escalation = nil
            switch release {
            case .goesOn:
                storage.start(&turn, on: worker, place)
            case .yields:
                turn.mustYield = storage.state.nextLevel == worker.level
                if turn.mustYield { storage.starting.add(1, at: worker.level) }
            case .leaves:
                break
            }
        }
    }
}

extension Scheduler {
    /// Starts an operation that was taken from a run. Returns false where it turned out not to be ready any more, or to
    /// have ended: `finish` says so to the state.
    func start(_ operation: AnyTaskOperation, at slot: Int, _ turn: inout Turn, on worker: Worker) -> Bool {
        turn.slot = slot
        switch operation.start(on: worker.runner, level: worker.level) {
        case .executes(let escalation, let executor):
            turn.begin(operation, escalation, executor, place)
            return true
        case .mustWait, .hasEnded:
            turn.refused = operation
            return false
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

extension Scheduler.Storage {
    /// Takes back the permit of an operation that was taken from a run and could not start. What was said of it
    /// meanwhile was not heeded, as it counted as executing.
    fileprivate mutating func refuseStart(of operation: AnyTaskOperation, at slot: Int) {
        let standing = operation.standing
        if standing.hasEnded {
            state.end(slot)
        } else {
            state.refuseStart(slot)
            state.setReady(slot, standing.isReady)
        }
    }

    /// Starts what comes next on a worker, where it is of the worker's level.
    fileprivate mutating func start(_ turn: inout Scheduler.Turn, on worker: Worker, _ place: Scheduler.Place) {
        while let slot = state.nextStart(at: worker.level) {
            let operation = state.records[slot].element
            switch operation.start(on: worker.runner, level: worker.level) {
            case .executes(let escalation, let executor):
                turn.slot = slot
                turn.begin(operation, escalation, executor, place)
                return
            case .mustWait: state.refuseStart(slot)
            case .hasEnded: state.end(slot)
            }
        }
    }
}
