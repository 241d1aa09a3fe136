// How operations stand in the three lines of a queue. None is searched for when it leaves: an entry counts only as
// long as the record says the same as the entry, and is skipped, or swept away, once it does not.

extension SchedulerState {
    /// An operation is ready and takes its place: among those that may start, or behind the barrier before it.
    mutating func lineUp(_ slot: Slot) {
        records[slot].status = .ready
        let entry = ReadyOrder.Entry(arrival: records[slot].arrival, slot: slot)
        if barriers.admits(entry.arrival) {
            ready.insert(entry, at: records[slot].level)
            readyCount += 1
        } else if !records[slot].isBarrier {
            heldBack.insert(entry, at: Self.heldBackLevel)
        }
    }

    /// A ready operation is about to change or to end, and counts as waiting. It does so before the sweep, which
    /// would keep its entry otherwise.
    mutating func leaveLine(_ slot: Slot) {
        records[slot].status = .waiting
        if barriers.admits(records[slot].arrival) {
            readyCount -= 1
            if ready.abandonOne() { ready.sweep { [self] in isReady($0, $1) } }
        } else if !records[slot].isBarrier {
            if heldBack.abandonOne() { heldBack.sweep { [self] entry, _ in isReady(entry) } }
        }
    }

    mutating func awaitReturn(_ slot: Slot) {
        records[slot].status = .returning
        returning.insert(.init(arrival: records[slot].arrival, slot: slot), at: records[slot].level)
        returningCount += 1
    }

    /// An operation that wants its permit back is about to change or to end, and counts as still waiting for others.
    mutating func abandonReturn(_ slot: Slot) {
        records[slot].status = .lent
        returningCount -= 1
        if returning.abandonOne() { returning.sweep { [self] in isReturning($0, $1) } }
    }

    /// The first barrier has ended: what it alone held back may start. An operation that left its place and came
    /// back to it has several entries, one after the other; it lines up once.
    mutating func releaseHeldBack() {
        var released: ReadyOrder.Entry?
        while let (entry, level) = heldBack.head {
            let isCurrent = isReady(entry) && entry != released
            if isCurrent, !barriers.admits(entry.arrival) { break }
            heldBack.removeHead(of: level, isAbandoned: !isCurrent)
            if isCurrent {
                lineUp(entry.slot)
                released = entry
            }
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
