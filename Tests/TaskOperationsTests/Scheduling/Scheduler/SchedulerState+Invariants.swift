@testable import TaskOperations

extension SchedulerState.Effects {
    /// The operations to end for the reason.
    func rejected(_ reason: SchedulerState.Rejection.Reason) -> [Element] {
        rejected.filter { $0.reason == reason }.map(\.element)
    }
}

extension SchedulerState {
    /// Descriptions of the invariants that the state violates; empty if the state is consistent.
    ///
    /// Recomputes everything from the records by the simplest rules, in O(*n*²) time.
    var violations: [String] {
        var violations: [String] = []
        func check(_ holds: Bool, _ otherwise: @autoclosure () -> String) {
            if !holds { violations.append(otherwise()) }
        }
        // A barrier with a delay is in no line, and affects no other operation.
        let outside = rows.slots.filter(isOutsideLine)
        let inOrder = rows.slots.filter { !isOutsideLine($0) }.map { rows[$0] }.sorted { $0.arrival < $1.arrival }
        for slot in outside { check(rows[slot].status == .waiting, "\(rows[slot].element) has a delay") }
        checkRecords(inOrder, check)
        checkBarriers(inOrder, check)
        checkLines(inOrder, check)
        checkDecisions(inOrder, check)
        checkInbox(check)
        return violations
    }

    private typealias Check = (_ holds: Bool, _ otherwise: @autoclosure () -> String) -> Void

    private func checkRecords(_ inOrder: [Row], _ check: Check) {
        let executing = inOrder.count { $0.status == .executing }
        let weight = inOrder.reduce(0) { $0 + ($1.status == .executing ? $1.weight : 0) }
        check(width.taken == weight, "\(width.taken) permits are taken for \(executing) that execute: \(weight)")
        for level in PriorityLevel.allCases {
            let expected = inOrder.reduce(0) { $0 + ($1.status == .executing && $1.level == level ? $1.weight : 0) }
            let taken = permits.caps.map { $0[level].taken } ?? expected
            check(taken == expected, "\(taken) permits of level \(level) are taken, and ought to be \(expected)")
        }
        check(
            admission.state != .closing || !isEmpty || !admission.producers.isEmpty,
            "an empty queue was not shut")
        checkRoom(check)
    }

    private func checkRoom(_ check: Check) {
        let unstarted = rows.slots.filter { !rows[$0].status.hasStarted }
        let dropCount = selection.optionalPolicies?.value.dropOrder?.queued.count
        let pending = unstarted.filter { !finishing.contains($0) }
        check(queuedCount == pending.count, "\(queuedCount) count as pending of \(pending.count)")
        check(dropCount == nil || dropCount == pending.count, "\(dropCount ?? 0) can be dropped")
        check(
            admission.state.accepts || admission.producers.isEmpty,
            "there is no room any more, and \(admission.producers.count) wait for it"
        )
        for slot in unstarted where finishing.contains(slot) {
            check(rows[slot].status == .waiting, "\(rows[slot].element) is dropped and may start")
        }
    }

    private func checkBarriers(_ inOrder: [Row], _ check: Check) {
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
        for slot in rows.slots {
            let (record, floor) = (rows[slot], floor(of: slot))
            let isRight = floor == self.floor(of: record, isOutsideLine(slot) ? [] : inOrder)
            check(isRight, "barriers hand \(floor) on to \(record.element)")
        }
    }

    private func checkLines(_ inOrder: [Row], _ check: Check) {
        let ready = inOrder.indices.filter { inOrder[$0].status == .ready }
        let admitted = ready.filter { isAdmitted($0, inOrder) }
        for set in limitedOperations.sets.slots {
            let members = rows.slots.filter { limitedOperations.set(of: $0) == set }
            let parked = members.filter { limitedOperations.isParked($0) }
            checkQueue("of set \(set)", limitedOperations.sets[set].parked, holds: parked.map(place), check)
            check(limitedOperations.sets[set].operationCount == members.count, "set \(set) counts wrong")
            if case .claimed(let level, _) = limitedOperations.sets[set].availability {
                check(limitedOperations.sets[set].parked.highestLevel == level, "set \(set) claims at \(level)")
            } else {
                let isTried = members.contains { rows[$0].status == .ready && !limitedOperations.isParked($0) }
                check(parked.isEmpty || isTried, "operations of set \(set) are parked for ever")
            }
        }
        let sets = limitedOperations.sets.slots
        let holders = sets.compactMap { limitedOperations.holder(of: $0) }
        let services = sets.compactMap { set in
            limitedOperations.holder(of: set).map { Place($0.level, $0.service, slot: set) }
        }
        checkQueue("held", limitedOperations.held, holds: services, check)
        for holder in holders {
            let record = rows[holder.entry.slot]
            let isSame = (record.arrival, record.level) == (holder.entry.arrival, holder.level)
            check(record.status == .ready && isSame, "limits are held for \(record.element), which is \(record.status)")
        }
        let keepers = sets.filter { set in
            if case .claimed(_, isKeeping: true) = limitedOperations.sets[set].availability { true } else { false }
        }
        check(limitedOperations.keeping.sorted() == keepers, "\(limitedOperations.keeping) keep, not \(keepers)")
        let held = ready.count { !isAdmitted($0, inOrder) && !inOrder[$0].isBarrier }
        let wanting = rows.slots.filter { rows[$0].status == .returning }
        let elsewhere = parkedArrivals.union(holders.map(\.entry.arrival))
        let untried = admitted.map { slot(inOrder[$0]) }.filter { !elsewhere.contains(rows[$0].arrival) }
        checkQueue("ready", selection.ready, holds: untried.map(place), check)
        checkQueue("returning", returning, holds: wanting.map(place), check)
        check(heldBack.count == held, "\(heldBack.count) are held back, and \(held) ought to be")
        checkMemory("held back", heldBack.entriesWithRemoved.count, for: held, listCount: 1, check)
    }

