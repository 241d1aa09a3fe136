/// Every decision of a queue, as a pure value: no task, lock, clock or continuation is in it.
///
/// Each mutating function is one event. What follows from events is left in an outbox, which `settle` fills and hands
/// over: workers to start, waiting tasks to resume, operations to end, changes to tell. A worker asks for what it runs
/// with `nextStart`.
struct SchedulerState<Element: Sendable, Waiter: Sendable>: Sendable {
    typealias Slot = Int

    /// Where an operation of the queue stands.
    enum Status: Hashable, Sendable {
        /// A dependency is unfinished.
        case waiting
        /// Dependencies are finished; it stands in `ready`, or behind a barrier in `heldBack`.
        case ready
        /// It holds its permits.
        case executing
        /// It started, and has lent its permits out while it awaits another operation.
        case lent
        /// The wait is over; it goes on as soon as it has its permits back.
        case returning
    }

    struct Record: Sendable {
        let element: Element
        let arrival: UInt64
        /// Waits for other operations that are in progress within it, on all its child tasks.
        fileprivate(set) var waits: Int32 = 0
        private let weightAndKind: UInt16
        fileprivate(set) var level: PriorityLevel
        fileprivate(set) var status: Status

        fileprivate init(
            element: Element, arrival: UInt64, weight: Int, isBarrier: Bool, level: PriorityLevel, status: Status
        ) {
            self.element = element
            self.arrival = arrival
            weightAndKind = UInt16(weight) | (isBarrier ? Self.barrierBit : 0)
            self.level = level
            self.status = status
        }

        /// How many permits it takes.
        var weight: Int { Int(weightAndKind & ~Self.barrierBit) }

        var isBarrier: Bool { weightAndKind & Self.barrierBit != 0 }

        // With the weight in a field of its own, a pending operation would take 8 bytes more.
        private static var barrierBit: UInt16 { 1 << 15 }
    }

    /// Whether the queue takes operations. It never goes back to a case before.
    enum Intake: Int, Comparable, Sendable {
        case open
        /// Open until it is empty for the first time, then shut.
        case closing
        /// What is added is refused.
        case shut
        /// What is added is cancelled.
        case cancelling

        var takes: Bool { self < .shut }

        static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
    }

    let order: OperationOrder
    /// How many workers at most are worth starting at once.
    let workerLimit: Int
    private(set) var records = SlotMap<Record>()
    private(set) var permits: Permits
    private(set) var barriers = BarrierLine()
    /// What barriers, and waits for the end of all, hand on.
    private(set) var floors = LevelFloors()
    /// No operation has been below this level since the queue was last empty.
    private var lowestLevel = PriorityLevel.userInteractive
    /// Whether any floor has been told since the queue was last empty.
    private var hasHandedOn = false
    /// What has not ended, in the order of arrival; kept from the first look at it until the queue is empty.
    private(set) var inArrivalOrder: ArrivalIndex?
    private(set) var isSuspended: Bool
    /// Set for good when nobody is left who could resume the queue or raise its width from 0: neither can hold it up
    /// any more.
    private(set) var isDraining = false
    private(set) var intake = Intake.open
    /// How many are cancelling everything just now. Nothing starts meanwhile: what waits for an operation that is
    /// cancelled must not begin before it is cancelled itself.
    private(set) var holdCount = 0

    private(set) var ready: ReadyQueue
    /// Ready operations behind a barrier, all at one level: only their arrival orders them.
    private(set) var heldBack = ReadyQueue()
    /// Operations that want their permits back.
    private(set) var returning = ReadyQueue()
    /// The tasks that wait for that, by the operation's slot.
    private var returningWaiters: [Slot: Waiter] = [:]
    /// Tasks that wait until the queue is empty, by the numbers of their waits.
    private var emptyWaiters: [Int: Waiter] = [:]
    /// Workers of each level that were started and have not begun.
    private(set) var starting = LevelCounts()
    private(set) var arrivals: UInt64 = 0
    /// Operations that have ended and stay until their completion handlers have been called.
    private(set) var ending: Set<Slot> = []

    /// Whether changes of operations are told.
    private(set) var isObserved = false
    /// The number of the last change that was told.
    private(set) var changeCount: UInt64 = 0
    /// Set for good when an operation takes more than one permit: an end need not make room for the next start then.
    private var hasHadWeights = false
    private var outbox = Outbox()

