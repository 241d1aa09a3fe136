/// The state of a queue for barriers and for waits until the queue is empty.
struct QueueBarriers: Sendable {
    var line: BarrierLine
    /// The slots of the barriers whose delays are not over. They are not in the line, and hold back no operation.
    var delayed: Set<Int> = []
    /// The first arrivals of operations that have arrived again, by slot.
    var numbers: [Int: UInt64] = [:]
    /// The ready operations that a barrier holds back, except barriers. Their ranks are their arrivals.
    var heldBack = EntryList()
    /// The levels that operations inherit through barriers and from waits until the queue is empty.
    var floors = BarrierInheritance()
    /// The operations that have not ended, in the order of arrival. Nil before the first use, and after the queue was
    /// empty.
    var inArrivalOrder: ArrivalIndex?

    /// - Parameters:
    ///   - count: The number of operations in the queue. None of them is a barrier.
    ///   - lowestLevel: The lowest level of these operations; nil if the queue is empty.
    init(behind count: Int, lowestLevel: PriorityLevel?) {
        line = BarrierLine(unfinished: count)
        if let lowestLevel { floors.note(lowestLevel) }
    }

    /// The floor of the operation at a slot; see `BarrierInheritance`.
    func floor<Element>(of operation: QueuedOperation<Element>, at slot: Int) -> PriorityLevel {
        if floors.isIdle { return .background }
        if delayed.contains(slot) { return floors.ofEnd }
        return floors.level(of: operation.arrival, isBarrier: operation.isBarrier, line)
    }
}

/// The unfinished barriers of a queue, and the number of operations for which each barrier still waits.
///
/// Barriers divide the arrivals into sections. The first barrier may start when all operations before it have finished.
/// It holds back all operations behind it.
struct BarrierLine: Hashable, Sendable {
    struct Barrier: Hashable, Sendable {
        let arrival: UInt64
        let slot: Int
        /// The number of unfinished operations between the previous barrier and this one.
        var unfinishedBefore: Int
        /// Whether the barrier has ended, and therefore holds back no operations.
        var hasEnded = false
    }

    private var barriers: [Barrier] = []
    private var firstIndex = 0
    /// The number of ended barriers in the list.
    private var endedCount = 0
    /// The number of unfinished operations behind the last barrier.
    private var unfinishedBehind: Int

    /// - Parameter unfinished: The number of operations that are already in the queue. None of them is a barrier.
    init(unfinished: Int = 0) {
        unfinishedBehind = unfinished
    }

    var first: Barrier? { firstIndex < barriers.count ? barriers[firstIndex] : nil }

    var isEmpty: Bool { firstIndex == barriers.count }

    /// The first barrier if all operations before it have finished; otherwise nil.
    var open: Barrier? { first?.unfinishedBefore == 0 ? first : nil }

    /// Whether barriers let the operation with this arrival number start.
    func admits(_ arrival: UInt64) -> Bool {
        guard let first else { return true }
        return arrival < first.arrival || (arrival == first.arrival && first.unfinishedBefore == 0)
    }

    /// The last unfinished barrier before an arrival.
    func last(before arrival: UInt64) -> Barrier? {
        barriers[firstIndex..<index(ofFirstFrom: arrival)].last { !$0.hasEnded }
    }

    /// The arrival of the next unfinished barrier after an arrival.
    func next(after arrival: UInt64) -> UInt64? {
        barriers[index(ofFirstFrom: arrival + 1)...].first { !$0.hasEnded }?.arrival
    }

    mutating func operationArrived() { unfinishedBehind += 1 }

    mutating func barrierArrived(_ arrival: UInt64, slot: Int) {
        barriers.append(Barrier(arrival: arrival, slot: slot, unfinishedBefore: unfinishedBehind))
        unfinishedBehind = 0
    }

