extension QueuedOperations {
    /// All operations that have not ended, in the order of arrival. Sorts.
    var elements: [Element] { inOrder { _ in true } }

    private func inOrder(_ isIncluded: (Record) -> Bool) -> [Element] {
        unfinished.filter(isIncluded).sorted { $0.arrival < $1.arrival }.map(\.element)
    }

    private var unfinished: [Record] {
        ending.isEmpty ? records.all : records.slots.filter { !ending.contains($0) }.map { records[$0] }
    }

    /// The operations that must end before barriers let an operation start: the barrier before it; for a barrier, also all
    /// operations between both.
    func elementsHoldingBack(_ slot: Slot) -> [Element] {
        elementsHoldingBack(records[slot].arrival, isBarrier: records[slot].isBarrier)
    }

    /// The operations that would hold back an operation that was added now.
    func elementsHoldingBackNext(isBarrier: Bool) -> [Element] {
        elementsHoldingBack(arrivals + 1, isBarrier: isBarrier)
    }

    private func elementsHoldingBack(_ arrival: UInt64, isBarrier: Bool) -> [Element] {
        let barrier = admission.barriers.last(before: arrival).map { records[$0.slot] }
        let between = isBarrier ? elements(after: barrier?.arrival ?? 0, before: arrival) : []
        return (barrier.map { [$0.element] } ?? []) + between
    }

    /// The operations between two arrivals, both excluded.
    func elements(
        after first: UInt64, before last: UInt64, where isIncluded: (Record) -> Bool = { _ in true }
    ) -> [Element] {
        guard let inArrivalOrder else { return inOrder { $0.arrival > first && $0.arrival < last && isIncluded($0) } }
        return inArrivalOrder.slots(after: first, before: last).compactMap { slot, arrival in
            guard records.holds(slot), records[slot].arrival == arrival, !ending.contains(slot),
                isIncluded(records[slot])
            else { return nil }
            return records[slot].element
        }
    }
}