    /// The arrivals of operations that wait for their limits.
    private var parkedArrivals: Set<UInt64> {
        Set(rows.slots.filter { limitedOperations.isParked($0) }.map { rows[$0].arrival })
    }

    /// An entry of a `ReadyQueue`.
    private struct Place: Hashable {
        let level: PriorityLevel
        let entry: ReadyQueue.Entry

        init(_ level: PriorityLevel, _ arrival: UInt64, slot: Int) {
            (self.level, entry) = (level, .init(arrival: arrival, slot: slot))
        }
    }

    private func place(_ slot: Slot) -> Place { Place(rows[slot].level, rows[slot].arrival, slot: slot) }

    /// Checks that a queue contains some entries, in its order.
    private func checkQueue(_ name: String, _ queue: ReadyQueue, holds places: [Place], _ check: Check) {
        let expected = places.sorted { left, right in
            if left.level != right.level { return left.level > right.level }
            return queue.order.rank(ofArrival: left.entry.arrival) < queue.order.rank(ofArrival: right.entry.arrival)
        }
        var (rest, actual) = (queue, [Place]())
        while let (entry, level) = rest.first {
            _ = rest.popFirst()
            actual.append(Place(level, entry.arrival, slot: entry.slot))
        }
        check(actual == expected, "\(actual) are in the queue \(name), and \(expected) ought to be")
        check(queue.count == actual.count, "the queue \(name) counts \(queue.count) of \(actual.count)")
        check(queue.isEmpty == (queue.first == nil), "the queue \(name) has a first and is empty, or neither")
        let listCount = PriorityLevel.allCases.count
        checkMemory(name, queue.entriesWithRemoved.count, for: places.count, listCount: listCount, check)
    }

    /// Removed entries that are still stored must not accumulate.
    private func checkMemory(_ name: String, _ entries: Int, for count: Int, listCount: Int, _ check: Check) {
        let most = max(2 * count, count + 64 * listCount) + listCount
        check(entries >= count && entries <= most, "\(name): \(entries) entries for \(count)")
    }

    /// Checks that arrivals of operations have no effects at each level for which the inbox is open.
    private func checkInbox(_ check: Check) {
        var settled = self
        settled.computeEffects()
        _ = settled.takeEffects()
        guard let open = settled.levelForInbox else { return }
        for level in PriorityLevel.allCases where level <= open {
            for weights in [[1, 1, 1], [1, 2, 3]] {
                var later = settled
                for weight in weights {
                    let slot = later.nextSlot
                    later.insert(
                        rows.all[0].element, Newcomer(level: level, isReady: true, weight: weight), at: slot)
                }
                later.computeEffects()
                // A heavy operation that is first may wait for more permits. The next event finds it.
                let isSameLevel = weights.last! > 1 || later.peekedLevel == settled.peekedLevel
                check(
                    later.effects.isEmpty && isSameLevel,
                    "the inbox is open at \(open), and operations of level \(level) have effects")
            }
        }
    }

