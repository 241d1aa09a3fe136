/// All decisions of a queue, as a pure value without tasks, locks, clocks and continuations.
///
/// Each mutating function is one event. The effects of events are in an outbox, which `settle` fills: workers to start,
/// waiting tasks to resume, operations to end, changes to report. A worker gets its next operation from `nextStart`.
struct SchedulerState<Element: Sendable, Waiter: Sendable>: Sendable {
    typealias Slot = Int

    typealias Status = OperationStatus
    typealias Record = QueuedOperations<Element>.Record

    let order: OperationOrder
    /// How many workers at most are worth starting at once.
    let workerLimit: Int
    private(set) var operations: QueuedOperations<Element>
    private(set) var lending: LendablePermits<Waiter>
    private(set) var room: QueueCapacity<Element, Waiter>
    private(set) var isSuspended: Bool
    /// Set permanently when the owner of the queue is released: suspension and a width of 0 have no effect any more.
    private(set) var isDraining = false
    private(set) var intake = Intake.open
    /// Whether it has been said that the queue is empty and stays so.
    private var isOver = false
    /// The number of threads that are cancelling all operations. Nothing starts meanwhile: an operation that waits for a
    /// cancelled one must not start before it is cancelled itself.
    private(set) var holdCount = 0

    /// Tasks that wait until the queue is empty.
    private var emptyWaiters = WaitingList<Waiter>()
    /// Workers of each level that were started and have not begun.
    private(set) var starting = PerLevel(0)

    private(set) var changes = ChangeList<Element>()
    /// Whether each end makes room for the next operation. Cleared permanently when an operation takes more than one permit,
    /// or the queue gets a policy other than its order.
    private(set) var isPlain = true
    private(set) var pace: QueuePace
    private var outbox = Outbox()

    init(
        width: Int, isSuspended: Bool = false, policies: QueuePolicies = QueuePolicies(), workerLimit: Int = .max
    ) {
        order = policies.order
        operations = QueuedOperations(order: order, hasAgeing: policies.ageing != nil)
        pace = QueuePace(rate: policies.rate, ageing: policies.ageing)
        isPlain = !policies.needTime
        room = QueueCapacity(limit: policies.queuedLimit, overflow: policies.overflow)
        lending = LendablePermits(capacity: width)
        self.isSuspended = isSuspended
        self.workerLimit = workerLimit
    }

    /// Whether no operation may start.
    var isHalted: Bool { isSuspended || holdCount > 0 }
}

// MARK: - Arrival and end

extension SchedulerState {
    /// Whether the queue accepts an operation. If not, the operation must be ended. If the queue is full, it may drop another
    /// operation.
    mutating func takesIn(_ element: Element) -> Bool {
        switch intake {
        case .open, .closing: return !isFull || makeRoom(for: element)
        case .shut: reject(element, .shutDown)
        case .cancelling: reject(element, .cancelled)
        }
        return false
    }

    private mutating func reject(_ element: Element, _ reason: Rejection.Reason) {
        outbox.rejected.append(.init(element: element, reason: reason))
    }

    /// The slot that the next operation gets.
    var nextSlot: Slot { mutating get { operations.nextSlot } }

    /// An operation arrives, at the slot that `nextSlot` has said just before. If the queue is full, or takes nothing any more,
    /// `takesIn` was asked first.
    mutating func insert(_ element: Element, _ newcomer: Newcomer, at slot: Slot) {
        if newcomer.weight != 1 { isPlain = false }
        operations.insert(element, newcomer, at: slot, &outbox.newFloors)
        if room.drops { room.enter(operations.entry(slot)) }
        pace.arrive(slot)
        if changes.isObserved {
            tell(.added, element, operations.arrivals)
            if newcomer.isReady { tell(.ready, element, operations.arrivals) }
        }
    }

    /// The dependencies of an operation that has not started are all finished now, or no longer.
    mutating func setReady(_ slot: Slot, _ isReady: Bool) {
        switch (records[slot].status, isReady) {
        case (.waiting, true):
            // It may be dropped.
            if !operations.ending.isEmpty, operations.ending.contains(slot) { return }
            operations.makeReady(slot)
            if changes.isObserved { tell(.ready, slot) }
        case (.ready, false):
            operations.makeWait(slot)
        case (.waiting, false), (.ready, true), (.executing, _), (.lent, _), (.returning, _):
            break
        }
    }

