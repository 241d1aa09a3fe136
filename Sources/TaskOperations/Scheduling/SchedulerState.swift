/// All decisions of a queue, as a pure value without tasks, locks, clocks and continuations.
///
/// Each mutating function is one event. `computeEffects` decides on the effects of the events: workers to start, waiting
/// tasks to resume, operations to end, changes to report. A worker gets its next operation from `nextStart`.
///
/// This file is everything that a plain queue needs: a width, an order, priorities, suspension and cancellation. The rest is
/// in `SchedulerState+Barriers`, `+Policies`, `+Lending` and `+Changes`, and in `Acceptance`.
struct SchedulerState<Element: Sendable, Waiter: Sendable>: Sendable {
    typealias Slot = Int
    typealias Status = OperationStatus
    typealias Record = QueuedOperation<Element>

    let order: OperationOrder
    /// The largest number of workers that are worth starting at once.
    let workerLimit: Int

    /// The operations of the queue, by slot.
    var records = SlotMap<Record>()
    /// The number of operations that ever arrived.
    var arrivals: UInt64 = 0
    /// The number of operations in the queue that have started.
    private(set) var startedCount = 0
    /// Operations that have ended and stay until their completion handlers have been called, and operations that are dropped
    /// and stay until they have ended.
    var finishing: Set<Slot> = []

    var admission: Admission
    var permits: QueuePermits<Waiter>
    var acceptance: Acceptance<Element, Waiter>

    private(set) var isSuspended: Bool
    /// True once the owner of the queue is gone. Suspension and a width of 0 no longer apply.
    private(set) var isDraining = false
    /// The number of threads that are cancelling all operations. Nothing starts meanwhile: an operation that waits for a
    /// cancelled one must not start before it is cancelled itself.
    private(set) var startBlockers = 0

    /// The tasks that wait until the queue is empty.
    private var emptyWaiters = WaitingList<Waiter>()
    /// The workers of each level that were started and have not begun.
    private(set) var starting = PerLevel<Int32>(0)
    /// Whether the effects have said that the queue is empty and stays so.
    private var isOver = false
    var changes = ChangeList<Element>()
    var effects = Effects()

    init(
        width: Int, isSuspended: Bool = false, policies: QueuePolicies = QueuePolicies(), workerLimit: Int = .max
    ) {
        order = policies.order
        admission = Admission(policies)
        permits = QueuePermits(width: width)
        acceptance = Acceptance(limit: policies.queuedLimit, overflow: policies.overflow)
        self.isSuspended = isSuspended
        self.workerLimit = workerLimit
    }
}

// MARK: - Queries

extension SchedulerState {
    /// The number of operations that have not ended.
    var count: Int { records.count - finishing.count }

    /// Whether nothing is left, completion handlers included.
    var isEmpty: Bool { records.count == 0 }

    var unstartedCount: Int { records.count - startedCount }

    /// Whether no operation may start.
    var isHalted: Bool { isSuspended || startBlockers > 0 }

    /// The number of permits, and of those that are taken.
    var width: Permits { permits.width }

    func entry(_ slot: Slot) -> ReadyQueue.Entry { ReadyQueue.Entry(arrival: records[slot].arrival, slot: slot) }

    /// All operations that have not ended, in the order of arrival. Sorts the operations.
    var elements: [Element] { elements { _ in true } }

    func elements(where isIncluded: (Record) -> Bool) -> [Element] {
        let unfinished =
            finishing.isEmpty ? records.all : records.slots.filter { !finishing.contains($0) }.map { records[$0] }
        return unfinished.filter(isIncluded).sorted { $0.arrival < $1.arrival }.map(\.element)
    }
}

// MARK: - Arrival and end

extension SchedulerState {
    /// The slot that the next operation gets.
    var nextSlot: Slot { mutating get { records.nextSlot } }

    /// An operation arrives at the slot that `nextSlot` has just returned. `accepts` was called before.
    @inline(__always)
    mutating func insert(_ element: Element, _ newcomer: Newcomer, at slot: Slot) {
        arrivals += 1
        records.insert(Record(element, newcomer, arrival: arrivals), at: slot)
        let entry = ReadyQueue.Entry(arrival: arrivals, slot: slot)
        if newcomer.weight != 1 || admission.policies != nil { arriveWithPolicies(entry) }
        if newcomer.isBarrier || admission.barriers != nil { arriveBehindBarriers(entry, newcomer) }
        if newcomer.isReady { admission.insert(entry, at: newcomer.level, isBarrier: newcomer.isBarrier) }
        if changes.isObserved { reportArrival(element, isReady: newcomer.isReady) }
    }

    /// The dependencies of an operation that has not started are all finished now, or no longer.
    mutating func setReady(_ slot: Slot, _ isReady: Bool) {
        switch (records[slot].status, isReady) {
        case (.waiting, true):
            // It may be dropped.
            if !finishing.isEmpty, finishing.contains(slot) { return }
            makeReady(slot)
            if changes.isObserved { report(.ready, slot) }
        case (.ready, false):
            makeWait(slot)
        case (.waiting, false), (.ready, true), (.executing, _), (.lent, _), (.returning, _):
            break
        }
    }

