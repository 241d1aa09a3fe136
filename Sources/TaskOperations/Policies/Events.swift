import Synchronization

/// The changes of a queue's operations since the list was last emptied, in order. Empty if the queue has no observer.
struct ChangeList<Element: Sendable>: Sendable {
    /// Whether the queue has an observer, which receives events.
    var isObserved = false { didSet { isOn = isObserved || recording != nil } }
    /// The records of the queue; nil if it has no recorder. The reference is not counted. This is safe, because the
    /// core of the scheduler holds one, and a copy of the state reports no changes.
    unowned(unsafe) var recording: QueueRecording? { didSet { isOn = isObserved || recording != nil } }
    /// Whether changes are reported.
    private(set) var isOn = false
    /// The number of the last change. Changes are numbered from 1 without gaps.
    private(set) var lastNumber: UInt64 = 0
    private var changes: [OperationChange] = []
    /// The operations of the changes. A change to `.waited` has two operations, and each other change has one.
    private var elements: [Element] = []

    var isEmpty: Bool { changes.isEmpty }

    /// - Parameter other: The second operation of a change to `.waited`; nil for other changes.
    mutating func append(
        _ kind: ChangeKind, _ element: Element, arrival: UInt64, _ counts: ChangeCounts, other: Element?
    ) {
        lastNumber += 1
        changes.append(OperationChange(number: lastNumber, arrival: arrival, kind: kind, counts: counts))
        elements.append(element)
        if let other { elements.append(other) }
    }

    /// Calls a function with each change and its operations.
    func forEach(_ body: (OperationChange, Element, _ other: Element?) -> Void) {
        var position = 0
        for change in changes {
            let hasOther = change.kind == .waited
            body(change, elements[position], hasOther ? elements[position + 1] : nil)
            position += hasOther ? 2 : 1
        }
    }

    /// Empties the list. The list keeps its memory unless it had more than 64 changes.
    mutating func removeAll() {
        changes.empty(keepingMemoryFor: 64)
        elements.empty(keepingMemoryFor: 64)
    }
}

/// One change of one operation, without the operation.
// Not nested in the generic list, and without a reference, so that a copy is a copy of its bytes.
struct OperationChange: Sendable {
    let number: UInt64
    /// The number of the operation. The first operation of the queue has the number 1.
    let arrival: UInt64
    let kind: ChangeKind
    let counts: ChangeCounts
}

/// The number of operations that were added until a change, the number of those that had not ended after it, and the
/// number of operations that were refused because the queue was full.
package typealias ChangeCounts = (added: Int, unfinished: Int, refused: Int)

/// The kind of a change of an operation: `TaskOperationEvent.Kind` without dependencies, a second operation and an outcome.
/// The type is not nested, because the runtime looks up a type within a generic type at each use.
enum ChangeKind: Hashable, Sendable {
    case added
    /// The operation's dependencies are finished.
    case ready
    case started
    /// The operation has lent its permit.
    case lent
    /// The operation continues after it had lent its permit.
    case returned
    /// The operation was cancelled. If it has not started, it ends at once.
    case cancelled
    /// The operation's level has changed.
    case levelChanged(PriorityLevel)
    /// The body runs again. The value is the number of the attempt.
    case attempt(Int)
    /// The body continues after a wait. Observers learn of waits for operations only.
    case waited
    case finished
}

// Reports of changes to observers.

extension SchedulerState {
    /// Reports a change of an operation. Callers first check `changes.isOn`. Without observers and recorders, this check
    /// is the only cost.
    mutating func report(_ kind: ChangeKind, _ element: Element, _ arrival: UInt64, other: Element? = nil) {
        changes.recording?.append(kind, element, arrival, other: other)
        if changes.isObserved { observe(kind, element, arrival, other: other) }
    }

    /// Reports a change of an operation in the queue. After the operation's end, nothing is reported, although an
    /// abandoned body may still execute.
    mutating func report(_ kind: ChangeKind, _ slot: Slot, other: Element? = nil) {
        if !finishing.isEmpty, finishing.contains(slot), kind != .finished { return }
        // `read` would copy the row.
        let element = rows.update(slot) { $0.element }
        report(kind, element, number(of: slot), other: other)
    }