    /// Records that an operation other than a barrier has ended. Takes logarithmic time in the number of barriers.
    mutating func operationEnded(_ arrival: UInt64) {
        let index = index(ofFirstFrom: arrival)
        if index < barriers.count {
            barriers[index].unfinishedBefore -= 1
        } else {
            unfinishedBehind -= 1
        }
    }

    /// Records that a barrier has ended, even if it has not run. Takes amortised logarithmic time in the number of
    /// barriers.
    mutating func barrierEnded(_ arrival: UInt64) {
        barriers[index(ofFirstFrom: arrival)].hasEnded = true
        endedCount += 1
        while let first, first.hasEnded {
            firstIndex += 1
            if firstIndex < barriers.count {
                barriers[firstIndex].unfinishedBefore += first.unfinishedBefore
            } else {
                unfinishedBehind += first.unfinishedBefore
            }
        }
        if isEmpty || (endedCount > 64 && endedCount * 2 > barriers.count) { sweep() }
    }

    /// Removes the ended barriers and frees their memory. The section before an ended barrier becomes part of the next
    /// section.
    private mutating func sweep() {
        var kept: [Barrier] = []
        kept.reserveCapacity(barriers.count - endedCount)
        var unfinished = 0
        for barrier in barriers[firstIndex...] {
            unfinished += barrier.unfinishedBefore
            if barrier.hasEnded { continue }
            kept.append(barrier)
            kept[kept.count - 1].unfinishedBefore = unfinished
            unfinished = 0
        }
        unfinishedBehind += unfinished
        barriers = kept
        firstIndex = 0
        endedCount = 0
    }

    /// The number of barriers for which memory is allocated.
    var capacity: Int { barriers.capacity }

    /// The index of the first barrier whose arrival number is `arrival` or higher.
    private func index(ofFirstFrom arrival: UInt64) -> Int {
        barriers[firstIndex...].partitioningIndex { $0.arrival >= arrival }
    }
}

/// Finds the operations that arrived between two arrivals.
///
/// The entries of ended operations are removed together when they are at least half of all entries. Adding and ending
/// take amortised constant time. A search takes O(log n + k) time, where k is the number of results.
struct ArrivalIndex: Sendable {
    private struct Entry: Sendable {
        let arrival: UInt64
        let slot: Int
    }

    private var entries: [Entry] = []
    private var endedCount = 0

    /// Creates an index of operations, which may be in any order.
    init(_ operations: [(arrival: UInt64, slot: Int)]) {
        entries = operations.map { Entry(arrival: $0.arrival, slot: $0.slot) }.sorted { $0.arrival < $1.arrival }
    }

    /// Adds the latest operation, unless the index already contains it.
    mutating func append(_ arrival: UInt64, _ slot: Int) {
        if let last = entries.last, last.arrival >= arrival { return }
        entries.append(Entry(arrival: arrival, slot: slot))
    }

    /// Records that an operation has ended.
    mutating func removeOne(isUnfinished: (_ slot: Int, _ arrival: UInt64) -> Bool) {
        endedCount += 1
        if endedCount <= 64 || endedCount * 2 < entries.count { return }
        entries = entries.filter { isUnfinished($0.slot, $0.arrival) }
        endedCount = 0
    }

    /// The slots of the operations between two arrivals, both excluded. Some of these operations may have ended. Other
    /// operations may use their slots now.
    func slots(after first: UInt64, before last: UInt64) -> [(slot: Int, arrival: UInt64)] {
        var found: [(slot: Int, arrival: UInt64)] = []
        var index = entries.partitioningIndex { $0.arrival > first }
        while index < entries.count, entries[index].arrival < last {
            found.append((entries[index].slot, entries[index].arrival))
            index += 1
        }
        return found
    }
}

// MARK: - Inheritance

