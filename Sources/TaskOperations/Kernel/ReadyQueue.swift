/// Entries in the order of their levels, highest level first. A `TaskOperationQueue.Configuration.Order` decides the
/// order within a level.
///
/// The entries are ready operations, operations that wait to take their permits back, or waiting tasks of an
/// `AsyncSemaphore`. The caller decides whether to take the first entry, because the entry may need more permits than
/// are free.
///
/// A removal from the middle does not search for the entry, but inserts the entry into a second list. The entry leaves
/// both lists when it is the head of both. If many entries are removed, all of them leave both lists together.
/// Insertions and removals out of order take amortised logarithmic time. Every other call takes amortised constant
/// time.
struct ReadyQueue: Sendable {
    /// An entry of the queue. The caller identifies the entry by its slot.
    struct Entry: Hashable, Sendable {
        let arrival: UInt64
        let slot: Int
    }

    let order: TaskOperationQueue.Configuration.Order
    /// One bit for each level, set if the list of the level is not empty.
    private var occupied: UInt8 = 0
    /// One list for each level; empty before the first insertion. The head of a list is never a removed entry.
    private var lists: [RankedList<RankedSlot>] = []
    /// The removed entries of each level that are still in its list. An operation that left a level and returned to it
    /// has several equal entries in the list. The queue may drop any of them.
    private var removed: [RankedList<RankedSlot>] = []
    private var removedCount = 0
    /// The number of entries, without removed entries.
    private(set) var count = 0

    init(order: TaskOperationQueue.Configuration.Order = .firstInFirstOut) {
        self.order = order
    }

    var isEmpty: Bool { count == 0 }

    var first: (entry: Entry, level: PriorityLevel)? {
        guard let level = highestLevel else { return nil }
        return (entry(lists[Int(level.rawValue)].first!), level)
    }

    func first(of level: PriorityLevel) -> Entry? {
        occupied & (1 << level.rawValue) == 0 ? nil : entry(lists[Int(level.rawValue)].first!)
    }

    var highestLevel: PriorityLevel? { Self.highestLevel(in: occupied) }

    /// The highest level with an entry among those below a level.
    func highestLevel(below level: PriorityLevel) -> PriorityLevel? {
        Self.highestLevel(in: occupied & ((1 << level.rawValue) - 1))
    }

    private static func highestLevel(in levels: UInt8) -> PriorityLevel? {
        levels == 0 ? nil : PriorityLevel(rawValue: UInt8(7 - levels.leadingZeroBitCount))
    }

    private func entry(_ ranked: RankedSlot) -> Entry {
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

    /// Removes an entry at any position. The queue must contain the entry. Otherwise, a later insertion of the same
    /// entry would have no effect.
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

    /// Removes and returns the first entry; nil if the queue is empty.
    mutating func popFirst() -> Entry? {
        guard let level = highestLevel else { return nil }
        return popFirst(of: level)
    }

    /// Removes and returns the first entry of a level, which must have an entry.
    @discardableResult
    mutating func popFirst(of level: PriorityLevel) -> Entry {
        count -= 1
        return entry(removeHead(of: level))
    }

    /// Removes and returns the head of a level's list. Also removes the removed entries directly behind it.
    @discardableResult
    private mutating func removeHead(of level: PriorityLevel) -> RankedSlot {
        let head = lists[Int(level.rawValue)].removeFirst()
        if removedCount > 0 { skipRemoved(of: level) }
        if lists[Int(level.rawValue)].isEmpty { occupied &= ~(1 << level.rawValue) }
        return head
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
    /// All entries in no particular order, including entries that were removed and not yet dropped.
    var entriesWithRemoved: [(entry: Entry, level: PriorityLevel)] {
        PriorityLevel.allCases.flatMap { level in
            lists.isEmpty ? [] : lists[Int(level.rawValue)].elements.map { (entry($0), level) }
        }
    }
}

/// A slot and its rank within a level. Lower ranks leave first.
struct RankedSlot: Hashable, HeapElement {
    let rank: UInt64
    let slot: Int

    func isBefore(_ other: Self) -> Bool { rank < other.rank }
}

extension [RankedList<RankedSlot>] {
    /// An empty list for each level.
    static var forEachLevel: Self { Array(repeating: RankedList(), count: PriorityLevel.allCases.count) }
}

// MARK: - The order within a level

// Only this extension defines an order. Other code compares ranks.
extension TaskOperationQueue.Configuration.Order {
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