    mutating func setLevel(_ slot: Slot, _ level: PriorityLevel) {
        let former = records[slot].level
        if former == level { return }
        operations.setLevel(slot, level, &outbox.newFloors)
        if changes.isObserved { tell(.levelChanged(level), slot) }
        switch records[slot].status {
        case .waiting, .ready, .lent: break
        case .executing: lending.move(records[slot].weight, from: former, to: level)
        case .returning: lending.changeLevel(operations.entry(slot), from: former, to: level)
        }
    }

    /// An operation that started has ended. It stays in its place until its completion handlers have been called, which
    /// `end` says, but counts no longer.
    mutating func beginEnding(_ slot: Slot) {
        operations.beginEnding(slot)
        if changes.isObserved { tell(.finished, slot) }
    }

    /// An operation has ended, whether it started or not. The caller keeps the element until the lock is left. Constant
    /// time, amortised.
    mutating func end(_ slot: Slot) -> Element {
        let (record, wasEnding) = operations.remove(slot, &outbox.newFloors)
        let wasDropped = wasEnding && record.status == .waiting
        switch record.status {
        case .waiting where wasDropped: room.droppedLeft()
        case .waiting, .ready: if room.drops { room.leave(.init(arrival: record.arrival, slot: slot)) }
        case .lent: break
        case .executing: lending.giveBack(record.weight, at: record.level)
        case .returning: freeReturn(record.arrival, slot, record.level)
        }
        if !isPlain { leavePolicies(slot, record.status) }
        if changes.isObserved, !wasEnding || wasDropped { tell(.finished, record.element, record.arrival) }
        if isEmpty, intake == .closing, room.producers.isEmpty { intake = .shut }
        return record.element
    }

    /// Ends an operation, as `end` does; the outbox releases the element.
    mutating func remove(_ slot: Slot) {
        outbox.removed.append(end(slot))
    }

    /// Prepares searches for the operations before barriers.
    mutating func indexArrivals() { operations.indexArrivals() }
}

// MARK: - Room

extension SchedulerState {
    mutating func setQueuedLimit(_ limit: Int) { room.limit = limit }

    /// Drops a queued operation for a new one if that is the policy. Otherwise rejects the new one.
    private mutating func makeRoom(for element: Element) -> Bool {
        guard let slot = room.drop(freePermits: freePermitCount) else {
            reject(element, .full)
            return false
        }
        if records[slot].status == .ready { operations.makeWait(slot) }
        operations.beginEnding(slot)
        reject(records[slot].element, .dropped)
        return true
    }

    /// A task waits until an operation is added.
    ///
    /// - Parameter number: A number for the wait, which no other has.
    mutating func waitForRoom(_ element: Element, _ waiter: Waiter, number: Int) {
        guard intake.takes else {
            _ = takesIn(element)
            return outbox.resumed.append(waiter)
        }
        room.producers.append(.init(element: element, waiter: waiter), number: number)
    }

    /// Ends a wait for room. Returns false if the wait is over already, or has not begun.
    mutating func stopWaitingForRoom(_ number: Int) -> Bool {
        guard let producer = room.producers.remove(number) else { return false }
        outbox.resumed.append(producer.waiter)
        return true
    }

    /// Resumes the first task that waits for room, if there is room. Returns its operation, which must be added now.
    mutating func nextAdmission() -> Element? {
        guard !isFull, let producer = room.producers.removeFirst() else { return nil }
        outbox.resumed.append(producer.waiter)
        return producer.element
    }

    /// Ends all waits for room without room.
    private mutating func refuseProducers() {
        for producer in room.producers.removeAll() {
            _ = takesIn(producer.element)
            outbox.resumed.append(producer.waiter)
        }
    }
}

// MARK: - Control

extension SchedulerState {
    mutating func setWidth(_ width: Int) {
        lending.setCapacity(isDraining ? max(1, width) : width)
    }

    mutating func setSuspended(_ isSuspended: Bool) {
        self.isSuspended = isSuspended && !isDraining
    }

    /// Nothing holds the queue up from now on: it is resumed, has a width of at least 1, and stays so.
    mutating func drain() {
        isDraining = true
        setSuspended(false)
        setWidth(permits.capacity)
        lending.openLevels()
    }

