// The selection of the next operation. Nothing is changed here.

extension SchedulerState {
    /// How many operations could start now, one after the other, if all had the weight 1 and nothing but permits were asked
    /// for.
    @inline(__always)
    var startableCount: Int {
        if isHalted || lending.isAwaitedBack { return 0 }
        if isPlain { return min(ready.count, permits.available) }
        let count = min(ready.count, permits.available)
        return pace.startableCount(atMost: count)
    }

    /// The level of the next operation's task: its own level, or a higher one that all operations inherit.
    @inline(__always)
    var nextLevel: PriorityLevel? {
        if startableCount == 0 { return nil }
        return isPlain ? firstLevel : selection?.taskLevel
    }

    /// The level of the task of the first ready operation.
    @inline(__always)
    var firstLevel: PriorityLevel? {
        guard let level = ready.highestLevel else { return nil }
        if operations.floors.isIdle { return level }
        // Not `floor(of:)`, for which the whole state would be copied each time.
        let next = records[ready.first!.entry.slot]
        return max(level, operations.floors.level(of: next.arrival, isBarrier: next.isBarrier, barriers))
    }

    typealias Selection = (slot: Slot, level: PriorityLevel, set: Int?, taskLevel: PriorityLevel)

    /// The next operation in a queue with policies.
    ///
    /// A level at its limit is skipped. An operation that waits for permits of the queue is not.
    var selection: Selection? {
        if pace.hasAgeing {
            for (slot, level, set) in firstOfLevels {
                if lending.isOpen(level, for: records[slot].weight) { return selected(slot, level, set) }
            }
            return nil
        }
        for level in PriorityLevel.allCases.reversed() {
            guard let (slot, set) = operations.admission.first(of: level) else { continue }
            if lending.isOpen(level, for: records[slot].weight) { return selected(slot, level, set) }
        }
        return nil
    }

    private func selected(_ slot: Slot, _ level: PriorityLevel, _ set: Int?) -> Selection? {
        permits.admits(records[slot].weight) ? (slot, level, set, max(level, floor(of: slot))) : nil
    }

    /// Whether the rate lets nothing start now.
    var isRateReached: Bool { pace.startableCount(atMost: 1) == 0 }

    /// The first ready operation of each level, in the order in which they are to start.
    var firstOfLevels: [(slot: Slot, level: PriorityLevel, set: Int?)] {
        let all = PriorityLevel.allCases.reversed().compactMap { level in
            operations.admission.first(of: level).map { (slot: $0.slot, level: level, set: $0.set) }
        }
        if !pace.hasAgeing { return all }
        return all.map { (first: $0, level: pace.orderLevel(of: $0.slot, $0.level)) }
            .sorted { one, other in
                if one.level != other.level { return one.level > other.level }
                return records[one.first.slot].arrival < records[other.first.slot].arrival
            }
            .map(\.first)
    }
}
