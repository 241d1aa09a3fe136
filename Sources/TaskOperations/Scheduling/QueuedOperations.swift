/// The operations of a queue: their records, their places, and the levels that they inherit in the queue.
struct QueuedOperations<Element: Sendable>: Sendable {
    typealias Slot = Int

    private(set) var records = SlotMap<Record>()
    private(set) var admission: AdmissionQueue
    /// The levels inherited through barriers and from waits for the end of the queue.
    private(set) var floors = LevelFloors()
    /// The operations that have not ended, in the order of arrival. Kept from the first use until the queue is empty.
    private(set) var inArrivalOrder: ArrivalIndex?
    private(set) var arrivals: UInt64 = 0
    /// Operations that have ended and stay until their completion handlers have been called, and such as are dropped and
    /// stay until they have ended.
    private(set) var ending: Set<Slot> = []
    /// How many have started.
    private(set) var startedCount = 0

    init(order: OperationOrder, hasAgeing: Bool) {
        admission = AdmissionQueue(order: order, hasAgeing: hasAgeing)
    }

    /// How many operations have not ended.
    var count: Int { records.count - ending.count }

    /// Whether nothing is left, completion handlers included.
    var isEmpty: Bool { records.count == 0 }

    var unstartedCount: Int { records.count - startedCount }
}

// MARK: - Arrival and end

extension QueuedOperations {
    /// The slot that the next operation gets.
    var nextSlot: Slot { mutating get { records.nextSlot } }

    /// An operation arrives at the slot that `nextSlot` has said just before.
    ///
    /// - Parameter newFloors: Gets the operations whose floor may be another one now.
    @inline(__always)
    mutating func insert(
        _ element: Element, _ newcomer: Newcomer, at slot: Slot, _ newFloors: inout [Element]
    ) {
        arrivals += 1
        let entry = ReadyQueue.Entry(arrival: arrivals, slot: slot)
        records.insert(Record(element, newcomer, arrival: arrivals), at: slot)
        inArrivalOrder?.append(arrivals, slot)
        admission.operationArrived(entry, isBarrier: newcomer.isBarrier)
        floors.note(newcomer.level)
        if !admission.barriers.isEmpty || !floors.isIdle { handOn(from: slot, &newFloors) }
        if newcomer.isReady { admission.insert(entry, at: newcomer.level, isBarrier: newcomer.isBarrier) }
    }

    /// An operation has ended, and stays until its completion handlers have been called; or it is dropped, and stays until
    /// it has ended.
    mutating func beginEnding(_ slot: Slot) { ending.insert(slot) }

    /// An operation leaves, whether it started or not. Constant time, amortised.
    ///
    /// - Returns: Also whether `beginEnding` was called before.
    @inline(__always)
    mutating func remove(_ slot: Slot, _ newFloors: inout [Element]) -> (record: Record, wasEnding: Bool) {
        let record = records.remove(at: slot)
        switch record.status {
        case .waiting: break
        case .ready: admission.remove(entry(slot, record), at: record.level, isBarrier: record.isBarrier)
        case .executing, .lent, .returning: startedCount -= 1
        }
        let wasEnding = !ending.isEmpty && ending.remove(slot) != nil
        countEnd(of: record, &newFloors)
        if inArrivalOrder != nil { forgetArrival() }
        if floors.mayDependOn(record.arrival) { note(floors.update(isCurrent), &newFloors) }
        if isEmpty { floors.noteEmpty() }
        return (record, wasEnding)
    }

    @inline(__always)
    private mutating func countEnd(of record: Record, _ newFloors: inout [Element]) {
        if admission.barriers.isEmpty { return admission.operationEnded(record.arrival) }
        if record.isBarrier {
            note(floors.affected(byEndOfBarrier: record.arrival, admission.barriers), &newFloors)
        }
        admission.operationEnded(record.arrival, isBarrier: record.isBarrier) { [records] slot in
            records[slot].status == .ready ? records[slot].level : nil
        }
        if admission.barriers.isEmpty { floors.removeAll() }
    }
}

// MARK: - Changes

extension QueuedOperations {
    /// Does something with a record, but with its level, or with its status if that is `ready` or becomes it.
    @inline(__always)
    mutating func update<Result>(_ slot: Slot, _ change: (inout Record) -> Result) -> Result {
        records.update(slot, change)
    }

    /// The dependencies of an operation that was waiting are all finished: it takes its place.
    mutating func makeReady(_ slot: Slot) {
        let (entry, level, isBarrier) = setStatus(slot, .ready)
        admission.insert(entry, at: level, isBarrier: isBarrier)
    }

    /// A ready operation has to wait after all.
    mutating func makeWait(_ slot: Slot) {
        let (entry, level, isBarrier) = setStatus(slot, .waiting)
        admission.remove(entry, at: level, isBarrier: isBarrier)
    }