    init(width: Int, isSuspended: Bool = false, order: OperationOrder = .firstInFirstOut, workerLimit: Int = .max) {
        permits = Permits(capacity: width)
        self.isSuspended = isSuspended
        self.order = order
        self.workerLimit = workerLimit
        ready = ReadyQueue(order: order)
    }

    /// How many operations have not ended.
    var count: Int { records.count - ending.count }

    /// Whether nothing is left, completion handlers included.
    var isEmpty: Bool { records.count == 0 }

    /// Whether nothing may start, whatever is ready.
    var isHalted: Bool { isSuspended || holdCount > 0 }
}

// MARK: - Arrival and end

extension SchedulerState {
    /// The slot that the next operation gets.
    var nextSlot: Slot { mutating get { records.nextSlot } }

    /// An operation arrives. Returns its slot; nil if it came too late, and is to be ended.
    ///
    /// - Parameter reserved: What `nextSlot` said just before, if that was asked.
    mutating func add(
        _ element: Element, level: PriorityLevel = .medium, isReady: Bool = false, isBarrier: Bool = false,
        weight: Int = 1, at reserved: Slot? = nil
    ) -> Slot? {
        switch intake {
        case .open, .closing: break
        case .shut: outbox.refused.append(element)
        case .cancelling: outbox.cancelled.append(element)
        }
        guard intake.takes else { return nil }
        arrivals += 1
        let arrival = arrivals
        if weight != 1 { hasHadWeights = true }
        let slot = reserved ?? nextSlot
        records.insert(
            Record(
                element: element, arrival: arrival, weight: weight, isBarrier: isBarrier, level: level,
                status: isReady ? .ready : .waiting), at: slot)
        inArrivalOrder?.append(arrival, slot)
        if isBarrier {
            barriers.barrierArrived(arrival, slot: slot)
        } else {
            barriers.operationArrived()
        }
        if level < lowestLevel { lowestLevel = level }
        if !barriers.isEmpty || !floors.isIdle { handOn(from: slot) }
        if isObserved { tell(.added, element, arrival) }
        if isReady {
            lineUp(arrival, slot, level, isBarrier: isBarrier)
            if isObserved { tell(.ready, element, arrival) }
        }
        return slot
    }

    /// The dependencies of an operation that has not started are all finished now, or no longer.
    mutating func setReady(_ slot: Slot, _ isReady: Bool) {
        switch (records[slot].status, isReady) {
        case (.waiting, true):
            lineUp(slot)
            if isObserved { tell(.ready, slot) }
        case (.ready, false):
            leaveLine(slot)
        case (.waiting, false), (.ready, true), (.executing, _), (.lent, _), (.returning, _):
            break
        }
    }

    mutating func setLevel(_ slot: Slot, _ level: PriorityLevel) {
        if records[slot].level == level { return }
        // A floor below its level may have changed untold.
        if level < records[slot].level, hasHandedOn { outbox.newFloors.append(records[slot].element) }
        changeLevel(slot, level)
        if isObserved { tell(.levelChanged(level), slot) }
        if level < lowestLevel { lowestLevel = level }
        if !barriers.isEmpty || !floors.isIdle { handOn(from: slot) }
    }

    private mutating func changeLevel(_ slot: Slot, _ level: PriorityLevel) {
        switch records[slot].status {
        case .ready:
            leaveLine(slot)
            records[slot].level = level
            lineUp(slot)
        case .returning:
            abandonReturn(slot)
            records[slot].level = level
            awaitReturn(slot)
        case .waiting, .executing, .lent:
            records[slot].level = level
        }
    }

    /// An operation that started has ended. It stays in its place until its completion handlers have been called, which
    /// `end` says, but counts no longer.
    mutating func beginEnding(_ slot: Slot) {
        ending.insert(slot)
        if isObserved { tell(.finished, slot) }
    }