/// The floors of a queue's operations. A floor is the level that an operation inherits within its queue.
///
/// A barrier and all operations before it inherit the levels of the operations behind the barrier. All operations
/// inherit the level of a task that waits until the queue is empty.
///
/// One number for each level is sufficient. It concerns only the first barrier and the operations behind it. The number
/// is the arrival of the last such operation at this level or a higher level. The barriers up to this arrival inherit
/// the level. All operations before these barriers inherit it, too.
struct BarrierInheritance: Sendable {
    /// The first barrier, or an operation behind it. The rank is `UInt64.max` minus the arrival.
    typealias Entry = RankedSlot

    /// For each level, the last arrival at this level or a higher level. `UInt64.max` if a wait until the queue is
    /// empty passes on the level.
    private var highestArrivals = SIMD8<UInt64>()
    /// The operations of each level, latest arrival first. The entry of an operation that has ended or changed its
    /// level is removed when it becomes the first entry.
    private var lists: [RankedList<Entry>] = []
    private var entryCount = 0
    private var handedOnByEnd = LevelContributions()

    /// The lowest level of any operation since the queue was last empty.
    private(set) var lowestLevel = PriorityLevel.userInteractive
    /// Whether any floor was reported since the queue was last empty.
    private(set) var hasHandedOn = false

    /// Whether no operation inherits a level.
    var isIdle: Bool { highestArrivals == SIMD8() }

    /// The highest level that a wait until the queue is empty passes on.
    var ofEnd: PriorityLevel { handedOnByEnd.highest }

    /// The highest level of the operations at this arrival or behind it, and of the waits until the queue is empty.
    /// Requires that the arrival is not before the first barrier.
    func level(before arrival: UInt64) -> PriorityLevel {
        if isIdle { return .background }
        return PriorityLevel.allCases.last { highestArrivals[Int($0.rawValue)] >= arrival } ?? .background
    }

    /// A change of `highestArrivals`.
    struct Change {
        var highestLevel: PriorityLevel
        /// The range from the old to the new number of a level. If several levels changed, one range covers all
        /// changes.
        var arrivals: ClosedRange<UInt64>
    }
}

// MARK: - Changes

extension BarrierInheritance {
    /// Includes the level of an operation in `lowestLevel`.
    mutating func note(_ level: PriorityLevel) {
        if level < lowestLevel { lowestLevel = level }
    }

    /// Records that a floor was reported.
    mutating func notePropagation() { hasHandedOn = true }

    mutating func noteEmpty() {
        lowestLevel = .userInteractive
        hasHandedOn = false
    }

    /// Records that the first barrier, or an operation behind it, has arrived or has changed its level.
    ///
    /// - Parameter isCurrent: Returns whether the operation of an entry has not ended and still has the given level.
    mutating func insert(
        _ arrival: UInt64, _ slot: Int, at level: PriorityLevel, isCurrent: (Entry, PriorityLevel) -> Bool
    ) -> Change? {
        if lists.isEmpty { lists = Array(repeating: RankedList(), count: PriorityLevel.allCases.count) }
        lists[Int(level.rawValue)].insert(Entry(rank: .max - arrival, slot: slot))
        entryCount += 1
        return update(isCurrent)
    }

    /// Records that a wait until the queue is empty has begun, has ended, or passes on another level.
    mutating func idleWaitersChanged(
        from: PriorityLevel?, to: PriorityLevel?, isCurrent: (Entry, PriorityLevel) -> Bool
    ) -> Change? {
        handedOnByEnd.change(from: from, to: to)
        return update(isCurrent)
    }

    /// Whether inherited levels may change when the operation with this arrival ends or changes its level.
    func mayDependOn(_ arrival: UInt64) -> Bool {
        !isIdle && PriorityLevel.allCases.contains { highestArrivals[Int($0.rawValue)] == arrival }
    }

