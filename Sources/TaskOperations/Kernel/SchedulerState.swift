/// Makes all decisions of a queue. It is a pure value without tasks, locks, clocks or continuations.
///
/// Each mutating function is one event. `computeEffects` then decides which workers start and which waiting tasks
/// resume. A worker takes its next operation from `nextStart`.
///
/// This file implements a plain queue with a width, an order, priorities, suspension and cancellation, and the effects
/// of an event. `nextStart` takes the next ready operation from `Selection`, which keeps their order in a `ReadyQueue`;
/// `Admission` decides whether the queue takes an operation, and `QueuePermits` counts the width. Barriers, other
/// policies and events are extensions in the folder `Policies`.
struct SchedulerState<Element: QueueElement, Waiter: Sendable>: Sendable {
    typealias Slot = Int
    typealias Status = OperationStatus
    typealias Row = QueuedOperation<Element>

    /// The maximum number of workers that were requested at one level and have not begun to run.
    let workerLimit: Int

    /// The operations of the queue, by slot.
    var rows = SlotMap<Row>()
    /// The last arrival.
    var arrivals: UInt64 = 0
    /// The number of arrivals of operations that had arrived before, because the delay of a barrier ended.
    var moveCount: UInt64 = 0
    /// The number of operations in the queue that have started.
    private(set) var startedCount = 0
    /// The ended operations whose completion handlers have not been called, and the dropped operations that have not
    /// ended.
    var finishing: Set<Slot> = []

    var selection: Selection
    var permits: QueuePermits<Waiter>
    var admission: Admission<Element, Waiter>

    let order: TaskOperationQueue.Configuration.Order
    private(set) var isSuspended: Bool
    /// True after the owner of the queue was released. The queue then ignores suspension and a width of 0.
    private(set) var isDraining = false
    /// Whether the effects have reported that the queue is empty and accepts no operations.
    var isOver = false
    /// The number of threads that are cancelling all operations. No operation starts in the meantime. Otherwise, a
    /// dependent of a cancelled operation could start before its own cancellation.
    private(set) var startBlockers = 0

    var emptyWaiters = WaitingList<Waiter>()
    /// The number of workers that were requested at each level and have not begun to run.
    var starting = PerLevel<Int32>(0)
    var changes = ChangeList<Element>()
    var effects = Effects()

    init(_ configuration: borrowing TaskOperationQueue.Configuration, workerLimit: Int = .max) {
        order = configuration.order
        selection = Selection(configuration)
        permits = QueuePermits(width: configuration.maxConcurrentOperationCount)
        admission = Admission(queuedLimit: configuration.maxQueuedOperationCount, overflow: configuration.overflow)
        isSuspended = configuration.isSuspended
        self.workerLimit = workerLimit
    }
}

// MARK: - Queries

extension SchedulerState {
    /// The number of operations that have not ended.
    var count: Int { rows.count - finishing.count }

    /// Whether all operations have left the queue, and all their completion handlers have been called.
    var isEmpty: Bool { rows.count == 0 }

    /// Whether a suspension or a cancellation of all operations prevents every start.
    var isHalted: Bool { isSuspended || startBlockers > 0 }

    /// The permits of the queue and their use.
    var width: Permits { permits.width }

    func entry(_ slot: Slot) -> ReadyQueue.Entry { ReadyQueue.Entry(arrival: rows[slot].arrival, slot: slot) }

    /// All operations that have not ended, in the order of arrival. Sorts the operations.
    var elements: [Element] {
        let unfinished =
            finishing.isEmpty ? rows.all : rows.slots.filter { !finishing.contains($0) }.map { rows[$0] }
        return unfinished.sorted { $0.arrival < $1.arrival }.map(\.element)
    }
}

// MARK: - Arrival and end

extension SchedulerState {
    /// The slot for the next operation.
    var nextSlot: Slot { mutating get { rows.nextSlot } }

