// How operations stand in the three lines of a queue. None is searched for when it leaves: an entry counts only as
// long as the record says the same as the entry, and is skipped, or swept away, once it does not.

extension SchedulerState {
    /// A ready operation takes its place: among those that may start, or behind the barrier before it.
    mutating func lineUp(_ slot: Slot) {
        let entry = ReadyOrder.Entry(arrival: records[slot].arrival, slot: slot)
        if barriers.admits(entry.arrival) {
            ready.insert(entry, at: records[slot].level)
            readyCount += 1
        } else if !records[slot].isBarrier {
            heldBack.insert(entry, at: Self.heldBackLevel)
        }
    }

    /// A ready operation is about to change or to end.
    mutating func leaveLine(_ slot: Slot) {
        if barriers.admits(records[slot].arrival) {
            readyCount -= 1
            if ready.abandonOne() { ready.sweep { [self] in isReady($0, $1) } }
        } else if !records[slot].isBarrier {
            if heldBack.abandonOne() { heldBack.sweep { [self] entry, _ in isReady(entry) } }
        }
    }

    mutating func awaitReturn(_ slot: Slot) {
        returning.insert(.init(arrival: records[slot].arrival, slot: slot), at: records[slot].level)
        returningCount += 1
    }

    mutating func abandonReturn(_ slot: Slot) {
        returningCount -= 1
        if returning.abandonOne() { returning.sweep { [self] in isReturning($0, $1) } }
    }

    /// The first barrier has ended: what it alone held back may start.
    mutating func releaseHeldBack() {
        while let (entry, level) = heldBack.head {
            let isCurrent = isReady(entry)
            if isCurrent, !barriers.admits(entry.arrival) { break }
            heldBack.removeHead(of: level, isAbandoned: !isCurrent)
            if isCurrent { lineUp(entry.slot) }
        }
    }

    func isReady(_ entry: ReadyOrder.Entry, _ level: PriorityLevel? = nil) -> Bool {
        isCurrent(entry, .ready, level)
    }

    func isReturning(_ entry: ReadyOrder.Entry, _ level: PriorityLevel) -> Bool {
        isCurrent(entry, .returning, level)
    }

    private func isCurrent(_ entry: ReadyOrder.Entry, _ status: Status, _ level: PriorityLevel?) -> Bool {
        guard records.holds(entry.slot), records[entry.slot].arrival == entry.arrival else { return false }
        return records[entry.slot].status == status && (level ?? records[entry.slot].level) == records[entry.slot].level
    }

    private static var heldBackLevel: PriorityLevel { .medium }
}
