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