    /// Adds an operation at the slot that `nextSlot` has just returned.
    @inline(__always)
    mutating func insert(_ element: Element, _ newcomer: Newcomer, at slot: Slot, ticks: UInt64 = 0) {
        arrivals += 1
        rows.insert(Row(element, newcomer, arrival: arrivals), at: slot)
        let entry = ReadyQueue.Entry(arrival: arrivals, slot: slot)
        if newcomer.weight != 1 || selection.hasPolicies { arriveWithPolicies(entry) }
        if newcomer.isBarrier || selection.hasBarriers { arriveBehindBarriers(entry, newcomer) }
        if newcomer.isReady { selection.insert(entry, at: newcomer.level, isBarrier: newcomer.isBarrier) }
        if changes.isOn { reportArrival(element, newcomer, at: ticks) }
    }

    /// Records whether all dependencies of an unstarted operation are finished.
    mutating func setReady(_ slot: Slot, _ isReady: Bool) {
        switch (rows[slot].status, isReady) {
        case (.waiting, true):
            // A dropped operation does not become ready. A barrier first takes its place in the line.
            if !finishing.isEmpty, finishing.contains(slot) { return }
            if selection.hasBarriers, isOutsideLine(slot) { return }
            makeReady(slot)
            if changes.isOn { report(.ready, slot) }
        case (.ready, false):
            makeWait(slot)
        case (.waiting, false), (.ready, true), (.executing, _), (.lent, _), (.returning, _):
            break
        }
    }

    private mutating func makeReady(_ slot: Slot) {
        let (entry, level, isBarrier) = setStatus(slot, .ready)
        selection.insert(entry, at: level, isBarrier: isBarrier)
    }

    mutating func makeWait(_ slot: Slot) {
        let (entry, level, isBarrier) = setStatus(slot, .waiting)
        selection.remove(entry, at: level, isBarrier: isBarrier)
    }

    @inline(__always)
    private mutating func setStatus(
        _ slot: Slot, _ status: Status
    ) -> (entry: ReadyQueue.Entry, level: PriorityLevel, isBarrier: Bool) {
        rows.update(slot) { row in
            row.status = status
            return (ReadyQueue.Entry(arrival: row.arrival, slot: slot), row.level, row.isBarrier)
        }
    }

    mutating func setLevel(_ slot: Slot, _ level: PriorityLevel) {
        let (former, status) = rows.read(slot) { ($0.level, $0.status) }
        if former == level { return }
        if selection.hasBarriers { levelWillChange(slot, to: level) }
        if status == .ready { makeWait(slot) }
        rows[slot].level = level
        if status == .ready { makeReady(slot) }
        if selection.hasBarriers { levelChanged(slot) }
        if changes.isOn { report(.levelChanged(level), slot) }
        switch status {
        case .waiting, .ready, .lent: break
        case .executing: permits.move(rows[slot].weight, from: former, to: level)
        case .returning: permits.changeLevel(entry(slot), from: former, to: level)
        }
    }

    /// Marks a started operation as finished. `count` no longer includes the operation. The operation stays in the
    /// queue until `end`, which is called after the completion handlers.
    mutating func markFinished(_ slot: Slot) {
        finishing.insert(slot)
        if changes.isOn { report(.finished, slot) }
    }

