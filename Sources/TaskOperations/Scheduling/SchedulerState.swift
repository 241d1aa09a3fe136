/// Every decision of a queue, as a pure value: no task, lock, clock or continuation is in it.
///
/// Each mutating function is one event. What follows from events is left in an outbox, which `settle` fills and hands
/// over: workers to start, waiting tasks to resume, operations to end, changes to tell. A worker asks for what it runs
/// with `nextStart`.
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
    /// Set for good when nobody is left who could resume the queue or raise its width from 0: neither can hold it up
    /// any more.
    private(set) var isDraining = false
    private(set) var intake = Intake.open
    /// Whether it has been said that the queue is empty and stays so.
    private var isOver = false
    /// How many are cancelling everything just now. Nothing starts meanwhile: what waits for an operation that is
    /// cancelled must not begin before it is cancelled itself.
    private(set) var holdCount = 0

    /// Tasks that wait until the queue is empty.
    private var emptyWaiters = WaitingList<Waiter>()
    /// Workers of each level that were started and have not begun.
    private(set) var starting = PerLevel(0)

    private(set) var changes = ChangeList<Element>()
    /// Whether an end makes room for the next start, whatever that is. Unset for good when an operation takes more than one
    /// permit, or the queue is asked for anything beside its order.
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

    /// Whether nothing may start, whatever is ready.
    var isHalted: Bool { isSuspended || holdCount > 0 }
}

// MARK: - Arrival and end

extension SchedulerState {
    /// Whether the queue takes an operation. If not, the operation is to be ended. If the queue is full, another one may
    /// give way.
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

    /// As `end`; the element is let go of with the outbox.
    mutating func remove(_ slot: Slot) {
        outbox.removed.append(end(slot))
    }

    /// Prepares for looks at what stands before barriers.
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

    /// A task gives up such a wait, and goes on. Returns false if it has gone on already, or has not come yet.
    mutating func stopWaitingForRoom(_ number: Int) -> Bool {
        guard let producer = room.producers.remove(number) else { return false }
        outbox.resumed.append(producer.waiter)
        return true
    }

    /// The operation that is to be added now, as there is room for it; its task goes on. Nil if there is none.
    mutating func nextAdmission() -> Element? {
        guard !isFull, let producer = room.producers.removeFirst() else { return nil }
        outbox.resumed.append(producer.waiter)
        return producer.element
    }

    /// What waits for room never gets it.
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

    /// A task gives up such a wait, and goes on. Returns false if it has gone on already, or has not come yet.
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

    /// A worker could let others run. Returns whether it is to come back after that.
    mutating func workerYields(at level: PriorityLevel) -> Bool {
        guard nextLevel == level else { return false }
        starting[level] += 1
        return true
    }

    /// Gives the first ready operation its permits, which executes from now on; nil if nothing may start, or if what
    /// comes first is not of the level that is asked for.
    ///
    /// - Parameter takeLimits: Takes a permit of each semaphore of a set; or stands in line for them and returns false.
    ///   The next operation is tried then.
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

    /// What `nextStart` gave has begun to execute.
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

    /// Hands over what to do to semaphores.
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

    /// An operation that started begins to await another one: its permits are free until the last of its waits is
    /// over. A task of it that goes on meanwhile does so without: there is no way to see whether it, or only its waiting
    /// sibling, is what the operation's end depends on.
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

    /// A wait within an operation is over. The task goes on once the operation has its permits back, if this was the last
    /// of its waits, and at once otherwise.
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

    /// Gives the first operation that wants its permits back what it wants. These come before anything new, also on a
    /// suspended queue: they have started.
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

    /// The task that waits for an operation's permits goes on without.
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

// MARK: - What follows

extension SchedulerState {
    /// Decides what follows from the events since the last time: which operations get their permits back, how many
    /// workers of which level are started, which waiting tasks go on.
    ///
    /// - Parameter returned: Called with each operation that has its permits back.
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

    /// Hands over what the events since the last time have led to; nothing, as nearly always, if there is nothing.
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

    private mutating func startWorkers() {
        guard let level = nextLevel else { return }
        let count = max(0, min(startableCount, lending.available(at: level), workerLimit) - starting[level])
        if count == 0 { return }
        starting[level] += count
        for _ in 0..<count { outbox.workers.append(level) }
    }
}

// MARK: - Changes

extension SchedulerState {
    /// Changes of operations are told from now on, or no longer.
    mutating func setObserved(_ isObserved: Bool) { changes.isObserved = isObserved }

    /// The one place at which a change of an operation is told. Callers ask `isObserved` first, which is all that it costs
    /// if nobody listens.
    @inline(never)
    private mutating func tell(_ kind: ChangeKind, _ element: Element, _ arrival: UInt64) {
        changes.append(kind, element, arrival: arrival, counts)
        outbox.hasChanges = true
    }

    /// Tells a change of an operation that is in the queue. After the end nothing is told: an abandoned body may go on.
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
