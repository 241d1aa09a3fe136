import Synchronization

/// The engine of a queue: it keeps a `SchedulerState` behind a lock and carries out what that decides.
///
/// It is entered from any thread without waiting, so that adding, cancelling and changing take effect before the
/// call returns. Nothing is carried out while the lock is held: an event collects `Effects`, which come after.
///
/// What is added goes into a mailbox, and whoever enters next takes it in first. So nobody sees a state without it,
/// and who adds enters only where nobody else is about to.
///
/// Lock order: the scheduler's lock may be held when an operation's is taken, never the other way round.
final class Scheduler: OperationHost {
    /// Where bodies run.
    enum Place: Sendable {
        case pool
        case executor(any TaskExecutor)
        case mainActor
    }

    struct Storage: Sendable {
        var state: SchedulerState<AnyTaskOperation>
        var run = ReadyRun.Notes()
        /// Workers of each level that were started and have not begun.
        var starting = LevelCounts()
        /// Tasks that wait for their operation's permit, by the operation's slot.
        var returns: [Int: CheckedContinuation<Void, Never>] = [:]
        /// Tasks that no longer have to wait for a permit, to be resumed next.
        var freed: [CheckedContinuation<Void, Never>] = []
        /// Tasks that wait until the queue is empty.
        var emptyWaiters: [CheckedContinuation<Void, Never>] = []
        /// Operations are cancelled as they are added.
        var cancelsAdded = false
        /// A scope is being left that waits for what is in the queue: nothing may hold that up for good.
        var isClosing = false
        /// Operations that came too late, to be ended next.
        var rejected: [AnyTaskOperation] = []
        /// The scheduler itself, as long as it has operations, which do not count it.
        var keptAlive: Scheduler?
        /// Who wants to know how many operations came and went.
        var observer: (any OperationCountObserver)?
        /// The queue that the user holds; nil when it is released.
        weak var owner: (any AnyObject & Sendable)?
    }

    // In front, away from the mailbox, which others write while workers look whether a run is open.
    let run = ReadyRun()
    let queueName: String?
    let place: Place
    let taskLocals: [CarriedTaskLocal]
    /// Who says when a worker lets others run; nil where time does.
    let sliceDecider: (any SliceDecidingExecutor)?
    let storage: Lock<Storage>
    let mailbox = Mailbox()
    /// `Storage.urgentLevel` as it was when the lock was left, for who adds.
    let urgentLevel: Atomic<UInt8>
    /// Set for good when a body awaits that the queue is empty.
    let isAwaitedByBodies = Atomic(false)
    /// Set for good when a barrier is added.
    let hasHadBarriers = Atomic(false)

    init(queueName: String?, width: Int, place: Place, isSuspended: Bool, taskLocals: [CarriedTaskLocal]) {
        self.queueName = queueName
        self.place = place
        self.taskLocals = taskLocals
        if case .executor(let executor as any SliceDecidingExecutor) = place {
            sliceDecider = executor
        } else {
            sliceDecider = nil
        }
        storage = Lock(Storage(state: SchedulerState(width: width, isSuspended: isSuspended)))
        urgentLevel = Atomic(Storage.everyLevel)
    }
}

// MARK: - Bodies

extension Scheduler {
    /// Whether bodies run right on the worker, with no more around them than the current operation.
    var runsPlainly: Bool { !runsOnMainActor && taskLocals.isEmpty }

    var handlerExecutor: (any TaskExecutor)? {
        if case .executor(let executor) = place { (executor as? any HandlerExecutor)?.handlerExecutor } else { nil }
    }

    private var runsOnMainActor: Bool {
        if case .mainActor = place { true } else { false }
    }

    /// Runs a body with what this queue puts around it.
    func run(_ operation: AnyTaskOperation) async -> Outcome? {
        await operation.runWithTaskLocals(onMainActor: runsOnMainActor)
    }
}

// MARK: - Effects

extension Scheduler {
    /// What an event has led to, for after the lock is left. An object, as there is seldom one.
    final class Effects: @unchecked Sendable {
        // One thread makes it and carries it out. That is also why accesses are not checked while running, which took a
        // tenth of the time from adding an operation to the start of its worker.

        /// The levels of workers to start.
        @exclusivity(unchecked) var workers = Few<PriorityLevel>()
        @exclusivity(unchecked) var resumed: [CheckedContinuation<Void, Never>] = []
        @exclusivity(unchecked) var rejected: [AnyTaskOperation] = []
        /// What the scheduler no longer keeps itself by, to be let go of.
        @exclusivity(unchecked) var released: Scheduler?
        @exclusivity(unchecked) var observation: Observation?
    }

    /// Applies an event and carries out what follows.
    func apply<Result: Sendable>(_ event: (inout Storage) -> Result) -> Result {
        let (result, effects) = enter(event)
        carryOut(effects)
        return result
    }

    /// Applies an event within a look at who waits for whom: what follows is carried out when that is over.
    func apply<Result: Sendable>(in graph: inout WaitGraph, _ event: (inout Storage) -> Result) -> Result {
        let (result, effects) = enter(event)
        if let effects { graph.postpone { self.carryOut(effects) } }
        return result
    }

