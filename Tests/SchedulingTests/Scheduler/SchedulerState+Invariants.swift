@testable import TaskOperations

extension SchedulerState {
    /// What the events since the last time have led to.
    mutating func takeOutbox() -> Outbox {
        var outbox: Outbox?
        handOver(to: &outbox)
        return outbox ?? Outbox()
    }

    /// What ought to hold of the state and does not, in words: empty as long as this type is right.
    ///
    /// All is counted anew from the records, by the plainest rules there are. Quadratic.
    var violations: [String] {
        var violations: [String] = []
        func check(_ holds: Bool, _ otherwise: @autoclosure () -> String) {
            if !holds { violations.append(otherwise()) }
        }
        let inOrder = records.all.sorted { $0.arrival < $1.arrival }
        checkRecords(inOrder, check)
        checkBarriers(inOrder, check)
        checkLines(inOrder, check)
        checkDecisions(inOrder, check)
        checkUpcoming(inOrder, check)
        return violations + reasonViolations
    }

    private typealias Check = (_ holds: Bool, _ otherwise: @autoclosure () -> String) -> Void

    private func checkRecords(_ inOrder: [Record], _ check: Check) {
        let executing = inOrder.count { $0.status == .executing }
        let weight = inOrder.reduce(0) { $0 + ($1.status == .executing ? $1.weight : 0) }
        check(permits.taken == weight, "\(permits.taken) permits are taken for \(executing) that execute: \(weight)")
        for record in inOrder {
            check(
                record.waits >= 0 && (record.waits > 0) == (record.status == .lent),
                "\(record.element) is \(record.status) with \(record.waits) waits")
        }
        check(intake != .closing || !inOrder.isEmpty, "an empty queue was not shut")
    }

    private func checkBarriers(_ inOrder: [Record], _ check: Check) {
        let first = inOrder.firstIndex(where: \.isBarrier)
        check(
            barriers.first?.arrival == first.map { inOrder[$0].arrival },
            "\(barriers.first, default: "none") is not the first barrier")
        check(
            barriers.first?.unfinishedBefore == first,
            "\(barriers.first?.unfinishedBefore, default: "nothing") counts as before the first barrier")
        for (index, record) in inOrder.enumerated() where record.status.hasStarted {
            check(isAdmitted(index, inOrder), "\(record.element) started past a barrier")
        }
        for slot in records.slots {
            let (record, floor) = (records[slot], floor(of: slot))
            let isRight = floor == self.floor(of: record, inOrder)
            check(isRight, "barriers hand \(floor) on to \(record.element)")
        }
    }

    private func checkLines(_ inOrder: [Record], _ check: Check) {
        let ready = inOrder.indices.filter { inOrder[$0].status == .ready }
        let admitted = ready.count { isAdmitted($0, inOrder) }
        let held = ready.count { !isAdmitted($0, inOrder) && !inOrder[$0].isBarrier }
        let wanting = inOrder.count { $0.status == .returning }
        checkLine("ready", self.ready, holds: admitted, check)
        checkLine("held back", heldBack, holds: held, check)
        checkLine("returning", returning, holds: wanting, check)
    }

    /// What is removed and still there does not pile up.
    private func checkLine(_ name: String, _ line: ReadyQueue, holds count: Int, _ check: Check) {
        check(line.count == count, "\(line.count) stand in the line \(name), and \(count) ought to")
        check(line.isEmpty == (line.first == nil), "the line \(name) has a first and is empty, or has none and is not")
        let entries = line.entriesWithRemoved.count
        check(entries >= count && entries <= max(2 * count + 1, count + 65), "\(entries) entries for \(count)")
    }

    /// What comes next is the first of all that may come.
    private func checkDecisions(_ inOrder: [Record], _ check: Check) {
        var asked = self
        let returned = asked.nextReturn().map { records[$0].arrival }
        let wanting = first(of: inOrder.filter { $0.status == .returning })
        let isFree = wanting.map { permits.fits($0.weight) || permits.taken == 0 } ?? false
        check(returned == (isFree ? wanting?.arrival : nil), "\(returned, default: "nothing") returns next")
        let isRoom = permits.taken < permits.capacity
        let mayStart = !isHalted && isRoom && !inOrder.contains { $0.status == .returning }
        let startable = inOrder.indices.filter { inOrder[$0].status == .ready && isAdmitted($0, inOrder) }
        let next = mayStart ? first(of: startable.map { inOrder[$0] }, order) : nil
        let expected = next.flatMap { permits.fits($0.weight) || permits.taken == 0 ? $0 : nil }
        asked = self
        let level = expected.map { max($0.level, floor(of: $0, inOrder)) }
        check(asked.nextLevel == level, "\(asked.nextLevel, default: "nothing") is the next level")
        let started = level.flatMap { asked.nextStart(at: $0) }.map { records[$0].arrival }
        check(started == expected?.arrival, "\(started, default: "nothing") starts next")
    }

    /// The highest level of what waits for an operation because of barriers, or for the end of all.
    private func floor(of record: Record, _ inOrder: [Record]) -> PriorityLevel {
        let barrier = inOrder.firstIndex { $0.isBarrier && $0.arrival > record.arrival }
        let behind = record.isBarrier ? inOrder.firstIndex { $0.arrival > record.arrival } : barrier
        return max(floors.ofEnd, behind.flatMap { inOrder[$0...].map(\.level).max() } ?? .background)
    }

    /// What is said to come up is the first of all that is ready, and only an end is missing for it to start.
    private func checkUpcoming(_ inOrder: [Record], _ check: Check) {
        guard let (level, entries) = upcoming(records.count) else { return }
        let isHeldUp = isHalted || inOrder.contains { $0.isBarrier || $0.status == .returning }
        check(!isHeldUp && permits.taken == permits.capacity, "what comes up is said, and is not certain")
        var ready = inOrder.filter { $0.status == .ready }
        for entry in entries {
            let next = first(of: ready, order)
            let isNext = next.map { order.rank(ofArrival: $0.arrival) } == entry.rank && next?.level == level
            check(isNext, "\(entry.rank) does not come up")
            ready.removeAll { order.rank(ofArrival: $0.arrival) == entry.rank }
        }
    }

    private func isAdmitted(_ index: Int, _ inOrder: [Record]) -> Bool {
        inOrder[index].isBarrier ? index == 0 : !inOrder[..<index].contains(where: \.isBarrier)
    }

    private func first(of records: [Record], _ order: OperationOrder = .firstInFirstOut) -> Record? {
        let highest = records.map(\.level).max()
        switch order {
        case .firstInFirstOut: return records.first { $0.level == highest }
        case .lastInFirstOut: return records.last { $0.level == highest }
        }
    }
}

extension SchedulerState.Status {
    fileprivate var hasStarted: Bool { self != .waiting && self != .ready }
}
