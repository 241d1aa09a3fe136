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

    /// Drops the unwanted entries, of which it asks in their order. Linear; sorts if there are latecomers.
    mutating func removeAll(where isUnwanted: (Entry) -> Bool) {
        punctual = sortedEntries.filter { !isUnwanted($0) }
        head = 0
        late = LateHeap()
    }

    /// Drops the entries of another list; each must be in this one. Costs the same.
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
