/// A queue of entries: the highest level first, and within a level in the order of a policy.
///
/// It contains the ready operations of a queue, the operations that wait for their permits, or the waiting tasks of
/// `AsyncSemaphore`. The caller decides whether the first entry can be taken: it may need more permits than are free. No
/// entry overtakes it.
///
/// Entries are not searched. An entry that is removed from the middle is inserted into a second list of the same kind, and
/// removed from both at their heads, or with others once there are many. So every call takes amortised constant time;
/// insertions and removals out of order take logarithmic time.
struct ReadyQueue: Hashable, Sendable {
    /// An entry: its slot, which identifies it for the caller, and its arrival number.
    struct Entry: Hashable, Sendable {
        let arrival: UInt64
        let slot: Int
    }

    let order: OperationOrder
    /// One for each level, from the first entry on.
    private var lists: [RankedList] = []
    /// A bit for each level whose list is not empty. The head of every list is an entry that was not removed.
    private var occupied: UInt8 = 0
    /// Removed entries that are still in the list of the same level. One that left a level and came back has several
    /// entries there; they are alike, so it does not matter which of them is dropped.
    private var removed: [RankedList] = []
    private var removedCount = 0
    /// Entries that were inserted and neither served nor removed.
    private(set) var count = 0

    init(order: OperationOrder = .firstInFirstOut) {
        self.order = order
    }

    var isEmpty: Bool { count == 0 }

    /// The next entry.
    var first: (entry: Entry, level: PriorityLevel)? {
        guard let level = highestLevel else { return nil }
        return (entry(lists[Int(level.rawValue)].first!), level)
    }

    /// The next entry of a level.
    func first(of level: PriorityLevel) -> Entry? {
        occupied & (1 << level.rawValue) == 0 ? nil : lists[Int(level.rawValue)].first.map(entry)
    }

    var highestLevel: PriorityLevel? {
        occupied == 0 ? nil : PriorityLevel(rawValue: UInt8(7 - occupied.leadingZeroBitCount))
    }

    private func entry(_ ranked: RankedList.Entry) -> Entry {
        Entry(arrival: order.arrival(ofRank: ranked.rank), slot: ranked.slot)
    }
}

// MARK: - Changes

extension ReadyQueue {
    mutating func insert(_ entry: Entry, at level: PriorityLevel) {
        if lists.isEmpty { lists = .forEachLevel }
        lists[Int(level.rawValue)].insert(.init(rank: order.rank(ofArrival: entry.arrival), slot: entry.slot))
        occupied |= 1 << level.rawValue
        count += 1
    }

    /// Removes an entry at any place. The queue must contain it: otherwise it would be skipped when it is inserted later.
    mutating func remove(_ entry: Entry, at level: PriorityLevel) {
        let rank = order.rank(ofArrival: entry.arrival)
        count -= 1
        if lists[Int(level.rawValue)].first?.rank == rank {
            removeHead(of: level)
        } else {
            if removed.isEmpty { removed = .forEachLevel }
            removed[Int(level.rawValue)].insert(.init(rank: rank, slot: entry.slot))
            removedCount += 1
            if removedCount > 64, removedCount > count { sweep() }
        }
    }

    /// Serves the first entry if it fits; nil if it does not, or if there is none.
    @inline(__always)
    mutating func popFirst(fitting isFitting: (_ slot: Int) -> Bool) -> Entry? {
        guard let (entry, level) = first, isFitting(entry.slot) else { return nil }
        count -= 1
        removeHead(of: level)
        return entry
    }

    /// Serves the first entry of a level; there must be one.
    mutating func popFirst(of level: PriorityLevel) {
        count -= 1
        removeHead(of: level)
    }

    /// Removes the head of a level, and the removed entries that follow it.
    private mutating func removeHead(of level: PriorityLevel) {
        lists[Int(level.rawValue)].removeFirst()
        if removedCount > 0 { skipRemoved(of: level) }
        if lists[Int(level.rawValue)].isEmpty { occupied &= ~(1 << level.rawValue) }
    }

    private mutating func skipRemoved(of level: PriorityLevel) {
        let index = Int(level.rawValue)
        while let next = removed[index].first, next.rank == lists[index].first?.rank {
            lists[index].removeFirst()
            removed[index].removeFirst()
            removedCount -= 1
        }
        assert((removed[index].first?.rank ?? .max) >= (lists[index].first?.rank ?? .max), "an entry was not there")
        if removedCount == 0 { removed = [] }
    }

    /// Drops every removed entry.
    private mutating func sweep() {
        for level in PriorityLevel.allCases {
            let index = Int(level.rawValue)
            lists[index].subtract(removed[index])
            if lists[index].isEmpty { occupied &= ~(1 << level.rawValue) }
        }
        removed = []
        removedCount = 0
    }
}

// MARK: - For tests

extension ReadyQueue {
    /// Every entry, removed ones that are still in a list included, in no particular order.
    var entriesWithRemoved: [(entry: Entry, level: PriorityLevel)] {
        PriorityLevel.allCases.flatMap { level in
            lists.isEmpty ? [] : lists[Int(level.rawValue)].entries.map { (entry($0), level) }
        }
    }
}
