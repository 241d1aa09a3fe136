// The operations whose floor changes with an inherited level.

extension LevelFloors {
    /// Operations of a range of arrivals, below a level.
    struct Affected {
        /// They arrived after this number.
        let first: UInt64
        /// They arrived by this number.
        let last: UInt64
        let level: PriorityLevel
    }

    /// The level that barriers, and waits for the end of all, hand on to an operation.
    func level(of arrival: UInt64, isBarrier: Bool, _ barriers: BarrierLine) -> PriorityLevel {
        if isIdle { return .background }
        return isBarrier ? level(before: arrival + 1) : levelOfWhatStands(after: arrival, barriers)
    }

    /// The level inherited by the operations between an arrival and the next barrier, barriers excluded.
    private func levelOfWhatStands(after arrival: UInt64, _ barriers: BarrierLine) -> PriorityLevel {
        barriers.next(after: arrival).map { level(before: $0) } ?? ofEnd
    }

    /// Which operations have another floor after a change.
    func affected(by change: Change?, _ barriers: BarrierLine) -> Affected? {
        guard let change, lowestLevel < change.highestLevel else { return nil }
        let (low, high) = (change.arrivals.lowerBound, change.arrivals.upperBound)
        // All that has its next barrier between these; and the barriers between these, the first one included.
        let last = high == .max ? .max : barriers.last(before: high + 1)?.arrival
        guard let last else { return nil }
        let first = barriers.last(before: low + 1).map { $0.arrival == low ? low - 1 : $0.arrival } ?? 0
        return first < last ? Affected(first: first, last: last, level: change.highestLevel) : nil
    }

    /// A barrier is about to end. If it has not started, the operations before it inherit from the next barrier afterwards.
    func affected(byEndOfBarrier arrival: UInt64, _ barriers: BarrierLine) -> Affected? {
        if isIdle || barriers.open?.arrival == arrival { return nil }
        let level = level(before: arrival)
        if level == levelOfWhatStands(after: arrival, barriers) || lowestLevel >= level { return nil }
        let first = barriers.last(before: arrival)?.arrival ?? 0
        return first < arrival - 1 ? Affected(first: first, last: arrival - 1, level: level) : nil
    }
}
