@testable import TaskOperations

// The reasons that the state reports for an operation are right if the operation starts once all of them are removed,
// and does not start while one of them remains.

extension SchedulerState {
    /// Descriptions of the errors in the reasons that the state reports.
    var reasonViolations: [String] {
        var violations: [String] = []
        let all = allReasons
        if all.map(\.slot) != rows.slots.filter({ !finishing.contains($0) }).sorted(by: arrivedBefore) {
            violations.append("the reasons are not those of all operations, in order")
        }
        for (slot, reasons) in all {
            let name = rows[slot].element
            if self.reasons(of: slot) != reasons {
                violations.append("\(name): \(self.reasons(of: slot)) alone, \(reasons) among all")
            }
            violations += wrongs(of: slot, reasons).map { "\(name), \(rows[slot].status), \(reasons): \($0)" }
        }
        return violations
    }

    private func arrivedBefore(_ left: Slot, _ right: Slot) -> Bool { rows[left].arrival < rows[right].arrival }

    private func wrongs(of slot: Slot, _ reasons: [QueueReason]) -> [String] {
        switch rows[slot].status {
        case .executing, .lent: return reasons.isEmpty ? [] : ["it executes"]
        case .returning: return comesNext(slot, without: reasons[...]) ? [] : ["it does not return without these"]
        case .waiting: return startViolations(slot, reasons, needsDependencies: true)
        case .ready: return startViolations(slot, reasons, needsDependencies: false)
        }
    }

    private func startViolations(_ slot: Slot, _ reasons: [QueueReason], needsDependencies: Bool) -> [String] {
        var violations: [String] = []
        if reasons.contains(.dependencies) != needsDependencies { violations.append("dependencies are otherwise") }
        if reasons.isEmpty { violations.append("there is no reason") }
        var rest = self
        for reason in reasons { rest.remedy(reason, of: slot) }
        // The reported reasons may hide further ones.
        var rounds: [[QueueReason]] = []
        while rounds.count < 5, !rest.isNext(slot), rest.rows.holds(slot) {
            rounds.append(rest.reasons(of: slot))
            for reason in rounds.last! { rest.remedy(reason, of: slot) }
        }
        if !rest.isNext(slot) { violations.append("it does not start without these, nor without \(rounds)") }
        let isBehind = reasons.contains { if case .turn = $0 { true } else { false } }
        for index in reasons.indices where reasons[index] != .worker {
            // These reasons may belong to the first operation in line, which may need more permits than this one.
            if isBehind, reasons[index].isOfWidth { continue }
            // If an operation gets its permits back, it may fill the level of an operation that is before it.
            if isBehind, permits.caps != nil, !returning.isEmpty { continue }
            if comesNext(slot, without: reasons[..<index] + reasons[(index + 1)...]) {
                violations.append("it starts though \(reasons[index])")
            }
        }
        let isNext = isNext(slot)
        if isNext != (reasons == [.worker]) { violations.append("it starts next: \(isNext)") }
        return violations
    }

    private func comesNext(_ slot: Slot, without reasons: ArraySlice<QueueReason>) -> Bool {
        var rest = self
        for reason in reasons { rest.remedy(reason, of: slot) }
        return rest.isNext(slot)
    }

    /// Whether the operation is the next one to continue or start.
    private func isNext(_ slot: Slot) -> Bool {
        var asked = self
        if rows[slot].status == .returning { return asked.nextReturn() == slot }
        guard let level = asked.peekedLevel else { return false }
        return asked.nextStart(at: level) == slot
    }

    private mutating func openLevels() {
        for level in PriorityLevel.allCases { setCap(100, at: level) }
    }

    /// Removes a reason.
    private mutating func remedy(_ reason: QueueReason, of slot: Slot) {
        let (before, record) = (self, rows[slot])
        switch reason {
        case .dependencies: setReady(slot, true)
        case .barrier(let barrier): endAll { $0.arrival <= before.rows[barrier].arrival }
        case .operationsBefore:
            let first = barriers.last(before: record.arrival)?.arrival ?? 0
            endAll { $0.arrival > first && $0.arrival < record.arrival }
        case .suspended: setSuspended(false)
        case .held: while startBlockers > 0 { unblockStarts() }
        case .turn: for other in before.rows.slots where before.served(other, before: slot) { _ = end(other) }
        case .permits:
            setWidth(100)
            if rows[slot].status == .returning { return }
            while nextReturn() != nil {}
            // The limit of its level can hold up an operation that takes its permits back, and all behind it.
            if permits.isAwaitedBack { openLevels() }
            while nextReturn() != nil {}
        case .level: openLevels()
        case .limits: limitedOperations.set(of: slot).map { claimWasServed($0, .taken) }
        case .rate: advance(to: pace.time.told + max(.zero, pace.tokens!.nextStart - pace.time.now))
        case .worker: break
        }
    }

    private mutating func endAll(_ isUnwanted: (Row) -> Bool) {
        for slot in rows.slots.filter({ isUnwanted(rows[$0]) }) { _ = end(slot) }
    }

    /// Whether an operation is in the same line as another and is served first.
    private func served(_ slot: Slot, before otherSlot: Slot) -> Bool {
        let (record, other) = (rows[slot], rows[otherSlot])
        guard record.status == other.status, barriers.admits(record.arrival) || other.status == .returning else {
            return false
        }
        if record.level != other.level { return record.level > other.level }
        let isNewestFirst = order == .lastInFirstOut && other.status == .ready
        return isNewestFirst ? record.arrival > other.arrival : record.arrival < other.arrival
    }
}

extension QueueReason {
    /// Whether the width of the queue, or of a level, is the reason.
    fileprivate var isOfWidth: Bool {
        switch self {
        case .permits, .level: true
        default: false
        }
    }
}