    /// Removes an operation that has ended, even if it never started. The caller keeps the returned element until the
    /// lock is released. Takes amortised constant time.
    mutating func end(_ slot: Slot) -> Element {
        let row = rows.remove(at: slot)
        let number = selection.optionalBarriers?.value.numbers[slot] ?? row.arrival
        let entry = ReadyQueue.Entry(arrival: row.arrival, slot: slot)
        let wasFinished = !finishing.isEmpty && finishing.remove(slot) != nil
        let wasDropped = wasFinished && row.status == .waiting
        switch row.status {
        case .waiting: if wasDropped { admission.droppedCount -= 1 }
        case .ready: selection.remove(entry, at: row.level, isBarrier: row.isBarrier)
        case .executing, .lent, .returning: startedCount -= 1
        }
        if row.status == .executing { permits.giveBack(row.weight, at: row.level) }
        if row.status == .returning { effects.resumed.append(permits.cancelReturn(entry, at: row.level)) }
        if selection.hasBarriers { leaveBarriers(row, slot) }
        if selection.hasPolicies { leavePolicies(slot, number, row.status, wasDropped: wasDropped) }
        if changes.isOn, !wasFinished || wasDropped { report(.finished, row.element, number) }
        return row.element
    }

    /// Removes an operation as `end` does. The effects release the element.
    mutating func remove(_ slot: Slot) {
        effects.removed.append(end(slot))
    }
}

// MARK: - Starting

extension SchedulerState {
    /// The number of operations that could start now if each took one permit and no limits.
    @inline(__always)
    var startableCount: Int {
        if isHalted || permits.isAwaitedBack { return 0 }
        if !selection.hasPolicies { return min(selection.ready.count, permits.width.available) }
        return selection.policies.pace.startableCount(atMost: min(selection.unparkedCount, permits.width.available))
    }

    /// The level of the task for the next operation; nil if no operation may start. It is the higher one of the
    /// operation's level and its floor.
    @inline(__always)
    var nextLevel: PriorityLevel? {
        mutating get {
            if startableCount == 0 { return nil }
            return !selection.hasPolicies ? firstLevel : candidate?.taskLevel
        }
    }

    /// The level of the task for the first ready operation.
    @inline(__always)
    var firstLevel: PriorityLevel? {
        guard let level = selection.ready.highestLevel else { return nil }
        // Does not call `floor(of:)`, because a call of a method would copy the state (1 KB) at each event without
        // policies.
        guard let barriers = selection.optionalBarriers else { return level }
        let slot = selection.ready.first!.entry.slot
        return max(level, barriers.value.floor(of: rows[slot], at: slot))
    }

    /// Starts the next operation, which takes its permits. Returns nil if no operation may start, or if the task of the
    /// next operation needs another level.
    ///
    /// - Parameter takeLimits: Takes the permits of each semaphore of a set. If a semaphore has too few permits, waits
    ///   in its line. The next operation is then tried.
    @inline(__always)
    mutating func nextStart(at level: PriorityLevel, takeLimits: TakeLimits = { _, _ in .taken }) -> Slot? {
        if selection.hasPolicies { return startByPolicies(at: level, takeLimits) }
        guard startableCount > 0, firstLevel == level else { return nil }
        let ownLevel = selection.ready.highestLevel!
        let slot = selection.ready.popFirst(of: ownLevel).slot
        start(slot, taking: 1, at: ownLevel)
        return slot
    }

    @inline(__always)
    mutating func start(_ slot: Slot, taking weight: Int, at level: PriorityLevel) {
        startedCount += 1
        rows.update(slot) { $0.status = .executing }
        permits.take(weight, at: level)
    }

    /// Records that a worker runs the body of the operation that `nextStart` returned. Returns the level that the body's
    /// task needs: the operation's level, or its floor if that is higher.
    @inline(__always)
    @discardableResult
    mutating func begin(_ slot: Slot, on worker: Worker) -> PriorityLevel {
        if changes.isOn {
            report(.started, slot)
            if let recording = changes.recording { worker.beginTicks = recording.ticks }
        }
        let level = rows.update(slot) { row in
            row.runningWorker = .passUnretained(worker)
            return row.level
        }
        return selection.hasBarriers ? max(level, floor(of: slot)) : level
    }

    /// Records that a requested worker has begun to run.
    mutating func workerBegan(at level: PriorityLevel) {
        starting[level] -= 1
    }