    /// Checks that the next operation is the first of those that may start.
    private func checkDecisions(_ inOrder: [Row], _ check: Check) {
        var asked = self
        let returned = asked.nextReturn().map { rows[$0].arrival }
        let wanting = first(of: inOrder.filter { $0.status == .returning && isOpen($0.level) })
        let isFree = wanting.map { fits($0.weight, width) && fits($0.weight, permits.caps?[$0.level]) } ?? false
        check(returned == (isFree ? wanting?.arrival : nil), "\(returned, default: "nothing") returns next")
        let isRoom = width.taken < width.capacity
        let hasToken = pace.tokens.map { $0.nextStart <= pace.time.now } ?? true
        let mayStart = !isHalted && isRoom && wanting == nil && hasToken
        let parked = parkedArrivals
        let startable = inOrder.indices.filter {
            inOrder[$0].status == .ready && isAdmitted($0, inOrder) && !parked.contains(inOrder[$0].arrival)
        }
        var waiting = mayStart ? startable.map { inOrder[$0] } : []
        var expected = next(of: waiting)
        asked = self
        let level = expected.map { max($0.level, floor(of: $0, inOrder)) }
        check(asked.peekedLevel == level, "\(asked.peekedLevel, default: "nothing") is the next level")
        // An operation whose limits are claimed at its level or above does not try them, and is parked at its turn.
        // An operation that has just taken its limits starts after those whose limits were served before.
        var heldCount = limitedOperations.held.count
        while let first = expected {
            if !mayTry(first) {
                waiting.removeAll { $0.arrival == first.arrival }
            } else if isBehindHeld(first, heldCount) {
                waiting.removeAll { $0.arrival == first.arrival }
                heldCount += 1
            } else {
                break
            }
            expected = next(of: waiting)
        }
        if expected.map({ max($0.level, floor(of: $0, inOrder)) }) != level { expected = nil }
        let started = level.flatMap { asked.nextStart(at: $0) }.map { rows[$0].arrival }
        check(started == expected?.arrival, "\(started, default: "nothing") starts next")
    }

    /// The operation that starts first of those that are ready and not parked; nil if it lacks permits. In each level,
    /// the operation that was served first represents those whose limits are held.
    private func next(of waiting: [Row]) -> Row? {
        let heads = PriorityLevel.allCases.compactMap { level in
            let ofLevel = waiting.filter { $0.level == level }
            let served = ofLevel.compactMap { service($0) }.min()
            return first(of: ofLevel.filter { service($0) == nil || service($0) == served }, order)
        }
        let next = heads.last { permits.caps?[$0.level].admits($0.weight) ?? true }
        return next.flatMap { fits($0.weight, width) ? $0 : nil }
    }

    private func isBehindHeld(_ record: Row, _ heldCount: Int) -> Bool {
        guard let set = limitedOperations.set(of: slot(record)), service(record) == nil,
            let served = limitedOperations.firstHeld(of: record.level)
        else { return false }
        guard let holder = limitedOperations.holder(of: set) else { return heldCount < width.available }
        return holder.level == record.level && holder != served
    }

    /// The number of the service for a record whose limits are held; nil for other records.
    private func service(_ record: Row) -> UInt64? {
        let slot = slot(record)
        let holder = limitedOperations.set(of: slot).flatMap { limitedOperations.holder(of: $0) }
        return holder?.entry.slot == slot ? holder?.service : nil
    }

    private func mayTry(_ record: Row) -> Bool {
        limitedOperations.set(of: slot(record)).map { limitedOperations.mayTry($0, at: record.level) } ?? true
    }

    private func slot(_ record: Row) -> Slot { rows.slots.first { rows[$0].arrival == record.arrival }! }

    private func fits(_ weight: Int, _ permits: Permits?) -> Bool {
        permits.map { weight <= $0.capacity - $0.taken || $0.taken == 0 } ?? true
    }

    /// Whether a level's cap permits one more operation.
    private func isOpen(_ level: PriorityLevel) -> Bool { fits(1, permits.caps?[level]) }

    /// The highest level of the waiters that an operation holds up: later operations, because of barriers, and tasks
    /// that wait for the end of all operations.
    private func floor(of record: Row, _ inOrder: [Row]) -> PriorityLevel {
        let barrier = inOrder.firstIndex { $0.isBarrier && $0.arrival > record.arrival }
        let behind = record.isBarrier ? inOrder.firstIndex { $0.arrival > record.arrival } : barrier
        return max(
            (selection.optionalBarriers?.value.floors.ofEnd ?? .background),
            behind.flatMap { inOrder[$0...].map(\.level).max() } ?? .background)
    }

    private func isAdmitted(_ index: Int, _ inOrder: [Row]) -> Bool {
        inOrder[index].isBarrier ? index == 0 : !inOrder[..<index].contains(where: \.isBarrier)
    }

    private func first(of rows: [Row], _ order: TaskOperationQueue.Configuration.Order = .firstInFirstOut)
        -> Row?
    {
        let highest = rows.map(\.level).max()
        switch order {
        case .firstInFirstOut: return rows.first { $0.level == highest }
        case .lastInFirstOut: return rows.last { $0.level == highest }
        }
    }
}

extension OperationStatus {
    fileprivate var hasStarted: Bool { self != .waiting && self != .ready }
}