    private mutating func makeReady(_ slot: Slot) {
        let (entry, level, isBarrier) = setStatus(slot, .ready)
        admission.insert(entry, at: level, isBarrier: isBarrier)
    }

    mutating func makeWait(_ slot: Slot) {
        let (entry, level, isBarrier) = setStatus(slot, .waiting)
        admission.remove(entry, at: level, isBarrier: isBarrier)
    }

    @inline(__always)
    private mutating func setStatus(
        _ slot: Slot, _ status: Status
    ) -> (entry: ReadyQueue.Entry, level: PriorityLevel, isBarrier: Bool) {
        records.update(slot) { record in
            record.status = status
            return (ReadyQueue.Entry(arrival: record.arrival, slot: slot), record.level, record.isBarrier)
        }
    }

    mutating func setLevel(_ slot: Slot, _ level: PriorityLevel) {
        let former = records[slot].level
        if former == level { return }
        let status = records[slot].status
        if admission.barriers != nil { levelWillChange(slot, to: level) }
        if status == .ready { makeWait(slot) }
        records[slot].level = level
        if status == .ready { makeReady(slot) }
        if admission.barriers != nil { levelChanged(slot) }
        if changes.isObserved { report(.levelChanged(level), slot) }
        switch status {
        case .waiting, .ready, .lent: break
        case .executing: permits.move(records[slot].weight, from: former, to: level)
        case .returning: permits.changeLevel(entry(slot), from: former, to: level)
        }
    }

    /// Marks an operation that started as finished. It stays in the queue, uncounted, until `end`, which is called after its
    /// completion handlers.
    mutating func markFinished(_ slot: Slot) {
        finishing.insert(slot)
        if changes.isObserved { report(.finished, slot) }
    }

    /// An operation has ended, whether it started or not. The caller keeps the element until the lock is released. Amortised
    /// constant time.
    mutating func end(_ slot: Slot) -> Element {
        let record = records.remove(at: slot)
        let entry = ReadyQueue.Entry(arrival: record.arrival, slot: slot)
        let wasFinished = !finishing.isEmpty && finishing.remove(slot) != nil
        let wasDropped = wasFinished && record.status == .waiting
        switch record.status {
        case .waiting: if wasDropped { acceptance.droppedCount -= 1 }
        case .ready: admission.remove(entry, at: record.level, isBarrier: record.isBarrier)
        case .executing, .lent, .returning: startedCount -= 1
        }
        if record.status == .executing { permits.giveBack(record.weight, at: record.level) }
        if record.status == .returning { effects.resumed.append(permits.cancelReturn(entry, at: record.level)) }
        if admission.barriers != nil { leaveBarriers(record) }
        if admission.policies != nil { leavePolicies(entry, record.status, wasDropped: wasDropped) }
        if changes.isObserved, !wasFinished || wasDropped { report(.finished, record.element, record.arrival) }
        if isEmpty, acceptance.intake == .closing, acceptance.producers.isEmpty { acceptance.setIntake(.shut) }
        return record.element
    }

    /// Ends an operation, as `end` does; the effects release the element.
    mutating func remove(_ slot: Slot) {
        effects.removed.append(end(slot))
    }
}

// MARK: - Starting

extension SchedulerState {
    /// The number of operations that could start now, one after the other, if each took one permit and no limits.
    @inline(__always)
    var startableCount: Int {
        if isHalted || permits.isAwaitedBack { return 0 }
        let count = min(admission.ready.count, permits.width.available)
        return admission.policies == nil ? count : admission.policies!.value.pace.startableCount(atMost: count)
    }

    /// The level of the next operation's task: its own level, or a higher one that all operations inherit.
    @inline(__always)
    var nextLevel: PriorityLevel? {
        if startableCount == 0 { return nil }
        return admission.policies == nil ? firstLevel : selection?.taskLevel
    }

    /// The level of the task of the first ready operation.
    @inline(__always)
    private var firstLevel: PriorityLevel? {
        guard let level = admission.ready.highestLevel else { return nil }
        return admission.barriers == nil ? level : max(level, floor(of: admission.ready.first!.entry.slot))
    }

    /// Starts the first ready operation: it has its permits from now on. Nil if no operation may start, or if the first one is
    /// not of the given level.
    ///
    /// - Parameter takeLimits: Takes a permit of each semaphore of a set, or gets in line for them and returns false. The
    ///   next operation is tried then.
    @inline(__always)
    mutating func nextStart(
        at level: PriorityLevel, takeLimits: (_ set: Int, PriorityLevel) -> Bool = { _, _ in true }
    ) -> Slot? {
        if admission.policies != nil { return startByPolicies(at: level, takeLimits) }
        guard startableCount > 0, firstLevel == level else { return nil }
        let ownLevel = admission.ready.highestLevel!
        let slot = admission.popFirst().slot
        start(slot, taking: 1, at: ownLevel)
        return slot
    }

