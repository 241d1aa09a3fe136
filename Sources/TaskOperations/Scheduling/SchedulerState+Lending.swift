extension SchedulerState {
    /// What a wait that begins within an operation does to its permit.
    enum Lending {
        case permitIsFree
        /// One of its tasks was waiting for the permit, and now goes on without it.
        case taskGoesOn
        case nothing
    }

    /// An operation that started begins to await another one: its permit is free until the last of its waits is
    /// over. A task of it that goes on meanwhile does so without a permit: there is no way to see whether it, or
    /// only its waiting sibling, is what the operation's end depends on.
    mutating func beginWait(_ slot: Slot) -> Lending {
        records[slot].waits += 1
        switch records[slot].status {
        case .executing:
            permits.giveBack()
            records[slot].status = .lent
            return .permitIsFree
        case .returning:
            abandonReturn(slot)
            return .taskGoesOn
        case .lent:
            return .nothing
        case .waiting, .ready:
            preconditionFailure("an operation that is \(records[slot].status) began a wait")
        }
    }

    /// A wait within an operation is over. Returns whether the task has to wait for the permit.
    mutating func endWait(_ slot: Slot) -> Bool {
        precondition(records[slot].status == .lent, "a wait ended in an operation that is \(records[slot].status)")
        records[slot].waits -= 1
        if records[slot].waits > 0 { return false }
        awaitReturn(slot)
        return true
    }

    /// Gives a permit to the first operation that wants its own back. These come before anything new, also on a
    /// suspended queue: they have started. With a width of 0 they go on one after the other.
    mutating func nextReturn() -> Slot? {
        guard permits.available > 0 || permits.taken == 0, returningCount > 0 else { return nil }
        while let (entry, level) = returning.head {
            let isCurrent = isReturning(entry, level)
            returning.removeHead(of: level, isAbandoned: !isCurrent)
            if isCurrent {
                returningCount -= 1
                permits.takeBack()
                records[entry.slot].status = .executing
                return entry.slot
            }
        }
        preconditionFailure("\(returningCount) operations want their permit back, and none is in line")
    }
}
