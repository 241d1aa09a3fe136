/// The barriers of a queue that have not ended, and the number of operations for which each still waits.
///
/// Barriers divide the arrivals into sections. Operations before the first barrier may start. That barrier may start when
/// all operations before it have finished. It holds back all operations behind it.
struct BarrierLine: Hashable, Sendable {
    struct Barrier: Hashable, Sendable {
        let arrival: UInt64
        let slot: Int
        /// Unfinished operations between the barrier before and this one, barriers not counted.
        var unfinishedBefore: Int
        /// Whether it was cancelled while there was a barrier before it: it no longer holds operations back.
        var hasEnded = false
    }

    private var barriers: [Barrier] = []
    private var firstIndex = 0
    /// Barriers that have ended and are kept.
    private var endedCount = 0
    /// Unfinished operations behind the last barrier.
    private var unfinishedBehind: Int

    /// - Parameter unfinished: The number of operations that are in the queue already, none of which is a barrier.
    init(unfinished: Int = 0) {
        unfinishedBehind = unfinished
    }

    var first: Barrier? { firstIndex < barriers.count ? barriers[firstIndex] : nil }

    var isEmpty: Bool { firstIndex == barriers.count }

    /// The first barrier, where nothing unfinished is left before it.
    var open: Barrier? { first?.unfinishedBefore == 0 ? first : nil }

    /// Whether barriers let the operation with this arrival number start.
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

    /// Removes the barriers that have ended, and their memory. Their sections become parts of the next ones.
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
