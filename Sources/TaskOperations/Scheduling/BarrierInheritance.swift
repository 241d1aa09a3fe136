/// The floors of the operations in a queue: the levels that they inherit from operations and tasks that wait for them there.
/// A barrier, and all operations before it, inherit the levels of the operations behind it. All operations inherit the level
/// of a wait for the end of the queue.
///
/// One number for each level is enough: the last arrival that inherits it. A barrier that arrived by then, or an operation
/// behind it, has the level, and so have all operations before that barrier.
struct BarrierInheritance: Sendable {
    /// An operation at the first barrier or behind it.
    typealias Entry = RankedList.Entry

    /// For each level, the last arrival of it or of a higher one; the highest number if the end of all hands it on.
    private var reaches = SIMD8<UInt64>()
    /// For each level, its operations, the last arrival first. Operations that have ended, or changed their level, are
    /// removed when they become the first entry.
    private var lists: [RankedList] = []
    private var entryCount = 0
    private var handedOnByEnd = LevelContributions()

    /// No operation has been below this level since the queue was last empty.
    private(set) var lowestLevel = PriorityLevel.userInteractive
    /// Whether any floor has been told since the queue was last empty.
    private(set) var hasHandedOn = false

    /// Whether nothing is handed on.
    private(set) var isIdle = true

    /// The level that waits for the end of all hand on.
    var ofEnd: PriorityLevel { handedOnByEnd.highest }

    /// The highest level inherited by the operations before an arrival.
    func level(before arrival: UInt64) -> PriorityLevel {
        if isIdle { return .background }
        return PriorityLevel.allCases.last { reaches[Int($0.rawValue)] >= arrival } ?? .background
    }

    /// A level is handed on up to other arrivals than before.
    struct Change {
        var highestLevel: PriorityLevel
        /// From the lower of the old and new numbers to the higher one.
        var arrivals: ClosedRange<UInt64>
    }
}

// MARK: - Changes

extension BarrierInheritance {
    /// There is an operation of a level.
    @inline(__always)
    mutating func note(_ level: PriorityLevel) {
        if level < lowestLevel { lowestLevel = level }
    }

    /// A floor is told.
    mutating func noteHandedOn() { hasHandedOn = true }

    /// The queue is empty.
    @inline(__always)
    mutating func noteEmpty() {
        lowestLevel = .userInteractive
        hasHandedOn = false
    }

    /// Something arrived at a barrier, or behind one, or changed its level there.
    ///
    /// - Parameter isCurrent: Whether an entry still has the level that it is listed at.
    mutating func insert(
        _ arrival: UInt64, _ slot: Int, at level: PriorityLevel, isCurrent: (Entry, PriorityLevel) -> Bool
    ) -> Change? {
        if lists.isEmpty { lists = .forEachLevel }
        lists[Int(level.rawValue)].insert(Entry(rank: .max - arrival, slot: slot))
        entryCount += 1
        return update(isCurrent)
    }

    /// A wait for the end of all hands on another level.
    mutating func endInherits(
        from: PriorityLevel?, to: PriorityLevel?, isCurrent: (Entry, PriorityLevel) -> Bool
    ) -> Change? {
        handedOnByEnd.change(from: from, to: to)
        return update(isCurrent)
    }

    /// Whether the end of an operation, or another level of it, can change inherited levels.
    func mayDependOn(_ arrival: UInt64) -> Bool {
        !isIdle && PriorityLevel.allCases.contains { reaches[Int($0.rawValue)] == arrival }
    }

    /// Updates the inherited levels.
    mutating func update(_ isCurrent: (Entry, PriorityLevel) -> Bool) -> Change? {
        var change: Change?
        var reach: UInt64 = 0
        let ofEnd = self.ofEnd
        for level in PriorityLevel.allCases.reversed() where level > .background {
            reach = level <= ofEnd ? .max : max(reach, lastArrival(of: level, isCurrent))
            let before = reaches[Int(level.rawValue)]
            if before == reach { continue }
            reaches[Int(level.rawValue)] = reach
            let arrivals = min(before, reach)...max(before, reach)
            change = change?.joined(arrivals) ?? Change(highestLevel: level, arrivals: arrivals)
        }
        if change != nil { isIdle = reaches == SIMD8() }
        return change
    }

    /// There is no barrier any more.
    mutating func removeAll() {
        if isIdle, entryCount == 0 { return }
        reaches = SIMD8()
        lists = []
        entryCount = 0
        isIdle = true
        _ = update { _, _ in false }
    }

    /// Removes entries of ended operations, if these are most of the entries.
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
    /// Operations of a range of arrivals, below a level.
    struct Affected {
        /// They arrived after this number.
        let first: UInt64
        /// They arrived by this number.
        let last: UInt64
        let level: PriorityLevel
    }

    /// The level that barriers, and waits for the end of all, hand on to an operation.
    func level(of arrival: UInt64, isBarrier: Bool, _ barriers: BarrierLine) -> PriorityLevel {
        if isIdle { return .background }
        return isBarrier ? level(before: arrival + 1) : levelOfWhatStands(after: arrival, barriers)
    }

    /// The level inherited by the operations between an arrival and the next barrier, barriers excluded.
    private func levelOfWhatStands(after arrival: UInt64, _ barriers: BarrierLine) -> PriorityLevel {
        barriers.next(after: arrival).map { level(before: $0) } ?? ofEnd
    }

    /// Which operations have another floor after a change.
    func affected(by change: Change?, _ barriers: BarrierLine) -> Affected? {
        guard let change, lowestLevel < change.highestLevel else { return nil }
        let (low, high) = (change.arrivals.lowerBound, change.arrivals.upperBound)
        // All that has its next barrier between these; and the barriers between these, the first one included.
        let last = high == .max ? .max : barriers.last(before: high + 1)?.arrival
        guard let last else { return nil }
        let first = barriers.last(before: low + 1).map { $0.arrival == low ? low - 1 : $0.arrival } ?? 0
        return first < last ? Affected(first: first, last: last, level: change.highestLevel) : nil
    }

    /// A barrier is about to end. If it has not started, the operations before it inherit from the next barrier afterwards.
    func affected(byEndOfBarrier arrival: UInt64, _ barriers: BarrierLine) -> Affected? {
        if isIdle || barriers.open?.arrival == arrival { return nil }
        let level = level(before: arrival)
        if level == levelOfWhatStands(after: arrival, barriers) || lowestLevel >= level { return nil }
        let first = barriers.last(before: arrival)?.arrival ?? 0
        return first < arrival - 1 ? Affected(first: first, last: arrival - 1, level: level) : nil
    }
}