    /// Applies an event, and returns what follows and has yet to be carried out.
    func enter<Result: Sendable>(_ event: (inout Storage) -> Result) -> (result: Result, effects: Effects?) {
        // Freed after the lock is left.
        var ended: [AnyTaskOperation] = []
        return storage.withLock { storage in
            closeRun(&storage, &ended)
            takeMail(into: &storage)
            let result = event(&storage)
            return (result, effects(of: &storage, &ended))
        }
    }

    func carryOut(_ effects: Effects?) {
        if let effects { carryOut(effects) }
    }

    // Not inlined: the room for all that it does would be made even where there is nothing to do.
    @inline(never)
    private func carryOut(_ effects: Effects) {
        effects.observation?.tell()
        for level in effects.workers { Worker.start(for: self, level: level) }
        for continuation in effects.resumed { continuation.resume() }
        for operation in effects.rejected { reject(operation) }
    }

    /// What follows from the state as it is now; nil, as nearly always, where nothing does.
    private func effects(of storage: inout Storage, _ ended: inout [AnyTaskOperation]) -> Effects? {
        var effects: Effects?
        repeat {
            if storage.keptAlive == nil, !storage.state.isEmpty { storage.keptAlive = self }
            if storage.hasEffects { storage.collect(into: &effects) }
            openRun(&storage)
        } while takeLateMail(into: &storage, &ended)
        return effects
    }

    private func takeMail(into storage: inout Storage) {
        mailbox.empty { storage.insert($0, isBarrier: false) }
    }

    /// Says what is urgent now, and takes in what was added before that was said. Returns whether anything was.
    ///
    /// Who adds looks at the level after the mailbox was filled, so the mailbox is looked at after the level was set:
    /// one of both sees the other.
    private func takeLateMail(into storage: inout Storage, _ ended: inout [AnyTaskOperation]) -> Bool {
        let level = storage.urgentLevel
        if urgentLevel.load(ordering: .relaxed) == level { return false }
        urgentLevel.store(level, ordering: .sequentiallyConsistent)
        if mailbox.isEmpty { return false }
        closeRun(&storage, &ended)
        takeMail(into: &storage)
        return true
    }
}

extension Array {
    /// Adds what another array has, and empties that.
    fileprivate mutating func append(emptying other: inout Self) {
        if other.isEmpty { return }
        self += other
        other = []
    }
}

extension Scheduler.Storage {
    static var everyLevel: UInt8 { 0 }
    static var noLevel: UInt8 { .max }

    fileprivate var hasEffects: Bool {
        let isIdle = state.isEmpty && (keptAlive != nil || !emptyWaiters.isEmpty)
        return isIdle || state.startableCount > 0 || !returns.isEmpty || !freed.isEmpty || !rejected.isEmpty
            || observer != nil
    }

    fileprivate mutating func collect(into collected: inout Scheduler.Effects?) {
        let effects = collected ?? Scheduler.Effects()
        collected = effects
        effects.observation = observer.map { Scheduler.Observation(observer: $0, counts: state.counts) }
        while let slot = state.nextReturn() { effects.resumed.append(returns.removeValue(forKey: slot)!) }
        if let level = state.nextLevel {
            let count = max(0, min(state.startableCount, processorCount) - starting[level])
            starting.add(count, at: level)
            for _ in 0..<count { effects.workers.append(level) }
        }
        effects.resumed.append(emptying: &freed)
        effects.rejected.append(emptying: &rejected)
        if state.isEmpty {
            effects.resumed.append(emptying: &emptyWaiters)
            effects.released = keptAlive.take()
        }
    }

    /// From which level on what is put into the mailbox has to be taken in at once, as nobody else is about to.
    ///
    /// Whoever executes does so afterwards, and a worker that was started does before; one of a higher level comes
    /// sooner.
    fileprivate var urgentLevel: UInt8 {
        if state.intake == .shut || cancelsAdded || observer != nil { return Self.everyLevel }
        let available = state.permits.available
        if let level = run.level { return level.rawValue + 1 }
        if available == 0 || state.isHalted { return Self.noLevel }
        if starting.count < min(available, processorCount) { return Self.everyLevel }
        return starting.highest!.rawValue + 1
    }

    /// The operation's slot; nil where the operation is not in the queue (any more).
    func slot(of operation: AnyTaskOperation) -> Int? {
        let slot = operation.standing.slot
        return holds(operation, at: slot) ? slot : nil
    }

    private func holds(_ operation: AnyTaskOperation, at slot: Int) -> Bool {
        state.records.holds(slot) && state.records[slot].element === operation
    }

    /// Removes an operation that has not started, and returns whether it was there. Where a worker has taken it
    /// meanwhile, that does so.
    mutating func removeUnstarted(_ operation: AnyTaskOperation) -> Bool {
        guard let slot = slot(of: operation) else { return false }
        switch state.records[slot].status {
        case .waiting, .ready:
            state.end(slot)
            return true
        case .executing, .lent, .returning:
            return false
        }
    }

    mutating func remove(at slot: Int) {
        if state.records[slot].status == .returning { freed.append(returns.removeValue(forKey: slot)!) }
        state.end(slot)
    }

    mutating func updateReadiness(of operation: AnyTaskOperation) {
        let standing = operation.standing
        if holds(operation, at: standing.slot) { state.setReady(standing.slot, standing.isReady) }
    }
}