    @inline(__always)
    mutating func start(_ slot: Slot, taking weight: Int, at level: PriorityLevel) {
        startedCount += 1
        records.update(slot) { $0.status = .executing }
        permits.take(weight, at: level)
    }

    /// An operation from `nextStart` has begun to execute.
    mutating func noteStart(_ slot: Slot) {
        if changes.isObserved { report(.started, slot) }
    }

    /// Takes back the permits that `nextStart` gave, because the operation has to wait after all.
    mutating func undoStart(_ slot: Slot) {
        startedCount -= 1
        records[slot].status = .waiting
        permits.giveBack(records[slot].weight, at: records[slot].level)
        if admission.policies != nil { undoStartByPolicies(slot) }
    }

    /// A worker that was started has begun.
    mutating func workerBegan(at level: PriorityLevel) {
        starting[level] -= 1
    }

    /// A worker could yield to others. Returns whether it is needed afterwards.
    mutating func workerYields(at level: PriorityLevel) -> Bool {
        guard nextLevel == level else { return false }
        starting[level] += 1
        return true
    }
}

// MARK: - Control

extension SchedulerState {
    mutating func setWidth(_ width: Int) {
        permits.setWidth(isDraining ? max(1, width) : width)
    }

    mutating func setSuspended(_ isSuspended: Bool) {
        self.isSuspended = isSuspended && !isDraining
    }

    /// Nothing holds the queue up from now on: it is resumed, has a width of at least 1, and stays so.
    mutating func drain() {
        isDraining = true
        setSuspended(false)
        setWidth(width.capacity)
        permits.openLevels()
    }

    /// Nothing starts until `unblockStarts`, which has to be called as often.
    mutating func blockStarts() { startBlockers += 1 }

    mutating func unblockStarts() { startBlockers -= 1 }

    /// A task waits until the queue is empty.
    ///
    /// - Parameter number: A number for the wait, which no other has.
    mutating func waitUntilEmpty(_ waiter: Waiter, number: Int) {
        emptyWaiters.append(waiter, number: number)
    }

    /// Ends a wait until the queue is empty. Returns false if the wait is over already, or has not begun.
    mutating func stopWaitingUntilEmpty(_ number: Int) -> Bool {
        guard let waiter = emptyWaiters.remove(number) else { return false }
        effects.resumed.append(waiter)
        return true
    }
}

// MARK: - Effects

extension SchedulerState {
    /// The effects of events, which are performed after the lock of the scheduler is released.
    struct Effects: Sendable {
        /// The levels of workers to start.
        var workers = TinyArray<PriorityLevel>()
        /// Waiting tasks to resume.
        var resumed: [Waiter] = []
        /// Operations that end without having been started, and why.
        var rejected: [Rejection] = []
        /// Operations that have left the queue, to release.
        var removed: [Element] = []
        /// Operations whose floor may have changed.
        var floorChanges: [Element] = []
        /// The reading of the queue's clock at which to wake the queue.
        var wakeTime: Duration?
        /// Whether the queue is empty and stays so.
        var isOver = false
        /// Whether there are changes of operations to report.
        var hasChanges = false

        var isEmpty: Bool {
            workers.isEmpty && resumed.isEmpty && rejected.isEmpty && removed.isEmpty && floorChanges.isEmpty
                && !hasChanges && !isOver && wakeTime == nil
        }

        mutating func takeFloorChanges() -> [Element] {
            defer { floorChanges = [] }
            return floorChanges
        }
    }

    /// An operation that is to be ended.
    struct Rejection: Sendable {
        enum Reason: Hashable, Sendable {
            /// It came after the queue was shut down.
            case shutDown
            /// It came while everything was being cancelled.
            case cancelled
            /// There was no room for it.
            case full
            /// It was dropped for a newer one.
            case dropped
        }

        let element: Element
        let reason: Reason
    }

    /// Decides on the effects of the events since the last call: the operations that get their permits back, the workers to
    /// start and their levels, the waiting tasks to resume.
    ///
    /// - Parameter returned: Called with each operation that has got its permits.
    mutating func computeEffects(returned: (Element) -> Void = { _ in }) {
        if permits.hasReturns { while let slot = nextReturn() { returned(records[slot].element) } }
        if admission.policies == nil {
            let count = startableCount
            if count > 0, let level = firstLevel { startWorkers(for: count, at: level) }
        } else {
            computeEffectsOfPolicies()
        }
        if !isEmpty { return }
        if !acceptance.intake.accepts, !isOver {
            isOver = true
            effects.isOver = true
        }
        if !emptyWaiters.isEmpty { effects.resumed += emptyWaiters.removeAll() }
    }

    @inline(__always)
    mutating func startWorkers(for operationCount: Int, at level: PriorityLevel) {
        let count = max(0, min(operationCount, workerLimit) - Int(starting[level]))
        if count == 0 { return }
        starting[level] += Int32(count)
        for _ in 0..<count { effects.workers.append(level) }
    }

    /// Returns the effects of the events since the last call.
    mutating func takeEffects() -> Effects {
        var taken = Effects()
        swap(&taken, &effects)
        return taken
    }
}
