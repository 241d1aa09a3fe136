/// Every decision of a queue, as a pure value: no task, lock, clock or continuation is in it.
///
/// Each mutating function is one event. What follows from an event is asked for afterwards: `nextReturn` and
/// `nextStart` say which operation may go on or start, `isEmpty` whether the queue has run dry. Whoever carries
/// the decisions out calls them until they say nil.
struct SchedulerState<Element: Sendable>: Sendable {
    typealias Slot = Int

    /// Where an operation of the queue stands.
    enum Status: Hashable, Sendable {
        /// A dependency is unfinished.
        case waiting
        /// Dependencies are finished; it stands in `ready`, or behind a barrier in `heldBack`.
        case ready
        /// It holds a permit.
        case executing
        /// It started, and has lent its permit out while it awaits another operation.
        case lent
        /// The wait is over; it goes on as soon as it has its permit back.
        case returning
    }

    struct Record: Sendable {
        let element: Element
        let arrival: UInt64
        let isBarrier: Bool
        var level: PriorityLevel
        var status: Status
        /// Waits for other operations that are in progress within it, on all its child tasks.
        var waits: Int32 = 0
    }

    /// Whether the queue takes operations.
    enum Intake: Hashable, Sendable {
        case open
        /// Open until it is empty for the first time, then shut.
        case openUntilEmpty
        case shut
    }

    var records = SlotMap<Record>()
    var permits: Permits
    private(set) var barriers = BarrierLine()
    private(set) var isSuspended: Bool
    /// Set for good when nobody is left who could resume the queue or raise its width from 0: neither can hold it up
    /// any more.
    private(set) var isDraining = false
    /// How many are cancelling everything just now. Nothing starts meanwhile: what waits for an operation that is
    /// cancelled must not begin before it is cancelled itself.
    var holdCount = 0
    private(set) var intake = Intake.open

    var ready = ReadyOrder()
    /// Operations in `ready` that are current.
    var readyCount = 0
    /// Ready operations behind a barrier, all at one level: only their arrival orders them.
    var heldBack = ReadyOrder()
    /// Operations that want their permit back.
    var returning = ReadyOrder()
    var returningCount = 0
    private(set) var arrivals: UInt64 = 0

    init(width: Int, isSuspended: Bool = false) {
        permits = Permits(capacity: width)
        self.isSuspended = isSuspended
    }

    var isEmpty: Bool { records.count == 0 }

    /// Whether nothing may start, whatever is ready.
    var isHalted: Bool { isSuspended || holdCount > 0 }

    /// How many operations could start now, one after the other.
    var startableCount: Int {
        isHalted || returningCount > 0 ? 0 : min(readyCount, permits.available)
    }
}

// MARK: - Events

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

    /// No operation is taken from now on, or from when the queue is empty.
    mutating func shutDown(whenEmpty: Bool = false) {
        if intake != .shut { intake = whenEmpty && !isEmpty ? .openUntilEmpty : .shut }
    }

    /// Takes an operation in, which counts as waiting. The queue must not be shut.
    mutating func add(_ element: Element, level: PriorityLevel = .medium, isBarrier: Bool = false) -> Slot {
        precondition(intake != .shut, "added to a queue that was shut down")
        arrivals += 1
        let arrival = arrivals
        let slot = records.insert(
            Record(element: element, arrival: arrival, isBarrier: isBarrier, level: level, status: .waiting))
        if isBarrier {
            barriers.barrierArrived(arrival, slot: slot)
        } else {
            barriers.operationArrived()
        }
        return slot
    }

    /// The dependencies of an operation that has not started are all finished now, or no longer.
    mutating func setReady(_ slot: Slot, _ isReady: Bool) {
        switch (records[slot].status, isReady) {
        case (.waiting, true): lineUp(slot)
        case (.ready, false): leaveLine(slot)
        case (.waiting, false), (.ready, true), (.executing, _), (.lent, _), (.returning, _): break
        }
    }

    mutating func setLevel(_ slot: Slot, _ level: PriorityLevel) {
        if records[slot].level == level { return }
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

    /// An operation has ended, whether it started or not. Constant time, amortised.
    @discardableResult
    mutating func end(_ slot: Slot) -> Element {
        switch records[slot].status {
        case .waiting, .lent: break
        case .ready: leaveLine(slot)
        case .executing: permits.giveBack()
        case .returning: abandonReturn(slot)
        }
        let record = records.remove(at: slot)
        countEnd(of: record.arrival, isBarrier: record.isBarrier)
        if isEmpty, intake == .openUntilEmpty { intake = .shut }
        return record.element
    }

    /// Where the first barrier has ended, what it held back lines up; where it is its turn now, it does so itself.
    private mutating func countEnd(of arrival: UInt64, isBarrier: Bool) {
        let (first, open) = (barriers.first?.slot, barriers.open?.slot)
        if isBarrier {
            barriers.barrierEnded(arrival)
        } else {
            barriers.operationEnded(arrival)
        }
        if first == nil { return }
        if first != barriers.first?.slot { releaseHeldBack() }
        if let opened = barriers.open?.slot, opened != open, records[opened].status == .ready { lineUp(opened) }
    }
}

