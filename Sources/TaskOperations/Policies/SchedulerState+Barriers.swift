// Barriers, and the levels that operations inherit through barriers and from waits until the queue is empty.

extension SchedulerState {
    /// Creates the state for barriers if it does not exist. This takes linear time in the number of operations. It
    /// happens at most once until the queue is empty again.
    private mutating func prepareBarriers(behind count: Int) {
        if selection.hasBarriers { return }
        let lowest = rows.all.map(\.level).min()
        selection.optionalBarriers = Boxed(QueueBarriers(behind: count, lowestLevel: lowest))
    }

    /// Records the arrival of a barrier, or of any operation while the queue has state for barriers.
    mutating func arriveBehindBarriers(_ entry: ReadyQueue.Entry, _ newcomer: Newcomer) {
        prepareBarriers(behind: rows.count - 1)
        selection.barriers.inArrivalOrder?.append(entry.arrival, entry.slot)
        if newcomer.isBarrier, newcomer.isDelayed {
            selection.barriers.delayed.insert(entry.slot)
        } else {
            selection.operationArrived(entry, isBarrier: newcomer.isBarrier)
        }
        levelChanged(entry.slot)
    }

    mutating func leaveBarriers(_ row: Row, _ slot: Slot) {
        selection.barriers.numbers[slot] = nil
        if selection.barriers.delayed.remove(slot) == nil { leaveLine(row) }
        if isEmpty { selection.barriers.inArrivalOrder = nil } else { removeOneFromIndex() }
        if selection.barriers.floors.mayDependOn(row.arrival) {
            floorsChanged(selection.barriers.floors.update(isCurrent))
        }
        if isEmpty {
            selection.barriers.floors.noteEmpty()
            if selection.barriers.floors.isIdle { selection.optionalBarriers = nil }
        }
    }

    /// Records that an entry of the index of arrivals is outdated.
    private mutating func removeOneFromIndex() {
        selection.barriers.inArrivalOrder?.removeOne { [rows] slot, arrival in
            rows.holds(slot) && rows[slot].arrival == arrival
        }
    }

    private mutating func leaveLine(_ row: Row) {
        if selection.barriers.line.isEmpty {
            selection.barriers.line.operationEnded(row.arrival)
            return
        }
        if row.isBarrier {
            let barriers = selection.barriers
            floorsChanged(barriers.floors.affected(byEndOfBarrier: row.arrival, barriers.line))
        }
        selection.operationEnded(row.arrival, isBarrier: row.isBarrier) { [rows] slot in
            rows[slot].status == .ready ? rows[slot].level : nil
        }
        if selection.barriers.line.isEmpty { selection.barriers.floors.removeAll() }
    }
}

// MARK: - Barriers with a delay

extension SchedulerState {
    /// Whether an operation is a barrier that has not taken its place in the line.
    func isOutsideLine(_ slot: Slot) -> Bool { selection.optionalBarriers?.value.delayed.contains(slot) ?? false }

    /// Puts a barrier whose delay is over behind all other operations, except some that are then behind the barrier.
    ///
    /// - Parameter moving: The result of `operationsMoving(with:)`.
    mutating func endDelay(of barrier: Slot, before moving: [Slot]) {
        // The last operation leaves first, so that no operation is released when a barrier leaves.
        for slot in moving.reversed() {
            let row = rows[slot]
            if row.status == .ready { selection.remove(entry(slot), at: row.level, isBarrier: row.isBarrier) }
            leaveLine(row)
        }
        selection.barriers.delayed.remove(barrier)
        for slot in [barrier] + moving { arriveAgain(slot) }
    }

    private mutating func arriveAgain(_ slot: Slot) {
        selection.barriers.numbers[slot] = number(of: slot)
        (arrivals, moveCount) = (arrivals + 1, moveCount + 1)
        rows[slot].arrival = arrivals
        let (entry, row) = (entry(slot), rows[slot])
        // The former entry of the index is removed like the entry of an ended operation.
        removeOneFromIndex()
        selection.barriers.inArrivalOrder?.append(entry.arrival, slot)
        selection.operationArrived(entry, isBarrier: row.isBarrier)
        levelChanged(slot)
        if row.status == .ready { selection.insert(entry, at: row.level, isBarrier: row.isBarrier) }
    }

    /// The operations that move behind a barrier whose delay is over, in their order: those that wait for the barrier,
    /// and the next barrier with all operations behind it.
    ///
    /// - Parameter dependents: Operations that wait for the barrier. Those that have started do not move.
    func operationsMoving(with dependents: [Slot]) -> [Slot] {
        let unstarted = dependents.filter { slot in
            !isOutsideLine(slot) && !finishing.contains(slot) && [.waiting, .ready].contains(rows[slot].status)
        }
        guard let first = unstarted.map({ rows[$0].arrival }).min() else { return [] }
        let behind = selection.barriers.line.next(after: first - 1).map { barrier in
            rows.slots.filter { rows[$0].arrival >= barrier && !isOutsideLine($0) }
        }
        return Set(unstarted + (behind ?? [])).sorted { rows[$0].arrival < rows[$1].arrival }
    }

    /// The operations for which a barrier would wait if its delay ended now.
    ///
    /// - Parameter moving: The result of `operationsMoving(with:)`.
    func elementsHoldingBackNextBarrier(without moving: [Slot]) -> [Element] {
        let end = moving.first { rows[$0].isBarrier }.map { rows[$0].arrival } ?? arrivals + 1
        return elementsHoldingBack(end, isBarrier: true, without: Set(moving))
    }
}

