/// Entries in the order of their levels, highest level first. A `TaskOperationQueue.Configuration.Order` decides the
/// order within a level.
///
/// The entries are ready operations, operations that wait to take their permits back, or waiting tasks of an
/// `AsyncSemaphore`. The caller decides whether to take the first entry, because the entry may need more permits than
/// are free.
///
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
    /// One list for each level; empty before the first insertion.
    private var lists: [EntryList] = []
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
        if lists.isEmpty { lists = Array(repeating: EntryList(), count: PriorityLevel.allCases.count) }
        lists[Int(level.rawValue)].insert(RankedSlot(entry, order))
        occupied |= 1 << level.rawValue
        count += 1
    }

    /// Removes an entry at any position; see `EntryList.remove`.
    mutating func remove(_ entry: Entry, at level: PriorityLevel) {
        lists[Int(level.rawValue)].remove(RankedSlot(entry, order))
        noteRemoval(at: level)
    }

    /// Removes and returns the first entry; nil if the queue is empty.
    mutating func popFirst() -> Entry? {
        guard let level = highestLevel else { return nil }
        return popFirst(of: level)
    }

    /// Removes and returns the first entry of a level, which must have an entry.
    @discardableResult
    mutating func popFirst(of level: PriorityLevel) -> Entry {
        // Not within the call of `entry`, whose copy of the queue would make the list copy its memory.
        let first = lists[Int(level.rawValue)].removeFirst()
        noteRemoval(at: level)
        return entry(first)
    }

    private mutating func noteRemoval(at level: PriorityLevel) {
        count -= 1
        if lists[Int(level.rawValue)].isEmpty { occupied &= ~(1 << level.rawValue) }
    }
}

// MARK: - For tests

extension ReadyQueue {
    /// All entries in no particular order, including entries that were removed and not yet dropped.
    var entriesWithRemoved: [(entry: Entry, level: PriorityLevel)] {
        PriorityLevel.allCases.flatMap { level in
            lists.isEmpty ? [] : lists[Int(level.rawValue)].entriesWithRemoved.map { (entry($0), level) }
        }
    }
}

/// A slot and its rank within a level. Lower ranks leave first.
struct RankedSlot: Hashable, HeapElement {
    let rank: UInt64
    let slot: Int

    func isBefore(_ other: Self) -> Bool { rank < other.rank }
}

extension RankedSlot {
    init(_ entry: ReadyQueue.Entry, _ order: TaskOperationQueue.Configuration.Order) {
        self.init(rank: order.rank(ofArrival: entry.arrival), slot: entry.slot)
    }
}

/// Entries in the order of their ranks. No two entries have the same rank, unless one of them was removed.
///
/// A removal from the middle does not search for the entry, but notes it. The entry leaves the list when it becomes
/// the head. If many entries are removed, all of them leave the list together.
struct EntryList: Sendable {
    /// The head is never a removed entry.
    private var entries = RankedList<RankedSlot>()
    /// The removed entries that are still in `entries`.
    private var removed: Set<RankedSlot> = []

    /// The number of entries, without removed entries.
    var count: Int { entries.count - removed.count }

    var isEmpty: Bool { entries.isEmpty }

    var first: RankedSlot? { entries.first }

    mutating func insert(_ entry: RankedSlot) {
        // An entry that was removed and returns is still there. With another slot, it is another entry.
        if !removed.isEmpty, removed.remove(entry) != nil { return }
        entries.insert(entry)
    }

    /// Removes an entry at any position. The list must contain the entry.
    mutating func remove(_ entry: RankedSlot) {
        if entries.first == entry {
            removeFirst()
            return
        }
        removed.insert(entry)
        if removed.count > 64, removed.count > count { dropRemoved() }
    }

    /// Removes and returns the first entry of the list, which must not be empty.
    @discardableResult
    mutating func removeFirst() -> RankedSlot {
        let first = entries.removeFirst()
        if !removed.isEmpty { skipRemoved() }
        return first
    }

    /// Drops the removed entries at the head.
    private mutating func skipRemoved() {
        while let next = entries.first, removed.remove(next) != nil { entries.removeFirst() }
        if removed.isEmpty { removed = [] }
    }

    private mutating func dropRemoved() {
        let removed = exchange(&removed, with: [])
        let count = entries.count
        entries.removeAll { removed.contains($0) }
        assert(entries.count == count - removed.count, "a removed entry was not there")
    }

    /// All entries in no particular order, including removed ones.
    var entriesWithRemoved: [RankedSlot] { entries.elements }
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
