// Permits that bodies lend while they await other operations.

extension SchedulerState {
    /// A number of waits are in progress in an operation that lends its permits. Waits that are counted already stay counted:
    /// two threads may report the same wait.
    mutating func beginWaits(_ slot: Slot, upTo count: Int) {
        while records[slot].waits < count { beginWait(slot) }
    }

    /// An executing operation begins to await another one: its permits are free until the last of its waits is over. Other
    /// tasks of it continue without permits, because it is unknown which of its tasks the operation's end depends on.
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

    /// A wait within an operation is over. If it was the last one, the task continues once the operation has its permits;
    /// otherwise at once.
    mutating func endWait(_ slot: Slot, _ waiter: Waiter) {
        precondition(records[slot].status == .lent, "a wait ended in an operation that is \(records[slot].status)")
        records[slot].waits -= 1
        if records[slot].waits > 0 { return effects.resumed.append(waiter) }
        records[slot].status = .returning
        permits.awaitReturn(entry(slot), at: records[slot].level, waiter)
    }

    /// Returns its permits to the first operation that waits for them. Such operations come before any start, also on a
    /// suspended queue, because they have started.
    mutating func nextReturn() -> Slot? {
        guard let (slot, waiter) = permits.nextReturn(weight: { [records] in records[$0].weight }) else { return nil }
        records[slot].status = .executing
        effects.resumed.append(waiter)
        if changes.isObserved { report(.returned, slot) }
        return slot
    }
}
