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
        var low = firstIndex
        var high = barriers.count
        while low < high {
            let middle = (low + high) / 2
            if barriers[middle].arrival < arrival { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
