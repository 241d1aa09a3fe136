extension SchedulerState {
    /// All operations that have not ended, in the order of arrival. Sorts.
    var elements: [Element] { inOrder { _ in true } }

    private func inOrder(_ isIncluded: (Record) -> Bool) -> [Element] {
        unfinished.filter(isIncluded).sorted { $0.arrival < $1.arrival }.map(\.element)
    }

    private var unfinished: [Record] {
        ending.isEmpty ? records.all : records.slots.filter { !ending.contains($0) }.map { records[$0] }
    }

    /// What must end before barriers let an operation start: all before it for a barrier, and for any other the
    /// barriers before it. All of these and not only the nearest: that one may be cancelled at any moment.
    ///
    /// - Parameter arrival: Leaves out what arrived by then. Constant time if that is everything before.
    func elementsHoldingBack(_ slot: Slot, after arrival: UInt64 = 0) -> [Element] {
        elementsHoldingBack(records[slot].arrival, isBarrier: records[slot].isBarrier, after: arrival)
    }

    /// What would hold an operation back that was added now.
    func elementsHoldingBackNext(isBarrier: Bool, after arrival: UInt64) -> [Element] {
        elementsHoldingBack(arrivals + 1, isBarrier: isBarrier, after: arrival)
    }

    private func elementsHoldingBack(_ arrival: UInt64, isBarrier: Bool, after seen: UInt64) -> [Element] {
        if seen + 1 >= arrival { return [] }
        return isBarrier
            ? inOrder { $0.arrival > seen && $0.arrival < arrival }
            : barriers.barriers(after: seen, before: arrival).map { records[$0].element }
    }
}