    /// Limits how many permits the operations of a level take at once.
    mutating func setCap(_ capacity: Int, at level: PriorityLevel) {
        isPlain = false
        lending.setCapacity(isDraining ? max(1, capacity) : capacity, at: level) { [records] in
            records.all.filter { $0.status == .executing }.map { ($0.weight, $0.level) }
        }
    }

    /// Nothing starts until `release`, which has to be called as often.
    mutating func hold() { holdCount += 1 }

    mutating func release() { holdCount -= 1 }

    /// Moves the intake on; back it does not go. A queue that is to be shut once it is empty, and is, is shut.
    mutating func setIntake(_ intake: Intake) {
        self.intake = max(self.intake, intake == .closing && isEmpty ? .shut : intake)
        if !self.intake.takes { refuseProducers() }
    }

    /// A task waits until the queue is empty.
    ///
    /// - Parameter number: A number for the wait, which no other has.
    mutating func waitUntilEmpty(_ waiter: Waiter, number: Int) {
        emptyWaiters.append(waiter, number: number)
    }

    /// Ends a wait for the end of the queue. Returns false if the wait is over already, or has not begun.
    mutating func stopWaitingUntilEmpty(_ number: Int) -> Bool {
        guard let waiter = emptyWaiters.remove(number) else { return false }
        outbox.resumed.append(waiter)
        return true
    }
}

// MARK: - Starting

extension SchedulerState {
    /// A worker that was started has begun.
    mutating func workerBegan(at level: PriorityLevel) {
        starting[level] -= 1
    }

    /// A worker could yield to others. Returns whether it is needed afterwards.
    mutating func workerYields(at level: PriorityLevel) -> Bool {
        guard nextLevel == level else { return false }
        starting[level] += 1
        return true
    }

    /// Starts the first ready operation: it has its permits from now on. Nil if no operation may start, or if the first one is
    /// not of the given level.
    ///
    /// - Parameter takeLimits: Takes a permit of each semaphore of a set, or gets in line for them and returns false. The
    ///   next operation is tried then.
    @inline(__always)
    mutating func nextStart(
        at level: PriorityLevel, takeLimits: (_ set: Int, PriorityLevel) -> Bool = { _, _ in true }
    ) -> Slot? {
        if !isPlain { return startSelection(at: level, takeLimits) }
        guard startableCount > 0, firstLevel == level else { return nil }
        let ownLevel = ready.highestLevel!
        let slot = operations.startFirst()
        lending.take(1, at: ownLevel)
        if room.drops { room.leave(operations.entry(slot)) }
        return slot
    }

    // Not inlined: parts of the state that it reads would be copied for a plain queue, too.
    @inline(never)
    private mutating func startSelection(
        at level: PriorityLevel, _ takeLimits: (_ set: Int, PriorityLevel) -> Bool
    ) -> Slot? {
        if startableCount == 0 { return nil }
        while let (slot, ownLevel, set, taskLevel) = selection, taskLevel == level {
            if let set, !take(set, at: ownLevel, takeLimits) {
                operations.changeAdmission { $0.parkFirst(of: ownLevel) }
                continue
            }
            operations.start(slot, of: ownLevel, set)
            lending.take(records[slot].weight, at: ownLevel)
            pace.noteStart()
            if room.drops { room.leave(operations.entry(slot)) }
            return slot
        }
        return nil
    }

    /// Takes the limits of a set, unless a claim of it waits already. If they are not free, they are claimed.
    private mutating func take(
        _ set: Int, at level: PriorityLevel, _ takeLimits: (_ set: Int, PriorityLevel) -> Bool
    ) -> Bool {
        if !operations.admission.limited.mayTry(set, at: level) { return false }
        if takeLimits(set, level) { return true }
        operations.changeAdmission { $0.changeLimited { $0.claim(set, at: level) } }
        return false
    }

    /// An operation from `nextStart` has begun to execute.
    mutating func noteStart(_ slot: Slot) {
        if changes.isObserved { tell(.started, slot) }
    }

    /// Takes back the permits that `nextStart` gave, as the operation turned out to be waiting after all.
    mutating func undoStart(_ slot: Slot) {
        lending.giveBack(records[slot].weight, at: records[slot].level)
        operations.undoStart(slot)
        pace.undoStart()
        if room.drops { room.enter(operations.entry(slot)) }
    }
}

// MARK: - Limits