// MARK: - Operations before barriers

extension SchedulerState {
    var hasUnfinishedBarriers: Bool { selection.optionalBarriers.map { !$0.value.line.isEmpty } ?? false }

    /// Creates the index of arrivals, if the queue has state for barriers.
    mutating func indexArrivals() {
        guard selection.hasBarriers, selection.barriers.inArrivalOrder == nil else { return }
        selection.barriers.inArrivalOrder = ArrivalIndex(
            rows.slots.map { (arrival: rows[$0].arrival, slot: $0) })
    }

    /// The operations that must end before barriers let an operation start. The previous barrier is one of them. If the
    /// operation is a barrier, all operations between both barriers must end, too.
    func elementsHoldingBack(_ slot: Slot) -> [Element] {
        if isOutsideLine(slot) { return [] }
        return elementsHoldingBack(rows[slot].arrival, isBarrier: rows[slot].isBarrier)
    }

    /// The operations that would hold back the next operation to be added.
    func elementsHoldingBackNext(isBarrier: Bool) -> [Element] {
        elementsHoldingBack(arrivals + 1, isBarrier: isBarrier)
    }

    private func elementsHoldingBack(
        _ arrival: UInt64, isBarrier: Bool, without excluded: Set<Slot> = []
    ) -> [Element] {
        let barrier = selection.optionalBarriers?.value.line.last(before: arrival).map { rows[$0.slot] }
        let previous = barrier.map { [$0.element] } ?? []
        if !isBarrier { return previous }
        return previous
            + elements(after: barrier?.arrival ?? 0, before: arrival) { !isOutsideLine($0) && !excluded.contains($0) }
    }

    /// The operations between two arrivals, both excluded.
    private func elements(
        after first: UInt64, before last: UInt64, where isIncluded: (Slot) -> Bool
    ) -> [Element] {
        let slots: [Slot]
        if let index = selection.optionalBarriers?.value.inArrivalOrder {
            slots = index.slots(after: first, before: last).compactMap { slot, arrival in
                rows.holds(slot) && rows[slot].arrival == arrival ? slot : nil
            }
        } else {
            slots = rows.slots.filter { rows[$0].arrival > first && rows[$0].arrival < last }.sorted {
                rows[$0].arrival < rows[$1].arrival
            }
        }
        return slots.filter { !finishing.contains($0) && isIncluded($0) }.map { rows[$0].element }
    }
}

// MARK: - Inheritance within the queue

extension SchedulerState {
    /// The floor of an operation; see `BarrierInheritance`.
    func floor(of slot: Slot) -> PriorityLevel {
        selection.optionalBarriers?.value.floor(of: rows[slot], at: slot) ?? .background
    }

    /// Changes the level that a wait until the queue is empty passes on. Nil means that the wait passes on no level.
    mutating func idleWaitersChanged(from: PriorityLevel?, to: PriorityLevel?) {
        if from == nil, to == nil { return }
        prepareBarriers(behind: rows.count)
        floorsChanged(selection.barriers.floors.idleWaitersChanged(from: from, to: to, isCurrent: isCurrent))
        if isEmpty, selection.barriers.floors.isIdle { selection.optionalBarriers = nil }
    }

    /// Records that the level of an operation is about to change.
    mutating func levelWillChange(_ slot: Slot, to level: PriorityLevel) {
        // A change of the floor was not reported if the floor was below the operation's level.
        if level < rows[slot].level, selection.barriers.floors.hasHandedOn {
            effects.floorChanges.append(rows[slot].element)
        }
    }

    /// Records that an operation has arrived or has changed its level. Reports the operations that inherit this level
    /// through barriers.
    mutating func levelChanged(_ slot: Slot) {
        let (arrival, level) = (rows[slot].arrival, rows[slot].level)
        selection.barriers.floors.note(level)
        if let first = selection.barriers.line.first, first.arrival <= arrival, !isOutsideLine(slot) {
            floorsChanged(selection.barriers.floors.insert(arrival, slot, at: level, isCurrent: isCurrent))
            selection.barriers.floors.sweep(keeping: rows.count, isCurrent)
        }
        if floor(of: slot) > level {
            selection.barriers.floors.notePropagation()
            effects.floorChanges.append(rows[slot].element)
        }
    }

    private var isCurrent: (BarrierInheritance.Entry, PriorityLevel) -> Bool {
        { [rows] entry, level in
            guard rows.holds(entry.slot) else { return false }
            let row = rows[entry.slot]
            return row.arrival == .max - entry.rank && row.level == level
        }
    }

    private mutating func floorsChanged(_ change: BarrierInheritance.Change?) {
        if change == nil { return }
        let barriers = selection.barriers
        floorsChanged(barriers.floors.affected(by: change, barriers.line))
        // A barrier outside the line inherits only from waits until the queue is empty.
        if change?.arrivals.upperBound == .max, !barriers.delayed.isEmpty {
            selection.barriers.floors.notePropagation()
            effects.floorChanges += barriers.delayed.map { rows[$0].element }
        }
    }

    private mutating func floorsChanged(_ affected: BarrierInheritance.Affected?) {
        guard let affected else { return }
        selection.barriers.floors.notePropagation()
        indexArrivals()
        let last = affected.last == .max ? .max : affected.last + 1
        effects.floorChanges += elements(after: affected.first, before: last) { rows[$0].level < affected.level }
    }
}