    /// An operation has ended, whether it started or not. The caller keeps the element until the lock is left. Constant
    /// time, amortised.
    mutating func end(_ slot: Slot) -> Element {
        let record = records.remove(at: slot)
        switch record.status {
        case .waiting, .lent: break
        case .ready: leaveLine(record.arrival, slot, record.level, isBarrier: record.isBarrier)
        case .executing: permits.giveBack(record.weight)
        case .returning: freeReturn(record.arrival, slot, record.level)
        }
        let hasBeenTold = !ending.isEmpty && ending.remove(slot) != nil
        if isObserved, !hasBeenTold { tell(.finished, record.element, record.arrival) }
        countEnd(of: record.arrival, isBarrier: record.isBarrier)
        if inArrivalOrder != nil { forgetArrival() }
        if floors.mayDependOn(record.arrival) { updateFloors() }
        if isEmpty {
            lowestLevel = .userInteractive
            hasHandedOn = false
            if intake == .closing { intake = .shut }
        }
        return record.element
    }

    /// As `end`; the element is let go of with the outbox.
    mutating func remove(_ slot: Slot) {
        outbox.removed.append(end(slot))
    }

    /// Prepares for looks at what stands before barriers.
    mutating func indexArrivals() {
        if inArrivalOrder == nil { inArrivalOrder = ArrivalIndex(records) }
    }

    /// An operation has ended that the index has.
    private mutating func forgetArrival() {
        if isEmpty {
            inArrivalOrder = nil
        } else {
            inArrivalOrder?.removeOne { [records] slot, arrival in
                records.holds(slot) && records[slot].arrival == arrival
            }
        }
    }

    /// If the first barrier has ended, what it held back lines up; if it is its turn now, it does so itself.
    private mutating func countEnd(of arrival: UInt64, isBarrier: Bool) {
        if barriers.isEmpty { return barriers.operationEnded(arrival) }
        let (first, open) = (barriers.first?.slot, barriers.open?.slot)
        if isBarrier {
            noteFloors(ofWhatStandsBefore: arrival)
            barriers.barrierEnded(arrival)
            if barriers.isEmpty { floors.removeAll() }
        } else {
            barriers.operationEnded(arrival)
        }
        if first != barriers.first?.slot { releaseHeldBack() }
        if let opened = barriers.open?.slot, opened != open, records[opened].status == .ready { lineUp(opened) }
    }
}

// MARK: - Control

extension SchedulerState {
    mutating func setWidth(_ width: Int) {
        permits.capacity = isDraining ? max(1, width) : width
    }

    mutating func setSuspended(_ isSuspended: Bool) {
        self.isSuspended = isSuspended && !isDraining
    }

    /// Nothing holds the queue up from now on: it is resumed, has a width of at least 1, and stays so.
    mutating func drain() {
        isDraining = true
        setSuspended(false)
        setWidth(permits.capacity)
    }

    /// Nothing starts until `release`, which has to be called as often.
    mutating func hold() { holdCount += 1 }

    mutating func release() { holdCount -= 1 }

    /// Moves the intake on; back it does not go. A queue that is to be shut once it is empty, and is, is shut.
    mutating func setIntake(_ intake: Intake) {
        self.intake = max(self.intake, intake == .closing && isEmpty ? .shut : intake)
    }

    /// Changes of operations are told from now on, or no longer.
    mutating func setObserved(_ isObserved: Bool) { self.isObserved = isObserved }

    /// A task waits until the queue is empty.
    ///
    /// - Parameter number: A number for the wait, above those of all waits before.
    mutating func waitUntilEmpty(_ waiter: Waiter, number: Int) {
        emptyWaiters[number] = waiter
    }

    /// A task gives up such a wait, and goes on. Returns false if it has gone on already, or has not come yet.
    mutating func stopWaitingUntilEmpty(_ number: Int) -> Bool {
        guard let waiter = emptyWaiters.removeValue(forKey: number) else { return false }
        outbox.resumed.append(waiter)
        if emptyWaiters.isEmpty { emptyWaiters = [:] }
        return true
    }
}

// MARK: - Starting

extension SchedulerState {
    /// How many operations could start now, one after the other, if all had the weight 1.
    @inline(__always)
    var startableCount: Int {
        isHalted || !returning.isEmpty ? 0 : min(ready.count, permits.available)
    }

    /// The level of the task in which what comes next starts: its own, or what waits for all that may start.
    @inline(__always)
    private var readyLevel: PriorityLevel? {
        guard let level = ready.highestLevel else { return nil }
        return floors.isIdle ? level : max(level, floor(of: ready.first!.entry.slot))
    }

