/// Operations in the order of arrival. The index finds the operations between two arrivals.
///
/// Ended operations remain as entries, and are removed together once they are more than half of the entries. Adding and
/// ending take amortised constant time; a search is linear in the number of operations between.
struct ArrivalIndex: Sendable {
    private struct Entry: Sendable {
        let arrival: UInt64
        let slot: Int
    }

    private var entries: [Entry] = []
    private var endedCount = 0

    /// Creates an index of operations, which are sorted by arrival.
    init(_ operations: [(arrival: UInt64, slot: Int)]) {
        entries = operations.map { Entry(arrival: $0.arrival, slot: $0.slot) }.sorted { $0.arrival < $1.arrival }
    }

    /// Adds an operation that arrived after all operations in the index.
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

    /// The slots of operations that arrived between two arrivals, both excluded. Some of these operations may have
    /// ended, and other operations may use their slots now.
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