extension SchedulerState {
    /// Makes a set of limits that operations will have.
    mutating func makeLimitSet() -> Int {
        isPlain = false
        return operations.changeAdmission { $0.changeLimited { $0.makeSet() } }
    }

    /// An operation that is about to be added at a slot has limits.
    mutating func setLimits(_ set: Int, of slot: Slot) {
        operations.changeAdmission { $0.changeLimited { $0.arrive(slot, set) } }
    }

    /// An executing operation lends its limits, or has taken them back.
    mutating func setLimitsLent(_ isLent: Bool, _ slot: Slot) {
        operations.changeAdmission { $0.changeLimited { $0.setLent(isLent, slot) } }
    }

    /// The claim of a set has come to the head of its line.
    mutating func limitsWereOffered(_ set: Int) {
        operations.changeAdmission { $0.changeLimits(of: set) { $0.noteOffer(set) } }
    }

    /// Gives up the claims that are offered, but for that of the operation that starts next: no limit is kept free for an
    /// operation that cannot start. Returns whether there were any.
    mutating func declineOffers() -> Bool {
        let offered = operations.admission.limited.offered
        if offered.isEmpty { return false }
        let next = nextLevel == nil ? nil : selection?.set
        let declined = offered.filter { $0 != next }
        for set in declined { operations.changeAdmission { $0.changeLimits(of: set) { $0.decline(set) } } }
        return !declined.isEmpty
    }

    /// An operation has left.
    private mutating func leavePolicies(_ slot: Slot, _ status: Status) {
        pace.leave(slot)
        if operations.admission.limited.isEmpty { return }
        let hasStarted = status != .waiting && status != .ready
        operations.changeAdmission { $0.changeLimited { $0.leave(slot, hasStarted: hasStarted) } }
    }

    /// Returns the calls of semaphores to make.
    mutating func takeLimitChanges() -> [LimitedOperations.Change] {
        if !operations.admission.limited.hasChanges { return [] }
        return operations.changeAdmission { $0.changeLimited { $0.takeChanges() } }
    }
}

// MARK: - Lending

extension SchedulerState {
    /// So many waits are in progress in an operation that lends its permits. Those that are counted already stay so: two
    /// threads may tell of the same wait.
    mutating func beginWaits(_ slot: Slot, upTo count: Int) {
        while records[slot].waits < count { beginWait(slot) }
    }

    /// An executing operation begins to await another one: its permits are free until the last of its waits is over. Other
    /// tasks of it continue without permits, because it is unknown which of its tasks the operation's end depends on.
    mutating func beginWait(_ slot: Slot) {
        let (status, arrival, level, weight) = operations.update(slot) { record in
            record.waits += 1
            defer { record.status = .lent }
            return (record.status, record.arrival, record.level, record.weight)
        }
        switch status {
        case .executing:
            lending.giveBack(weight, at: level)
            if changes.isObserved { tell(.lent, slot) }
        case .returning: freeReturn(arrival, slot, level)
        case .lent: break
        case .waiting, .ready: preconditionFailure("an operation that is \(status) began a wait")
        }
    }

    /// A wait within an operation is over. If it was the last one, the task continues once the operation has its permits;
    /// otherwise at once.
    mutating func endWait(_ slot: Slot, _ waiter: Waiter) {
        precondition(records[slot].status == .lent, "a wait ended in an operation that is \(records[slot].status)")
        let isLast = operations.update(slot) { record in
            record.waits -= 1
            if record.waits == 0 { record.status = .returning }
            return record.waits == 0
        }
        if !isLast { return outbox.resumed.append(waiter) }
        lending.awaitReturn(operations.entry(slot), at: records[slot].level, waiter)
    }

    /// Returns its permits to the first operation that waits for them. Such operations come before any start, also on a
    /// suspended queue, because they have started.
    mutating func nextReturn() -> Slot? {
        if lending.returning.isEmpty { return nil }
        guard let (slot, waiter) = lending.nextReturn(weight: { [operations] in operations.records[$0].weight }) else {
            return nil
        }
        operations.update(slot) { $0.status = .executing }
        outbox.resumed.append(waiter)
        if changes.isObserved { tell(.returned, slot) }
        return slot
    }

    /// Resumes the task that waits for an operation's permits, without them.
    private mutating func freeReturn(_ arrival: UInt64, _ slot: Slot, _ level: PriorityLevel) {
        outbox.resumed.append(lending.cancelReturn(.init(arrival: arrival, slot: slot), at: level))
    }