    private mutating func observe(_ kind: ChangeKind, _ element: Element, _ arrival: UInt64, other: Element? = nil) {
        if kind == .waited, other == nil { return }
        changes.append(kind, element, arrival: arrival, counts, other: other)
        effects.hasChanges = true
    }

    /// - Parameter ticks: The ticks of the addition if that was before the present step; otherwise 0.
    mutating func reportArrival(_ element: Element, _ newcomer: Newcomer, at ticks: UInt64) {
        changes.recording?.appendArrival(of: element, newcomer, arrivals, at: ticks)
        if !changes.isObserved { return }
        observe(.added, element, arrivals)
        if newcomer.isReady { observe(.ready, element, arrivals) }
    }

    /// The counts of operations after the last change.
    var counts: ChangeCounts {
        (added: Int(arrivals - moveCount), unfinished: count, refused: admission.refusedCount)
    }

    /// The first arrival of an operation.
    @inline(__always)  // A call would copy the state, as of `candidate`.
    func number(of slot: Slot) -> UInt64 { selection.optionalBarriers?.value.numbers[slot] ?? rows[slot].arrival }

    /// The changes that led to the present state of each unfinished operation, in the order of addition. Every change
    /// has the number of the last change.
    func presentChanges(isCancelled: (Element) -> Bool) -> [(change: OperationChange, element: Element)] {
        let slots = rows.slots.filter { !finishing.contains($0) }.sorted { number(of: $0) < number(of: $1) }
        return slots.flatMap { slot -> [(change: OperationChange, element: Element)] in
            let row = rows[slot]
            var kinds: [ChangeKind] = [.added] + Self.history(of: row.status)
            if isCancelled(row.element) { kinds.append(.cancelled) }
            return kinds.map { kind in
                let change = OperationChange(
                    number: changes.lastNumber, arrival: number(of: slot), kind: kind, counts: counts)
                return (change, row.element)
            }
        }
    }

    /// The changes of an operation after its addition.
    private static func history(of status: Status) -> [ChangeKind] {
        switch status {
        case .waiting: []
        case .ready: [.ready]
        case .executing: [.ready, .started]
        case .lent, .returning: [.ready, .started, .lent]
        }
    }
}

// The events of operations, for observers: see `EventLog`. Only the state numbers them.

/// The observers of a queue.
struct QueueObservation: Sendable {
    /// Delivers the events of operations to the observers.
    let log: EventLog
    /// The observers, by identity.
    fileprivate var observers: [ObjectIdentifier] = []
    /// The observer that counts operations; nil if there is none.
    var countObserver: (any TaskOperationObserver)?
}

extension Scheduler {
    /// Adds an observer, which receives the present state first and then each event. Adding an observer again has no
    /// effect.
    package nonisolated func addObserver(_ observer: any TaskOperationObserver) {
        let log = withCore { core in
            let log = core.makeObservation(of: identity)
            if core.observation!.value.observers.contains(observer.identity) { return log }
            core.observation!.value.observers.append(observer.identity)
            core.state.changes.isObserved = true
            observationChanged(core)
            let (now, label) = (Moment.now, QueueLabel(identity))
            let present = core.state.presentChanges { $0.isCancelled }
            log.add(
                observer, after: core.state.changes.lastNumber,
                replaying: present.map { TaskOperationEvent($0, of: $1, at: now, in: label, isReplayed: true) })
            return log
        }
        log.deliver()
    }

    /// Removes an observer. The observer may still be called for earlier events.
    package nonisolated func removeObserver(_ observer: any TaskOperationObserver) {
        let log = withCore { core -> EventLog? in
            guard let observation = core.observation?.value,
                let index = observation.observers.firstIndex(of: observer.identity)
            else { return nil }
            core.observation!.value.observers.remove(at: index)
            if core.observation!.value.observers.isEmpty {
                core.state.changes.isObserved = false
                observationChanged(core)
            }
            observation.log.remove(observer.identity)
            return observation.log
        }
        log?.deliver()
    }