// MARK: - What follows

extension SchedulerState {
    /// The level of what would start next.
    var nextLevel: PriorityLevel? {
        mutating get { startableCount > 0 ? currentHead()?.level : nil }
    }

    /// Gives a permit to the first ready operation, which executes from now on; nil where nothing may start, or
    /// where what comes first is not of the level that is asked for.
    mutating func nextStart(at level: PriorityLevel) -> Slot? {
        guard startableCount > 0, let head = currentHead(), head.level == level else { return nil }
        ready.removeHead(of: level)
        readyCount -= 1
        permits.take()
        records[head.entry.slot].status = .executing
        return head.entry.slot
    }

    /// Takes back the permit that `nextStart` gave, where the operation turned out to be waiting after all.
    mutating func refuseStart(_ slot: Slot) {
        permits.giveBack()
        records[slot].status = .waiting
    }

    /// What starts next, in this order, each in place of one that executes and ends, as long as nothing else happens:
    /// no more than `count`, and none where it is not plain to see.
    func upcoming(_ count: Int) -> (level: PriorityLevel, entries: ArraySlice<ReadyOrder.Entry>)? {
        guard readyCount > 0, !isHalted, returningCount == 0, permits.taken == permits.capacity, barriers.isEmpty,
            ready.abandoned == 0, let level = ready.head?.level
        else { return nil }
        return (level, ready.first(count, of: level))
    }

    /// An operation that executed has ended, and its permit went to the first of `upcoming`, of this level.
    mutating func handOver(_ slot: Slot, at level: PriorityLevel) -> Element {
        let element = end(slot)
        let next = nextStart(at: level)
        precondition(next != nil, "nothing starts in place of \(element)")
        return element
    }

    /// The first ready operation. Skips what is no longer current.
    private mutating func currentHead() -> (entry: ReadyOrder.Entry, level: PriorityLevel)? {
        while let head = ready.head {
            if ready.abandoned == 0 || isReady(head.entry, head.level) { return head }
            ready.removeHead(of: head.level, isAbandoned: true)
        }
        return nil
    }
}

// MARK: - Views

extension SchedulerState {
    /// All operations, in the order of arrival. Sorts.
    var elements: [Element] { inOrder { _ in true } }

    private func inOrder(_ isIncluded: (Record) -> Bool) -> [Element] {
        records.all.filter(isIncluded).sorted { $0.arrival < $1.arrival }.map(\.element)
    }

    /// How many operations were ever added, and how many of them have not ended.
    var counts: (added: Int, unfinished: Int) { (Int(arrivals), records.count) }

    /// What must end before barriers let an operation start: all before it for a barrier, and for any other the
    /// barriers before it. All of these and not only the nearest: that one may be cancelled at any moment.
    ///
    /// - Parameter arrival: Leaves out what arrived by then. Constant time where that is everything before.
    func elementsHoldingBack(_ slot: Slot, after arrival: UInt64 = 0) -> [Element] {
        elementsHoldingBack(records[slot].arrival, isBarrier: records[slot].isBarrier, after: arrival)
    }

    /// What would hold an operation back that was added now.
    func elementsHoldingBackNext(isBarrier: Bool, after arrival: UInt64) -> [Element] {
        elementsHoldingBack(arrivals + 1, isBarrier: isBarrier, after: arrival)
    }

    private func elementsHoldingBack(_ arrival: UInt64, isBarrier: Bool, after seen: UInt64) -> [Element] {
        if seen + 1 >= arrival { return [] }
        return isBarrier
            ? inOrder { $0.arrival > seen && $0.arrival < arrival }
            : barriers.barriers(after: seen, before: arrival).map { records[$0].element }
    }
}