    /// The level of what would start next.
    @inline(__always)
    var nextLevel: PriorityLevel? {
        guard startableCount > 0, let level = readyLevel else { return nil }
        return !hasHadWeights || permits.admits(records[ready.first!.entry.slot].weight) ? level : nil
    }

    /// A worker that was started has begun.
    mutating func workerBegan(at level: PriorityLevel) {
        starting.add(-1, at: level)
    }

    /// A worker could let others run. Returns whether it is to come back after that.
    mutating func workerYields(at level: PriorityLevel) -> Bool {
        guard nextLevel == level else { return false }
        starting.add(1, at: level)
        return true
    }

    /// Gives the first ready operation its permits, which executes from now on; nil if nothing may start, or if what
    /// comes first is not of the level that is asked for.
    mutating func nextStart(at level: PriorityLevel) -> Slot? {
        guard !isHalted, returning.isEmpty, permits.available > 0, readyLevel == level else { return nil }
        let entry =
            hasHadWeights
            ? ready.popFirst { [permits, records] in permits.admits(records[$0].weight) } : ready.popFirst { _ in true }
        guard let slot = entry?.slot else { return nil }
        let weight = records.update(slot) { record in
            record.status = .executing
            return record.weight
        }
        permits.take(weight)
        return slot
    }

    /// What `nextStart` gave has begun to execute.
    mutating func noteStart(_ slot: Slot) {
        if isObserved { tell(.started, slot) }
    }

    /// Takes back the permits that `nextStart` gave, as the operation turned out to be waiting after all.
    mutating func refuseStart(_ slot: Slot) {
        permits.giveBack(records[slot].weight)
        records[slot].status = .waiting
    }

    /// What starts next, in this order, each in place of one that executes and ends, as long as nothing else happens:
    /// no more than `count`, and none if it is not plain to see.
    func upcoming(_ count: Int) -> (level: PriorityLevel, entries: ArraySlice<RankedList.Entry>)? {
        guard !ready.isEmpty, !isHalted, !isObserved, returning.isEmpty, permits.taken == permits.capacity,
            barriers.isEmpty, floors.isIdle, !hasHadWeights
        else { return nil }
        return ready.upcoming(count)
    }

    /// An operation that executed has ended, and its permit went to the first of `upcoming`, of this level. The caller
    /// keeps the element until the lock is left.
    mutating func handOver(_ slot: Slot, at level: PriorityLevel) -> Element {
        let element = end(slot)
        let next = nextStart(at: level)
        precondition(next != nil, "nothing starts in place of \(element)")
        return element
    }
}

// MARK: - Lending

extension SchedulerState {
    /// An operation that started begins to await another one: its permits are free until the last of its waits is
    /// over. A task of it that goes on meanwhile does so without: there is no way to see whether it, or only its waiting
    /// sibling, is what the operation's end depends on.
    mutating func beginWait(_ slot: Slot) {
        records[slot].waits += 1
        switch records[slot].status {
        case .executing:
            permits.giveBack(records[slot].weight)
            records[slot].status = .lent
            if isObserved { tell(.lent, slot) }
        case .returning:
            freeReturn(records[slot].arrival, slot, records[slot].level)
            records[slot].status = .lent
        case .lent:
            break
        case .waiting, .ready:
            preconditionFailure("an operation that is \(records[slot].status) began a wait")
        }
    }

    /// A wait within an operation is over. The task goes on once the operation has its permits back, if this was the last
    /// of its waits, and at once otherwise.
    mutating func endWait(_ slot: Slot, _ waiter: Waiter) {
        precondition(records[slot].status == .lent, "a wait ended in an operation that is \(records[slot].status)")
        records[slot].waits -= 1
        if records[slot].waits > 0 { return outbox.resumed.append(waiter) }
        returningWaiters[slot] = waiter
        awaitReturn(slot)
    }

    /// Gives the first operation that wants its permits back what it wants. These come before anything new, also on a
    /// suspended queue: they have started. If the width was lowered below a weight, they go on one after the other.
    mutating func nextReturn() -> Slot? {
        if returning.isEmpty { return nil }
        let entry = returning.popFirst { [permits, records] in permits.fitsBack(records[$0].weight) }
        guard let slot = entry?.slot else { return nil }
        permits.takeBack(records[slot].weight)
        records[slot].status = .executing
        outbox.resumed.append(takeReturningWaiter(slot))
        if isObserved { tell(.returned, slot) }
        return slot
    }