    /// Called after the first observer or recorder was added, or the last one removed.
    nonisolated func observationChanged(_ core: borrowing SchedulerCore) {
        isObserved.store(core.state.changes.isOn, ordering: .relaxed)
    }

    /// Moves the recorded changes to the log. Returns the log if the caller must deliver them. If the last observer was
    /// removed meanwhile, the log discards the changes.
    @inline(never)
    nonisolated func logChanges(_ core: inout SchedulerCore) -> EventLog? {
        let (now, label) = (Moment.now, QueueLabel(identity))
        let eventLog = core.observation!.value.log
        let mustDeliver = eventLog.append { log in
            core.state.changes.forEach { change, operation, other in
                if change.kind == .started { core.worker(of: operation)?.beginning = now }
                let event = TaskOperationEvent(
                    change, of: operation, with: other, at: now, in: label, isReplayed: false)
                log.append(event)
            }
            // This frees no operation, because the log, which is locked, also retains them.
            core.state.changes.removeAll()
        }
        return mustDeliver ? eventLog : nil
    }

    /// Reports a change of a body.
    ///
    /// - Parameter other: The second operation of the change; nil if the change concerns one operation.
    nonisolated func report(_ kind: ChangeKind, of operation: AnyTaskOperation, with other: AnyTaskOperation? = nil) {
        ifObserved(operation) { core, slot in core.state.report(kind, slot, other: other) }
    }

    /// Calls a function under the lock of the queue if the queue has an observer or a recorder, and contains the operation.
    nonisolated func ifObserved(_ operation: AnyTaskOperation, _ report: (inout SchedulerCore, _ slot: Int) -> Void) {
        // This check is first, because most queues have no observer.
        if !isObserved.load(ordering: .relaxed) { return }
        withCore { core in
            if core.state.changes.isOn, let slot = core.slot(of: operation) { report(&core, slot) }
        }
    }
}

extension SchedulerCore {
    /// Creates the observation if it does not exist. Returns its log.
    @discardableResult
    mutating func makeObservation(of identity: QueueIdentity) -> EventLog {
        if observation == nil { observation = Boxed(QueueObservation(log: EventLog(of: identity))) }
        return observation!.value.log
    }

    fileprivate func worker(of operation: AnyTaskOperation) -> Worker? {
        slot(of: operation).flatMap { state.rows[$0].worker }
    }
}

// MARK: - Delivery

/// Delivers the events of a queue to its observers.
///
/// The scheduler appends events under its lock, in the order of their numbers. After unlocking, one thread at a time
/// delivers the events of all threads. Therefore an observer receives events in order, from one thread at a time, with
/// no lock held. If an observer changes the queue, the delivery in progress also delivers the events of that change.
final class EventLog: Sendable {
    fileprivate struct Member: Sendable {
        let observer: any TaskOperationObserver
        /// The number of the last event before the observer was added.
        let last: UInt64
    }

    /// The addition or removal of an observer at a position in the undelivered events.
    fileprivate struct Turn: Sendable {
        enum Kind: Sendable {
            case join(Member, [TaskOperationEvent])
            case leave(ObjectIdentifier)
        }

        let position: Int
        let kind: Kind
    }

    fileprivate struct State: Sendable {
        var events: [TaskOperationEvent] = []
        var turns: [Turn] = []
        /// The delivery; nil while a thread uses it.
        var delivery: Delivery? = Delivery()
        /// The thread that uses the delivery. Valid only while `delivery` is nil.
        var deliverer: UInt = 0
    }

    private let queueIdentity: QueueIdentity
    private let state = Lock(State())

    init(of queueIdentity: QueueIdentity) {
        self.queueIdentity = queueIdentity
    }

    /// Appends events. Call it under the lock of the scheduler. Returns whether the caller must call `deliver` after
    /// unlocking. Otherwise, the thread that delivers other events delivers these events.
    func append(_ append: (inout [TaskOperationEvent]) -> Void) -> Bool {
        state.withLock { state in
            append(&state.events)
            return state.delivery != nil || state.isBehind(for: currentThread)
        }
    }

