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
        fileprivate var slot = 0
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
    /// The caller keeps the operation: if this freed it, its outcome would be freed under the lock.
    func finish(_ turn: inout Turn, readied: Few<AnyTaskOperation>, by worker: Worker, _ release: Release) {
        apply { storage in
            storage.remove(at: turn.slot)
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

extension Scheduler.Storage {
    /// Starts what comes next on a worker, where it is of the worker's level.
    fileprivate mutating func start(_ turn: inout Scheduler.Turn, on worker: Worker, _ place: Scheduler.Place) {
        while let slot = state.nextStart(at: worker.level) {
            let operation = state.records[slot].element
            switch operation.start(on: worker.runner, level: worker.level) {
            case .executes(let escalation, let executor):
                turn.operation = operation
                turn.slot = slot
                turn.escalation = escalation
                turn.executor = if case .pool = place { executor } else { nil }
                return
            case .mustWait: state.refuseStart(slot)
            case .hasEnded: state.end(slot)
            }
        }
    }
}
