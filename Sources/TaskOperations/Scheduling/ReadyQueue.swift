/// A queue of entries: the highest level first, and within a level in the order of a policy.
///
/// It contains the ready operations of a queue, the operations that wait for their permits, or the waiting tasks of
/// `AsyncSemaphore`. The caller decides whether the first entry can be taken: it may need more permits than are free. No
/// entry overtakes it.
///
/// Entries are not searched. An entry that is removed from the middle is inserted into a second list of the same kind.
/// It leaves both lists when it is at both heads, or together with others once many entries are removed. So every call
/// takes amortised constant time; insertions and removals out of order take logarithmic time.
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
    /// Removed entries that are still in the list of the same level. An operation that left a level and returned to it
    /// has several equal entries there, so it does not matter which of them is dropped.
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

/// Entries in the order of their ranks.
///
/// Entries that are inserted in order are in a first-in first-out list, with constant time. Late ones (their operations
/// waited for a dependency, or changed their priority) are in a heap, with logarithmic time in the number of late entries.
struct RankedList: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        let rank: UInt64
        let slot: Int
    }

    private var punctual: [Entry] = []
    /// The index of the first entry of `punctual` that has not been removed.
    private var head = 0
    private var late = LateHeap()

    /// Entries held, removed ones not counted.
    var count: Int { punctual.count - head + late.entries.count }

    var isEmpty: Bool { head == punctual.count && late.entries.isEmpty }

    /// Every entry held, in no particular order.
    var entries: [Entry] { punctual[head...] + late.entries }

    var first: Entry? {
        guard head < punctual.count else { return late.first }
        guard let latecomer = late.first else { return punctual[head] }
        return latecomer.rank < punctual[head].rank ? latecomer : punctual[head]
    }

    mutating func insert(_ entry: Entry) {
        if let last = punctual.last, head < punctual.count, entry.rank < last.rank {
            late.insert(entry)
        } else {
            punctual.append(entry)
        }
    }

    mutating func removeFirst() {
        if let latecomer = late.first, head == punctual.count || latecomer.rank < punctual[head].rank {
            late.removeFirst()
            return
        }
        head += 1
        if punctual.count == 1 {
            // In a chain, this is the case each time, and costs half as much as the general case.
            punctual.removeLast()
            head = 0
        } else if head == punctual.count {
            punctual.removeAll(keepingCapacity: punctual.capacity <= Self.keptCapacity)
            head = 0
        } else if head > Self.keptCapacity, head * 2 > punctual.count {
            punctual.removeFirst(head)
            head = 0
        }
    }

    /// Drops the unwanted entries. Calls `isUnwanted` in the order of the entries. Linear; sorts if there are late entries.
    mutating func removeAll(where isUnwanted: (Entry) -> Bool) {
        punctual = sortedEntries.filter { !isUnwanted($0) }
        head = 0
        late = LateHeap()
    }

    /// Drops the entries of another list; each must be in this one. Linear; sorts if either list has late entries.
    mutating func subtract(_ other: RankedList) {
        if other.isEmpty { return }
        var unwanted = other.sortedEntries[...]
        removeAll { entry in
            if entry.rank != unwanted.first?.rank { return false }
            unwanted.removeFirst()
            return true
        }
        assert(unwanted.isEmpty, "\(unwanted.count) entries were not there")
    }

    private var sortedEntries: [Entry] {
        late.entries.isEmpty ? Array(punctual[head...]) : entries.sorted { $0.rank < $1.rank }
    }

    /// An emptied list gives its memory back where it had grown beyond this many entries.
    private static var keptCapacity: Int { 1024 }
}

extension [RankedList] {
    /// An empty list for each level.
    static var forEachLevel: Self { Array(repeating: RankedList(), count: PriorityLevel.allCases.count) }
}

/// A binary heap with the lowest rank first.
private struct LateHeap: Hashable, Sendable {
    private(set) var entries: [RankedList.Entry] = []

    var first: RankedList.Entry? { entries.first }

    mutating func insert(_ entry: RankedList.Entry) {
        entries.append(entry)
        var child = entries.count - 1
        while child > 0, entries[child].rank < entries[(child - 1) / 2].rank {
            entries.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() {
        let last = entries.removeLast()
        if entries.isEmpty { return }
        entries[0] = last
        siftDown(from: 0)
    }

    private mutating func siftDown(from start: Int) {
        var parent = start
        while true {
            var child = 2 * parent + 1
            if child >= entries.count { return }
            if child + 1 < entries.count, entries[child + 1].rank < entries[child].rank { child += 1 }
            if entries[parent].rank <= entries[child].rank { return }
            entries.swapAt(parent, child)
            parent = child
        }
    }
}

// MARK: - The order within a level

// No other code assumes an order.
extension OperationOrder {
    /// The rank of an arrival within a level; lower ranks start first.
    func rank(ofArrival arrival: UInt64) -> UInt64 {
        switch self {
        case .firstInFirstOut: arrival
        case .lastInFirstOut: .max - arrival
        }
    }

    /// The arrival of a rank.
    func arrival(ofRank rank: UInt64) -> UInt64 {
        switch self {
        case .firstInFirstOut: rank
        case .lastInFirstOut: .max - rank
        }
    }
}