    /// Adds an observer. Call it under the lock of the scheduler.
    ///
    /// - Parameters:
    ///   - last: The number of the last event that the observer does not receive.
    ///   - replayed: The events that the observer receives first.
    func add(_ observer: any TaskOperationObserver, after last: UInt64, replaying replayed: [TaskOperationEvent]) {
        turn(.join(Member(observer: observer, last: last), replayed))
    }

    /// Removes an observer. Call it under the lock of the scheduler.
    func remove(_ observer: ObjectIdentifier) {
        turn(.leave(observer))
    }

    private func turn(_ kind: Turn.Kind) {
        state.withLock { $0.turns.append(Turn(position: $0.events.count, kind: kind)) }
    }

    /// Delivers all appended events, unless another thread is delivering. Call it with no lock held.
    func deliver() {
        let (first, isBehind) = state.withLock { ($0.begin(on: currentThread), $0.isBehind(for: currentThread)) }
        if isBehind { letCatchUp() }
        guard var delivery = first else { return }
        repeat { delivery.perform() } while state.withLock { $0.refill(&delivery) }
    }

    /// Yields briefly if the delivering thread is far behind, because otherwise faster threads could make the log grow
    /// without a bound. The yield is brief, because an observer may wait for the caller.
    private func letCatchUp() {
        for _ in 0..<100 {
            yieldThread()
            if !state.withLock({ $0.isBehind(for: currentThread) }) { return }
        }
    }

    // Delivers the remaining events of the released queue.
    deinit {
        deliver()
        guard let members = state.withLock({ $0.delivery?.members }), !members.isEmpty else { return }
        let queue = QueueLabel(queueIdentity)
        for member in members { member.observer.queueWasReleased(queue) }
    }
}

extension EventLog {
    /// The events that one thread delivers at a time.
    fileprivate struct Delivery: Sendable {
        fileprivate var members: [Member] = []
        fileprivate var events: [TaskOperationEvent] = []
        fileprivate var turns: [Turn] = []

        /// Delivers all events and releases them. The list of events keeps its memory unless it was long.
        mutating func perform() {
            var position = 0
            for turn in turns {
                deliver(position..<turn.position)
                position = turn.position
                apply(turn.kind)
            }
            deliver(position..<events.count)
            events.empty(keepingMemoryFor: 256)
            turns = []
        }

        private func deliver(_ positions: Range<Int>) {
            for position in positions {
                // An observer has received the events before its addition as the state at that time.
                for member in members where member.last < events[position].number {
                    member.observer.operationChanged(events[position])
                }
            }
        }

        private mutating func apply(_ turn: Turn.Kind) {
            switch turn {
            case .join(let member, let replayed):
                members.append(member)
                for event in replayed { member.observer.operationChanged(event) }
            case .leave(let observer):
                members.removeAll { $0.observer.identity == observer }
            }
        }
    }
}

extension EventLog.State {
    private var isEmpty: Bool { events.isEmpty && turns.isEmpty }

    /// Returns the first events to deliver; nil if another thread is delivering or there are no events.
    fileprivate mutating func begin(on thread: UInt) -> EventLog.Delivery? {
        guard !isEmpty, var delivery = delivery.take() else { return nil }
        deliverer = thread
        exchange(with: &delivery)
        return delivery
    }

    /// Gives the delivering thread the next events. If there are none, ends the delivery and returns false.
    fileprivate mutating func refill(_ delivery: inout EventLog.Delivery) -> Bool {
        if isEmpty {
            self.delivery = delivery
            delivery = EventLog.Delivery()
            return false
        }
        exchange(with: &delivery)
        return true
    }

    /// Exchanges the undelivered events for empty lists.
    private mutating func exchange(with delivery: inout EventLog.Delivery) {
        swap(&events, &delivery.events)
        swap(&turns, &delivery.turns)
    }

    /// Whether another thread is delivering and many events are undelivered.
    fileprivate func isBehind(for thread: UInt) -> Bool {
        delivery == nil && deliverer != thread && events.count > 4096
    }
}
