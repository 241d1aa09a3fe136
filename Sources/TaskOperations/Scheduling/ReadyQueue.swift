/// A queue of entries: the highest level first, and within a level in the order of a policy.
///
/// It contains the ready operations of a queue, the operations that wait for their permits, or the waiting tasks of
/// `AsyncSemaphore`. The caller decides whether the first entry can be taken, because the entry may need more permits
/// than are free. No entry overtakes the first one.
///
/// A removal from the middle does not search for the entry. Instead, the entry is inserted into a second list of the
/// same kind. It leaves both lists when it is the head of both, or together with others when many entries are removed.
/// Therefore every call takes amortised constant time; insertions and removals out of order take logarithmic time.
struct ReadyQueue: Hashable, Sendable {
    /// An entry of the queue. Its slot identifies it for the caller.
    struct Entry: Hashable, Sendable {
        let arrival: UInt64
        let slot: Int
    }

    let order: OperationOrder
    /// One list for each level; empty before the first insertion.
    private var lists: [RankedList] = []
    /// One bit for each level, set if the list of the level is not empty. The head of a list is never a removed entry.
    private var occupied: UInt8 = 0
    /// Removed entries that are still in the list of the same level. An operation that left a level and returned to it
    /// has several equal entries in the list. It does not matter which of these is dropped.
    private var removed: [RankedList] = []
    private var removedCount = 0
    /// The number of entries that were inserted and neither served nor removed.
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

    /// Removes an entry at any position. The queue must contain the entry; otherwise a later insertion of the entry
    /// would be skipped.
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

    /// Removes and returns the first entry if it fits; nil if it does not fit or the queue is empty.
    @inline(__always)
    mutating func popFirst(fitting isFitting: (_ slot: Int) -> Bool) -> Entry? {
        guard let (entry, level) = first, isFitting(entry.slot) else { return nil }
        count -= 1
        removeHead(of: level)
        return entry
    }

    /// Removes the first entry of a level, which must exist.
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
    /// All entries, including removed entries that are still in a list, in no particular order.
    var entriesWithRemoved: [(entry: Entry, level: PriorityLevel)] {
        PriorityLevel.allCases.flatMap { level in
            lists.isEmpty ? [] : lists[Int(level.rawValue)].entries.map { (entry($0), level) }
        }
    }
}

/// Entries in the order of their ranks.
///
/// Entries that are inserted in order are in a first-in first-out list, with constant time. Late entries are in a heap,
/// with logarithmic time in the number of late entries. An entry is late if its operation waited for a dependency or
/// changed its priority.
struct RankedList: Hashable, Sendable {
    struct Entry: Hashable, Sendable {
        let rank: UInt64
        let slot: Int
    }

    private var punctual: [Entry] = []
    /// The index of the first entry of `punctual` that has not been removed.
    private var head = 0
    private var late = LateHeap()

    /// The number of entries in the list. Entries before `head` do not count.
    var count: Int { punctual.count - head + late.entries.count }

    var isEmpty: Bool { head == punctual.count && late.entries.isEmpty }

    /// All entries of the list, in no particular order.
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
            // This is always the case in a chain of dependencies, and costs half as much as the general case.
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

    /// Drops the unwanted entries. Calls `isUnwanted` in the order of the entries. Linear; sorts if there are late
    /// entries.
    mutating func removeAll(where isUnwanted: (Entry) -> Bool) {
        punctual = sortedEntries.filter { !isUnwanted($0) }
        head = 0
        late = LateHeap()
    }

    /// Drops the entries of another list, each of which must be in this list. Linear; sorts if either list has late
    /// entries.
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

    /// The number of entries for which an emptied list keeps its memory.
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
