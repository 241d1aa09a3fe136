// Barriers, and the levels that operations inherit through barriers and from waits until the queue is empty.

extension SchedulerState {
    /// Creates the state for barriers if it does not exist. This takes linear time in the number of operations. It
    /// happens at most once until the queue is empty again.
    private mutating func prepareBarriers(behind count: Int) {
        if admission.barriers != nil { return }
        let lowest = records.all.map(\.level).min()
        admission.barriers = Boxed(QueueBarriers(behind: count, lowestLevel: lowest))
    }

    /// Records the arrival of a barrier, or of any operation while the queue has state for barriers.
    mutating func arriveBehindBarriers(_ entry: ReadyQueue.Entry, _ newcomer: Newcomer) {
        prepareBarriers(behind: records.count - 1)
        admission.barriers!.value.inArrivalOrder?.append(entry.arrival, entry.slot)
        admission.operationArrived(entry, isBarrier: newcomer.isBarrier)
        levelChanged(entry.slot)
    }

    mutating func leaveBarriers(_ record: Record) {
        if admission.barriers!.value.line.isEmpty {
            admission.barriers!.value.line.operationEnded(record.arrival)
        } else {
            endBehindBarriers(record)
        }
        if isEmpty {
            admission.barriers!.value.inArrivalOrder = nil
        } else {
            admission.barriers!.value.inArrivalOrder?.removeOne { [records] slot, arrival in
                records.holds(slot) && records[slot].arrival == arrival
            }
        }
        if admission.barriers!.value.floors.mayDependOn(record.arrival) {
            floorsChanged(admission.barriers!.value.floors.update(isCurrent))
        }
        if isEmpty {
            admission.barriers!.value.floors.noteEmpty()
            if admission.barriers!.value.floors.isIdle { admission.barriers = nil }
        }
    }

    private mutating func endBehindBarriers(_ record: Record) {
        if record.isBarrier {
            let barriers = admission.barriers!.value
            floorsChanged(barriers.floors.affected(byEndOfBarrier: record.arrival, barriers.line))
        }
        admission.operationEnded(record.arrival, isBarrier: record.isBarrier) { [records] slot in
            records[slot].status == .ready ? records[slot].level : nil
        }
        if admission.barriers!.value.line.isEmpty { admission.barriers!.value.floors.removeAll() }
    }
}

// MARK: - Operations before barriers

extension SchedulerState {
    var hasUnfinishedBarriers: Bool { admission.barriers.map { !$0.value.line.isEmpty } ?? false }

    /// Creates the index of arrivals, if the queue has state for barriers.
    mutating func indexArrivals() {
        guard admission.barriers != nil, admission.barriers!.value.inArrivalOrder == nil else { return }
        admission.barriers!.value.inArrivalOrder = ArrivalIndex(
            records.slots.map { (arrival: records[$0].arrival, slot: $0) })
    }

    /// The operations that must end before barriers let an operation start. The previous barrier is one of them. If the
    /// operation is a barrier, all operations between both barriers must end, too.
    func elementsHoldingBack(_ slot: Slot) -> [Element] {
        elementsHoldingBack(records[slot].arrival, isBarrier: records[slot].isBarrier)
    }

    /// The operations that would hold back the next operation to be added.
    func elementsHoldingBackNext(isBarrier: Bool) -> [Element] {
        elementsHoldingBack(arrivals + 1, isBarrier: isBarrier)
    }

    private func elementsHoldingBack(_ arrival: UInt64, isBarrier: Bool) -> [Element] {
        let barrier = admission.barriers?.value.line.last(before: arrival).map { records[$0.slot] }
        let between = isBarrier ? elements(after: barrier?.arrival ?? 0, before: arrival) : []
        return (barrier.map { [$0.element] } ?? []) + between
    }

    /// The operations between two arrivals, both excluded.
    private func elements(
        after first: UInt64, before last: UInt64, where isIncluded: (Record) -> Bool = { _ in true }
    ) -> [Element] {
        guard let index = admission.barriers?.value.inArrivalOrder else {
            return elements { $0.arrival > first && $0.arrival < last && isIncluded($0) }
        }
        return index.slots(after: first, before: last).compactMap { slot, arrival in
            guard records.holds(slot), records[slot].arrival == arrival, !finishing.contains(slot),
                isIncluded(records[slot])
            else { return nil }
            return records[slot].element
        }
    }
}

// MARK: - Inheritance within the queue

extension SchedulerState {
    /// The floor of an operation; see `BarrierInheritance`.
    func floor(of slot: Slot) -> PriorityLevel {
        admission.barriers?.value.floor(of: records[slot]) ?? .background
    }

    /// Changes the level that a wait until the queue is empty passes on. Nil means that the wait passes on no level.
    mutating func idleWaitersChanged(from: PriorityLevel?, to: PriorityLevel?) {
        if from == nil, to == nil { return }
        prepareBarriers(behind: records.count)
        floorsChanged(admission.barriers!.value.floors.idleWaitersChanged(from: from, to: to, isCurrent: isCurrent))
        if isEmpty, admission.barriers!.value.floors.isIdle { admission.barriers = nil }
    }

    /// Records that the level of an operation is about to change.
    mutating func levelWillChange(_ slot: Slot, to level: PriorityLevel) {
        // A change of the floor was not reported if the floor was below the operation's level.
        if level < records[slot].level, admission.barriers!.value.floors.hasHandedOn {
            effects.floorChanges.append(records[slot].element)
        }
    }

    /// Records that an operation has arrived or has changed its level. Reports the operations that inherit this level
    /// through barriers.
    mutating func levelChanged(_ slot: Slot) {
        let (arrival, level) = (records[slot].arrival, records[slot].level)
        admission.barriers!.value.floors.note(level)
        if let first = admission.barriers!.value.line.first, first.arrival <= arrival {
            floorsChanged(admission.barriers!.value.floors.insert(arrival, slot, at: level, isCurrent: isCurrent))
            admission.barriers!.value.floors.sweep(keeping: records.count, isCurrent)
        }
        if floor(of: slot) > level {
            admission.barriers!.value.floors.notePropagation()
            effects.floorChanges.append(records[slot].element)
        }
    }

    private var isCurrent: (BarrierInheritance.Entry, PriorityLevel) -> Bool {
        { [records] entry, level in
            guard records.holds(entry.slot) else { return false }
            let record = records[entry.slot]
            return record.arrival == .max - entry.rank && record.level == level
        }
    }

    private mutating func floorsChanged(_ change: BarrierInheritance.Change?) {
        if change == nil { return }
        let barriers = admission.barriers!.value
        floorsChanged(barriers.floors.affected(by: change, barriers.line))
    }

    private mutating func floorsChanged(_ affected: BarrierInheritance.Affected?) {
        guard let affected else { return }
        admission.barriers!.value.floors.notePropagation()
        indexArrivals()
        let last = affected.last == .max ? .max : affected.last + 1
        effects.floorChanges += elements(after: affected.first, before: last) { $0.level < affected.level }
    }
}
