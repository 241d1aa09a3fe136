// Permits that bodies lend while they await other operations.

extension SchedulerState {
    /// Raises the number of waits in an operation to `count` if the number is lower. A wait that two threads report is
    /// therefore counted once.
    mutating func beginWaits(_ slot: Slot, upTo count: Int) {
        while records[slot].waits < count { beginWait(slot) }
    }

    /// Records that a task of an executing operation begins to await another operation. The operation's permits are
    /// free until its last wait is over. The operation's other tasks continue without permits, because the operation
    /// may need these tasks in order to end.
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
    /// its permits back. After any other wait, the task continues at once.
    mutating func endWait(_ slot: Slot, _ waiter: Waiter) {
        precondition(records[slot].status == .lent, "a wait ended in an operation that is \(records[slot].status)")
        records[slot].waits -= 1
        if records[slot].waits > 0 { return effects.resumed.append(waiter) }
        records[slot].status = .returning
        permits.awaitReturn(entry(slot), at: records[slot].level, waiter)
    }

    /// Lets the first waiting operation take its permits back. Such an operation has already started, so it precedes
    /// every start, even on a suspended queue.
    mutating func nextReturn() -> Slot? {
        guard let (slot, waiter) = permits.nextReturn(weight: { [records] in records[$0].weight }) else { return nil }
        records[slot].status = .executing
        effects.resumed.append(waiter)
        if changes.isObserved { report(.returned, slot) }
        return slot
    }
}