    @inline(__always)
    private mutating func setStatus(
        _ slot: Slot, _ status: OperationStatus
    ) -> (entry: ReadyQueue.Entry, level: PriorityLevel, isBarrier: Bool) {
        records.update(slot) { record in
            record.status = status
            return (ReadyQueue.Entry(arrival: record.arrival, slot: slot), record.level, record.isBarrier)
        }
    }

    /// An operation has another level.
    mutating func setLevel(_ slot: Slot, _ level: PriorityLevel, _ newFloors: inout [Element]) {
        let record = records[slot]
        // A floor below its level may have changed untold.
        if level < record.level, floors.hasHandedOn { newFloors.append(record.element) }
        let isReady = record.status == .ready
        if isReady { makeWait(slot) }
        records[slot].level = level
        if isReady { makeReady(slot) }
        floors.note(level)
        if !admission.barriers.isEmpty || !floors.isIdle { handOn(from: slot, &newFloors) }
    }

    /// The first operation that may start does; there must be one.
    @inline(__always)
    mutating func startFirst() -> Slot {
        let slot = admission.popFirst { _ in true }!.slot
        noteStart(slot)
        return slot
    }

    /// The first operation of a level that may start does.
    mutating func start(_ slot: Slot, of level: PriorityLevel, _ set: Int?) {
        admission.popFirst(of: level, set)
        noteStart(slot)
    }

    @inline(__always)
    private mutating func noteStart(_ slot: Slot) {
        startedCount += 1
        records.update(slot) { $0.status = .executing }
    }

    /// Reverts the start of an operation.
    mutating func undoStart(_ slot: Slot) {
        startedCount -= 1
        records[slot].status = .waiting
        if !admission.limited.isEmpty { admission.changeLimited { $0.undoStart(slot) } }
    }

    /// Changes which ready operations may start, but not their number.
    mutating func changeAdmission<Result>(_ change: (inout AdmissionQueue) -> Result) -> Result { change(&admission) }

    func entry(_ slot: Slot) -> ReadyQueue.Entry { entry(slot, records[slot]) }

    private func entry(_ slot: Slot, _ record: Record) -> ReadyQueue.Entry {
        ReadyQueue.Entry(arrival: record.arrival, slot: slot)
    }
}

// MARK: - The order of arrival

extension QueuedOperations {
    /// Prepares searches for the operations before barriers.
    mutating func indexArrivals() {
        if inArrivalOrder == nil { inArrivalOrder = ArrivalIndex(records) }
    }

    /// An operation has ended that the index has.
    private mutating func forgetArrival() {
        if isEmpty {
            inArrivalOrder = nil
        } else {
            inArrivalOrder?.removeOne { [records] slot, arrival in
                records.holds(slot) && records[slot].arrival == arrival
            }
        }
    }
}

// MARK: - Inheritance within the queue

extension QueuedOperations {
    /// The level that barriers, and waits for the end of all, hand on to an operation.
    func floor(of slot: Slot) -> PriorityLevel {
        if floors.isIdle { return .background }
        return floors.level(of: records[slot].arrival, isBarrier: records[slot].isBarrier, admission.barriers)
    }

    /// A wait for the end of all hands on another level; nil is none.
    mutating func endInherits(from: PriorityLevel?, to: PriorityLevel?, _ newFloors: inout [Element]) {
        note(floors.endInherits(from: from, to: to, isCurrent: isCurrent), &newFloors)
    }

    /// An operation has arrived, or has another level. It hands that on if barriers make others wait for it.
    private mutating func handOn(from slot: Slot, _ newFloors: inout [Element]) {
        let (arrival, level) = (records[slot].arrival, records[slot].level)
        if let first = admission.barriers.first, first.arrival <= arrival {
            note(floors.insert(arrival, slot, at: level, isCurrent: isCurrent), &newFloors)
            floors.sweep(keeping: records.count, isCurrent)
        }
        if floor(of: slot) > level {
            floors.noteHandedOn()
            newFloors.append(records[slot].element)
        }
    }

    private var isCurrent: (LevelFloors.Entry, PriorityLevel) -> Bool {
        { [records] entry, level in
            guard records.holds(entry.slot) else { return false }
            let record = records[entry.slot]
            return record.arrival == .max - entry.rank && record.level == level
        }
    }

    private mutating func note(_ change: LevelFloors.Change?, _ newFloors: inout [Element]) {
        note(floors.affected(by: change, admission.barriers), &newFloors)
    }

    /// Notes which operations have another floor.
    private mutating func note(_ affected: LevelFloors.Affected?, _ newFloors: inout [Element]) {
        guard let affected else { return }
        floors.noteHandedOn()
        indexArrivals()
        let last = affected.last == .max ? .max : affected.last + 1
        newFloors += elements(after: affected.first, before: last) { $0.level < affected.level }
    }
}
