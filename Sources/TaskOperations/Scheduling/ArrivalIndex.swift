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
        var index = index(ofFirstAfter: first)
        while index < entries.count, entries[index].arrival < last {
            found.append((entries[index].slot, entries[index].arrival))
            index += 1
        }
        return found
    }

    private func index(ofFirstAfter arrival: UInt64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].arrival <= arrival { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