    /// Decides whether a worker yields its thread and continues later. Returns false if the queue needs no worker of
    /// this level.
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
        changes.recording?.append(.width, value: UInt64(self.width.capacity))
    }

    mutating func setSuspended(_ isSuspended: Bool) {
        self.isSuspended = isSuspended && !isDraining
        let kind: ChangeRecord.Kind = self.isSuspended ? .suspended : .resumed
        if let recording = changes.recording { recording.append(kind, value: recording.ticks) }
    }

    /// Lets all operations finish. Resumes the queue permanently, and keeps its width at 1 or more.
    mutating func drain() {
        isDraining = true
        setSuspended(false)
        setWidth(width.capacity)
        permits.openLevels()
    }

    /// Blocks all starts until `unblockStarts` was called the same number of times.
    mutating func blockStarts() { startBlockers += 1 }

    mutating func unblockStarts() { startBlockers -= 1 }

    /// Records that a task waits until the queue is empty.
    ///
    /// - Parameter number: The unique number of the wait.
    mutating func waitUntilEmpty(_ waiter: Waiter, number: Int) {
        emptyWaiters.append(waiter, number: number)
    }

    /// Ends a wait until the queue is empty. Returns false if the wait is already over or has not begun.
    mutating func stopWaitingUntilEmpty(_ number: Int) -> Bool {
        guard let waiter = emptyWaiters.remove(number) else { return false }
        effects.resumed.append(waiter)
        return true
    }
}

// Decides on the effects of each event: workers to start, tasks to resume, operations to end.

extension SchedulerState {
    /// The effects of events. They are performed after the scheduler's lock is released.
    struct Effects: Sendable {
        /// The levels of workers to start.
        var workers = TinyArray<PriorityLevel>()
        /// Waiting tasks to resume.
        var resumed: [Waiter] = []
        /// Operations that must be ended without a start, with the reasons.
        var rejected: [Rejection] = []
        /// Operations that have left the queue and must be released.
        var removed: [Element] = []
        /// Operations whose floor may have changed.
        var floorChanges: [Element] = []
        /// The wake that the queue's clock must plan.
        var wake: QueueTime.Wake?
        /// Whether the queue is empty and accepts no operations.
        var isOver = false
        /// Whether there are changes of operations to report.
        var hasChanges = false

        var isEmpty: Bool {
            workers.isEmpty && resumed.isEmpty && rejected.isEmpty && removed.isEmpty && floorChanges.isEmpty
                && !hasChanges && !isOver && wake == nil
        }

        mutating func takeFloorChanges() -> [Element] {
            defer { floorChanges = [] }
            return floorChanges
        }
    }

    /// An operation that must be ended without a start, and the reason.
    struct Rejection: Sendable {
        enum Reason: Hashable, Sendable {
            /// The operation was added after the queue was shut down.
            case shutDown
            /// The operation was added to a queue that cancels all operations.
            case cancelled
            /// The queue had no room for the operation.
            case full
            /// The operation was dropped to make room for a newer one.
            case dropped
            /// A timeout of the operation passed before the operation was added.
            case late
        }

        let element: Element
        let reason: Reason
    }

    /// Decides which operations take their permits back, which workers start, and which waiting tasks continue. Shuts a
    /// closing queue that is empty.
    ///
    /// - Parameter returned: Called with each operation that has its permits back.
    mutating func computeEffects(returned: (Element) -> Void = { _ in }) {
        if permits.hasReturns { while let slot = nextReturn() { returned(rows[slot].element) } }
        if !selection.hasPolicies {
            let count = startableCount
            if count > 0, let level = firstLevel { startWorkers(for: count, at: level) }
        } else {
            computeEffectsOfPolicies()
        }
        if !isEmpty { return }
        shutIfEmpty()
        if !admission.state.accepts, !isOver {
            isOver = true
            effects.isOver = true
        }
        if !emptyWaiters.isEmpty { effects.resumed += emptyWaiters.removeAll() }
    }