    /// Updates `highestArrivals`. Returns nil if nothing changed.
    mutating func update(_ isCurrent: (Entry, PriorityLevel) -> Bool) -> Change? {
        var change: Change?
        var reach: UInt64 = 0
        let ofEnd = self.ofEnd
        for level in PriorityLevel.allCases.reversed() where level > .background {
            reach = level <= ofEnd ? .max : max(reach, lastArrival(of: level, isCurrent))
            let before = highestArrivals[Int(level.rawValue)]
            if before == reach { continue }
            highestArrivals[Int(level.rawValue)] = reach
            let arrivals = min(before, reach)...max(before, reach)
            change = change?.joined(arrivals) ?? Change(highestLevel: level, arrivals: arrivals)
        }
        return change
    }

    /// Removes all operations, because the queue has no barrier any more.
    mutating func removeAll() {
        if isIdle, entryCount == 0 { return }
        highestArrivals = SIMD8()
        lists = []
        entryCount = 0
        _ = update { _, _ in false }
    }

    /// Removes outdated entries if most entries are outdated.
    mutating func sweep(keeping count: Int, _ isCurrent: (Entry, PriorityLevel) -> Bool) {
        if entryCount <= 2 * count + 64 { return }
        for level in PriorityLevel.allCases { lists[Int(level.rawValue)].removeAll { !isCurrent($0, level) } }
        entryCount = lists.reduce(0) { $0 + $1.count }
    }

    private mutating func lastArrival(
        of level: PriorityLevel, _ isCurrent: (Entry, PriorityLevel) -> Bool
    ) -> UInt64 {
        while entryCount > 0, let entry = lists[Int(level.rawValue)].first {
            if isCurrent(entry, level) { return .max - entry.rank }
            lists[Int(level.rawValue)].removeFirst()
            entryCount -= 1
        }
        return 0
    }
}

extension BarrierInheritance.Change {
    fileprivate func joined(_ other: ClosedRange<UInt64>) -> Self {
        Self(
            highestLevel: highestLevel,
            arrivals: min(arrivals.lowerBound, other.lowerBound)...max(arrivals.upperBound, other.upperBound))
    }
}

// MARK: - Affected operations

extension BarrierInheritance {
    /// A range of arrivals. The operations in the range are affected if their own levels are below `level`.
    struct Affected {
        /// The last arrival before the range.
        let first: UInt64
        /// The last arrival in the range.
        let last: UInt64
        let level: PriorityLevel
    }

    /// The floor of an operation.
    func level(of arrival: UInt64, isBarrier: Bool, _ barriers: BarrierLine) -> PriorityLevel {
        if isIdle { return .background }
        return isBarrier ? level(before: arrival + 1) : levelBehind(arrival, barriers)
    }

    /// The floor of the operations between an arrival and the next barrier.
    private func levelBehind(_ arrival: UInt64, _ barriers: BarrierLine) -> PriorityLevel {
        barriers.next(after: arrival).map { level(before: $0) } ?? ofEnd
    }

    /// The operations whose floors a change may affect.
    func affected(by change: Change?, _ barriers: BarrierLine) -> Affected? {
        guard let change, lowestLevel < change.highestLevel else { return nil }
        let (low, high) = (change.arrivals.lowerBound, change.arrivals.upperBound)
        // The barriers in `low...high` are affected, and the operations whose next barrier is in this range.
        let last = high == .max ? .max : barriers.last(before: high + 1)?.arrival
        guard let last else { return nil }
        let first = barriers.last(before: low + 1).map { $0.arrival == low ? low - 1 : $0.arrival } ?? 0
        return first < last ? Affected(first: first, last: last, level: change.highestLevel) : nil
    }

    /// The operations whose floors the end of a barrier may affect. If operations before the barrier are unfinished,
    /// they then inherit from the next barrier.
    func affected(byEndOfBarrier arrival: UInt64, _ barriers: BarrierLine) -> Affected? {
        if isIdle || barriers.open?.arrival == arrival { return nil }
        let level = level(before: arrival)
        if level == levelBehind(arrival, barriers) || lowestLevel >= level { return nil }
        let first = barriers.last(before: arrival)?.arrival ?? 0
        return first < arrival - 1 ? Affected(first: first, last: arrival - 1, level: level) : nil
    }
}