    /// A wait for the end of all hands on another level; nil is none.
    mutating func endInherits(from: PriorityLevel?, to: PriorityLevel?) {
        operations.endInherits(from: from, to: to, &outbox.newFloors)
    }
}

// MARK: - Time

extension SchedulerState {
    /// The clock of the queue shows a time.
    mutating func advance(to now: Duration, mayBeOld: Bool = false) { pace.advance(to: now, mayBeOld: mayBeOld) }

    mutating func setRate(_ rate: OperationRate?) { pace.setRate(rate) }

    /// Uses a token of the rate for another attempt. Returns when that may begin; nil if there is no rate.
    mutating func reserveStart() -> Duration? { pace.reserveStart() }

    /// An operation that has started gives back its token of the rate.
    mutating func giveBackStart() { pace.undoStart() }

    /// The queue was woken.
    mutating func noteWake() { pace.noteWake() }
}

// MARK: - Effects

extension SchedulerState {
    /// Decides on the effects of the events since the last call: the operations that get their permits, the workers to start
    /// and their levels, the waiting tasks to resume.
    ///
    /// - Parameter returned: Called with each operation that has got its permits.
    mutating func settle(returned: (Element) -> Void = { _ in }) {
        if !returning.isEmpty { while let slot = nextReturn() { returned(records[slot].element) } }
        if !ready.isEmpty || !isPlain { startWorkers() }
        if !isPlain, let time = nextWake() { outbox.wakeTime = time }
        if isEmpty, !intake.takes, !isOver {
            isOver = true
            outbox.isOver = true
        }
        if isEmpty, !emptyWaiters.isEmpty { outbox.resumed += emptyWaiters.removeAll() }
    }

    /// Moves the effects of the events since the last call. Mostly there are none.
    @inline(__always)
    mutating func handOver(to outbox: inout Outbox?) {
        if self.outbox.isEmpty { return }
        var full = Outbox()
        swap(&full, &self.outbox)
        outbox = full
    }

    private mutating func nextWake() -> Duration? {
        if isHalted || lending.isAwaitedBack || permits.available == 0 { return nil }
        return pace.nextWake(for: ready.count)
    }

    @inline(__always)
    private mutating func startWorkers() {
        if !isPlain { return startWorkersByPolicies() }
        let count = startableCount
        if count > 0, let level = firstLevel { startWorkers(for: count, at: level) }
    }

    /// Not inlined: the selection copies the whole state, for which a plain queue would pay 500 instructions a start.
    @inline(never)
    private mutating func startWorkersByPolicies() {
        guard let level = nextLevel else { return }
        startWorkers(for: min(startableCount, lending.available(at: level)), at: level)
    }

    @inline(__always)
    private mutating func startWorkers(for operationCount: Int, at level: PriorityLevel) {
        let count = max(0, min(operationCount, workerLimit) - starting[level])
        if count == 0 { return }
        starting[level] += count
        for _ in 0..<count { outbox.workers.append(level) }
    }
}

// MARK: - Changes

extension SchedulerState {
    /// Changes of operations are told from now on, or no longer.
    mutating func setObserved(_ isObserved: Bool) { changes.isObserved = isObserved }

    /// Records a change of an operation. Callers check `isObserved` first, which is the only cost without listeners.
    @inline(never)
    private mutating func tell(_ kind: ChangeKind, _ element: Element, _ arrival: UInt64) {
        changes.append(kind, element, arrival: arrival, counts)
        outbox.hasChanges = true
    }

    /// Records a change of an operation in the queue. Nothing is recorded after its end, when an abandoned body may still
    /// execute.
    @inline(never)
    mutating func tell(_ kind: ChangeKind, _ slot: Slot) {
        if kind != .finished, operations.ending.contains(slot) { return }
        tell(kind, records[slot].element, records[slot].arrival)
    }

    /// Tells that the body of an operation has awaited another operation.
    mutating func tellWait(_ slot: Slot, for other: Element) {
        if operations.ending.contains(slot) { return }
        changes.append(.waited, records[slot].element, arrival: records[slot].arrival, counts, other: other)
        outbox.hasChanges = true
    }

    /// Forgets the changes that were told.
    mutating func removeChanges() { changes.removeAll() }
}