    private mutating func awaitReturn(_ slot: Slot) {
        records[slot].status = .returning
        returning.insert(entry(slot), at: records[slot].level)
    }

    /// An operation that wants its permits back is about to change, and counts as still waiting for others.
    private mutating func abandonReturn(_ slot: Slot) {
        records[slot].status = .lent
        returning.remove(entry(slot), at: records[slot].level)
    }

    /// The task that waits for an operation's permits goes on without.
    private mutating func freeReturn(_ arrival: UInt64, _ slot: Slot, _ level: PriorityLevel) {
        returning.remove(.init(arrival: arrival, slot: slot), at: level)
        outbox.resumed.append(takeReturningWaiter(slot))
    }

    private mutating func takeReturningWaiter(_ slot: Slot) -> Waiter {
        defer { if returningWaiters.isEmpty { returningWaiters = [:] } }
        return returningWaiters.removeValue(forKey: slot)!
    }
}

// MARK: - Standing in line

extension SchedulerState {
    /// An operation is ready and takes its place: among those that may start, or behind the barrier before it.
    private mutating func lineUp(_ slot: Slot) {
        let (arrival, level, isBarrier) = setStatus(slot, .ready)
        lineUp(arrival, slot, level, isBarrier: isBarrier)
    }

    private mutating func lineUp(_ arrival: UInt64, _ slot: Slot, _ level: PriorityLevel, isBarrier: Bool) {
        if barriers.admits(arrival) {
            ready.insert(.init(arrival: arrival, slot: slot), at: level)
        } else if !isBarrier {
            heldBack.insert(.init(arrival: arrival, slot: slot), at: Self.heldBackLevel)
        }
    }

    /// A ready operation is about to change, and counts as waiting.
    private mutating func leaveLine(_ slot: Slot) {
        let (arrival, level, isBarrier) = setStatus(slot, .waiting)
        leaveLine(arrival, slot, level, isBarrier: isBarrier)
    }

    private mutating func leaveLine(_ arrival: UInt64, _ slot: Slot, _ level: PriorityLevel, isBarrier: Bool) {
        if barriers.admits(arrival) {
            ready.remove(.init(arrival: arrival, slot: slot), at: level)
        } else if !isBarrier {
            heldBack.remove(.init(arrival: arrival, slot: slot), at: Self.heldBackLevel)
        }
    }

    /// Returns what says where the operation stands.
    @inline(__always)
    private mutating func setStatus(
        _ slot: Slot, _ status: Status
    ) -> (arrival: UInt64, level: PriorityLevel, isBarrier: Bool) {
        records.update(slot) { record in
            record.status = status
            return (record.arrival, record.level, record.isBarrier)
        }
    }

    /// The first barrier has ended: what it alone held back may start.
    private mutating func releaseHeldBack() {
        while let (entry, _) = heldBack.first, barriers.admits(entry.arrival) {
            _ = heldBack.popFirst { _ in true }
            lineUp(entry.slot)
        }
    }

    private func entry(_ slot: Slot) -> ReadyQueue.Entry {
        ReadyQueue.Entry(arrival: records[slot].arrival, slot: slot)
    }

    private static var heldBackLevel: PriorityLevel { .medium }
}

// MARK: - What is handed on within the queue

extension SchedulerState {
    /// The level that barriers, and waits for the end of all, hand on to an operation.
    func floor(of slot: Slot) -> PriorityLevel {
        if floors.isIdle { return .background }
        let (arrival, isBarrier) = (records[slot].arrival, records[slot].isBarrier)
        return isBarrier ? floors.level(before: arrival + 1) : floorOfWhatStands(after: arrival)
    }

    /// The level that is handed on to what stands between an arrival and the next barrier, barriers excluded.
    private func floorOfWhatStands(after arrival: UInt64) -> PriorityLevel {
        barriers.next(after: arrival).map { floors.level(before: $0) } ?? floors.ofEnd
    }

    /// A wait for the end of all hands on another level; nil is none.
    mutating func endInherits(from: PriorityLevel?, to: PriorityLevel?) {
        noteFloors(after: floors.endInherits(from: from, to: to, isCurrent: isCurrent))
    }

