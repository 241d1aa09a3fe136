/// The barriers of a queue that have not ended, and how much each still waits for.
///
/// Barriers cut the arrivals into stretches. What stands before the first barrier may start; that barrier may
/// start when nothing unfinished is left before it; everything behind it is held back.
struct BarrierLine: Hashable, Sendable {
    struct Barrier: Hashable, Sendable {
        let arrival: UInt64
        let slot: Int
        /// Unfinished operations between the barrier before and this one, barriers not counted.
        var unfinishedBefore: Int
        /// Cancelled while another barrier stands before it: it holds nothing back any more.
        var hasEnded = false
    }

    private var barriers: [Barrier] = []
    private var firstIndex = 0
    /// Barriers that have ended and are kept.
    private var endedCount = 0
    /// Unfinished operations behind the last barrier.
    private var unfinishedBehind = 0

    var first: Barrier? { firstIndex < barriers.count ? barriers[firstIndex] : nil }

    var isEmpty: Bool { firstIndex == barriers.count }

    /// The first barrier, where nothing unfinished is left before it.
    var open: Barrier? { first?.unfinishedBefore == 0 ? first : nil }

    /// Whether what arrived at this number may start, as far as barriers go.
    func admits(_ arrival: UInt64) -> Bool {
        guard let first else { return true }
        return arrival < first.arrival || (arrival == first.arrival && first.unfinishedBefore == 0)
    }

    /// The last barrier before an arrival that has not ended.
    func last(before arrival: UInt64) -> Barrier? {
        barriers[firstIndex..<index(ofFirstFrom: arrival)].last { !$0.hasEnded }
    }

    /// The arrival of the first barrier after an arrival that has not ended.
    func next(after arrival: UInt64) -> UInt64? {
        barriers[index(ofFirstFrom: arrival + 1)...].first { !$0.hasEnded }?.arrival
    }

    mutating func operationArrived() { unfinishedBehind += 1 }

    mutating func barrierArrived(_ arrival: UInt64, slot: Int) {
        barriers.append(Barrier(arrival: arrival, slot: slot, unfinishedBefore: unfinishedBehind))
        unfinishedBehind = 0
    }

    /// An operation that is no barrier has ended. Logarithmic in the number of barriers.
    mutating func operationEnded(_ arrival: UInt64) {
        let index = index(ofFirstFrom: arrival)
        if index < barriers.count {
            barriers[index].unfinishedBefore -= 1
        } else {
            unfinishedBehind -= 1
        }
    }

    /// A barrier has ended, by running or by being cancelled. Logarithmic in the number of barriers, amortised.
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

    /// Drops the barriers that have ended, and their memory. What stood before one stands before the next then.
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

    /// How many barriers there is memory for.
    var capacity: Int { barriers.capacity }

    /// The index of the first barrier with this arrival number or a later one.
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
