// Permits that bodies lend while they await other operations.

extension SchedulerState {
    /// Raises the number of waits in an operation to `count`, if it is lower. Two threads may report the same wait,
    /// which counts once.
    mutating func beginWaits(_ slot: Slot, upTo count: Int) {
        while records[slot].waits < count { beginWait(slot) }
    }

    /// Records that an executing operation begins to await another operation. Its permits are free until the last of
    /// its waits is over. The operation's other tasks continue without permits, because the library does not know which of
    /// the tasks the operation needs in order to end.
    mutating func beginWait(_ slot: Slot) {
        let (status, level, weight) = records.update(slot) { record in
            record.waits += 1
            defer { record.status = .lent }
            return (record.status, record.level, record.weight)
        }
        switch status {
        case .executing:
            permits.giveBack(weight, at: level)
            if changes.isObserved { report(.lent, slot) }
        case .returning: effects.resumed.append(permits.cancelReturn(entry(slot), at: level))
        case .lent: break
        case .waiting, .ready: preconditionFailure("an operation that is \(status) began a wait")
        }
    }

    /// Records that a wait within an operation is over. After the last wait, the task continues when the operation has
    /// its permits back; after any other wait, it continues at once.
    mutating func endWait(_ slot: Slot, _ waiter: Waiter) {
        precondition(records[slot].status == .lent, "a wait ended in an operation that is \(records[slot].status)")
        records[slot].waits -= 1
        if records[slot].waits > 0 { return effects.resumed.append(waiter) }
        records[slot].status = .returning
        permits.awaitReturn(entry(slot), at: records[slot].level, waiter)
    }

    /// Gives the first operation that waits for its permits these permits back. Such an operation has already started,
    /// so it precedes any start, even on a suspended queue.
    mutating func nextReturn() -> Slot? {
        guard let (slot, waiter) = permits.nextReturn(weight: { [records] in records[$0].weight }) else { return nil }
        records[slot].status = .executing
        effects.resumed.append(waiter)
        if changes.isObserved { report(.returned, slot) }
        return slot
    }
}
