import Synchronization

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