    /// An operation has arrived, or has another level. It hands that on if barriers make others wait for it.
    private mutating func handOn(from slot: Slot) {
        let (arrival, level) = (records[slot].arrival, records[slot].level)
        if let first = barriers.first, first.arrival <= arrival {
            noteFloors(after: floors.insert(arrival, slot, at: level, isCurrent: isCurrent))
            floors.sweep(keeping: records.count, isCurrent)
        }
        if floor(of: slot) > level {
            hasHandedOn = true
            outbox.newFloors.append(records[slot].element)
        }
    }

    private mutating func updateFloors() {
        noteFloors(after: floors.update(isCurrent))
    }

    private var isCurrent: (LevelFloors.Entry, PriorityLevel) -> Bool {
        { [records] entry, level in
            guard records.holds(entry.slot) else { return false }
            let record = records[entry.slot]
            return record.arrival == .max - entry.rank && record.level == level
        }
    }

    /// Notes which operations have another floor.
    private mutating func noteFloors(after change: LevelFloors.Change?) {
        guard let change, lowestLevel < change.highestLevel else { return }
        let (low, high) = (change.arrivals.lowerBound, change.arrivals.upperBound)
        // All that has its next barrier between these; and the barriers between these, the first one included.
        let last = high == .max ? .max : barriers.last(before: high + 1)?.arrival
        guard let last else { return }
        let first = barriers.last(before: low + 1).map { $0.arrival == low ? low - 1 : $0.arrival } ?? 0
        noteFloors(after: first, upTo: last, below: change.highestLevel)
    }

    /// A barrier ends. If that is before its turn, what stands before it waits for the next one from now on.
    private mutating func noteFloors(ofWhatStandsBefore arrival: UInt64) {
        if floors.isIdle || barriers.open?.arrival == arrival { return }
        let level = floors.level(before: arrival)
        if level == floorOfWhatStands(after: arrival) || lowestLevel >= level { return }
        noteFloors(after: barriers.last(before: arrival)?.arrival ?? 0, upTo: arrival - 1, below: level)
    }

    private mutating func noteFloors(after first: UInt64, upTo last: UInt64, below level: PriorityLevel) {
        if first >= last { return }
        hasHandedOn = true
        indexArrivals()
        outbox.newFloors += elements(after: first, before: last == .max ? last : last + 1) { $0.level < level }
    }
}

// MARK: - What follows

extension SchedulerState {
    /// Decides what follows from the events since the last time: which operations get their permits back, how many
    /// workers of which level are started, which waiting tasks go on.
    ///
    /// - Parameter returned: Called with each operation that has its permits back.
    mutating func settle(returned: (Element) -> Void = { _ in }) {
        if !returning.isEmpty { while let slot = nextReturn() { returned(records[slot].element) } }
        if !ready.isEmpty { startWorkers() }
        if isEmpty, !intake.takes { outbox.isOver = true }
        if isEmpty, !emptyWaiters.isEmpty {
            outbox.resumed += emptyWaiters.sorted { $0.key < $1.key }.map(\.value)
            emptyWaiters = [:]
        }
    }

    /// Hands over what the events since the last time have led to; nothing, as nearly always, if there is nothing.
    @inline(__always)
    mutating func handOver(to outbox: inout Outbox?) {
        if self.outbox.isEmpty { return }
        outbox = self.outbox
        self.outbox = Outbox()
    }

    private mutating func startWorkers() {
        guard let level = nextLevel else { return }
        let count = max(0, min(startableCount, workerLimit) - starting[level])
        if count == 0 { return }
        starting.add(count, at: level)
        for _ in 0..<count { outbox.workers.append(level) }
    }

    /// The one place at which a change of an operation is told. Callers ask `isObserved` first, which is all that it costs
    /// if nobody listens.
    @inline(never)
    private mutating func tell(_ kind: Change.Kind, _ element: Element, _ arrival: UInt64) {
        changeCount += 1
        outbox.changes.append(
            Change(number: changeCount, element: element, arrival: arrival, kind: kind, counts: counts))
    }

    /// Tells a change of an operation that is in the queue. After the end nothing is told: an abandoned body may go on.
    @inline(never)
    mutating func tell(_ kind: Change.Kind, _ slot: Slot) {
        if kind != .finished, ending.contains(slot) { return }
        tell(kind, records[slot].element, records[slot].arrival)
    }
}