    /// The highest level at which no number of added operations would have effects; nil if there is no such level.
    /// Always nil if an arrival has effects of its own, for example because a barrier or the time of the arrival counts.
    var levelForInbox: PriorityLevel? {
        mutating get {
            if isEmpty || selection.hasBarriers || changes.isObserved { return nil }
            if admission.isBounded || !admission.state.accepts { return nil }
            if selection.optionalPolicies?.value.pace.hasRate == true { return nil }
            if isHalted || permits.isAwaitedBack || permits.width.available == 0 { return .userInteractive }
            guard !selection.hasPolicies, let level = selection.ready.highestLevel else { return nil }
            return starting[level] >= min(permits.width.available, workerLimit) ? level : nil
        }
    }

    @inline(__always)
    mutating func startWorkers(for operationCount: Int, at level: PriorityLevel) {
        let count = max(0, min(operationCount, workerLimit) - Int(starting[level]))
        if count == 0 { return }
        starting[level] += Int32(count)
        for _ in 0..<count { effects.workers.append(level) }
    }

    /// Removes and returns the effects of the events since the last call.
    mutating func takeEffects() -> Effects {
        var taken = Effects()
        swap(&taken, &effects)
        return taken
    }
}

/// An element of a queue. Queues contain operations, and tests of their state contain simpler values.
protocol QueueElement: Sendable {
    /// A number that identifies the element while it exists.
    var recordedIdentity: UInt64 { get }
    /// How the element ended; `withdrawn` if it has not.
    var recordedEnd: ChangeRecord.End { get }
}

/// The data about an operation that its queue needs for decisions.
struct QueuedOperation<Element: Sendable>: Sendable {
    let element: Element
    /// The place of the operation among the operations of the queue. Changes only if the delay of a barrier ends.
    var arrival: UInt64
    /// The worker that runs the body; nil before the start. The reference is not counted. This is safe, because a worker
    /// exists until all its bodies have returned, and the row leaves the queue before. A copy of the state must not use it.
    fileprivate(set) var runningWorker: Unmanaged<Worker>?
    private let shortWeight: UInt16
    var level: PriorityLevel
    var status: OperationStatus
    let isBarrier: Bool
    /// Whether the operation has an executor of its own.
    let hasExecutor: Bool

    init(_ element: Element, _ newcomer: Newcomer, arrival: UInt64) {
        self.element = element
        self.arrival = arrival
        shortWeight = UInt16(newcomer.weight)
        isBarrier = newcomer.isBarrier
        hasExecutor = newcomer.hasExecutor
        level = newcomer.level
        status = newcomer.isReady ? .ready : .waiting
    }

    /// The number of permits that the operation takes.
    var weight: Int { Int(shortWeight) }

    /// The worker that runs the body; nil before the start.
    var worker: Worker? { runningWorker?.takeUnretainedValue() }
}

/// The state of an operation in a queue.
package enum OperationStatus: Hashable, Sendable {
    /// A dependency is unfinished, or the operation's delay has not passed.
    case waiting
    /// All dependencies have finished. A barrier may still hold the operation back.
    case ready
    /// The operation has started and holds its permits.
    case executing
    /// The operation has started, and has lent its permits while it awaits another operation.
    case lent
    /// The wait is over. The operation continues when it has its permits back.
    case returning
}

/// The properties of an operation that a queue needs when the operation arrives.
struct Newcomer: Sendable {
    var level = PriorityLevel.default
    /// Whether the operation's dependencies are finished.
    var isReady = false
    var isBarrier = false
    /// Whether the operation has a delay that is not over.
    var isDelayed = false
    var weight = 1
    var hasEnded = false
    /// Whether a timeout passed before the operation was added.
    var isLate = false
    var hasLimits = false
    /// Whether the operation has links, such as dependencies and limits.
    var hasLinks = false
    /// Whether the operation has an executor of its own.
    var hasExecutor = false
}
