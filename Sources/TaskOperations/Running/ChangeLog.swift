/// Delivers the changes of a queue to its listeners.
///
/// Changes are appended under the lock of the scheduler, in the order of their numbers, and delivered after it is
/// released. One thread at a time delivers the changes of all threads. Therefore a listener receives changes in order,
/// from one thread at a time, with no lock held. If a listener changes the queue, the delivery in progress delivers
/// these changes too.
struct ChangeLog: ~Copyable, Sendable {
    fileprivate struct Member: Sendable {
        let listener: any ChangeListener
        /// The number of the last change before the listener was added.
        let last: UInt64
    }

    /// The addition or removal of a listener at a position in the undelivered changes.
    fileprivate struct Turn: Sendable {
        enum Kind: Sendable {
            case join(Member, [LoggedChange])
            case leave(ObjectIdentifier)
        }

        let position: Int
        let kind: Kind
    }

    fileprivate struct State: Sendable {
        var changes: [LoggedChange] = []
        var turns: [Turn] = []
        /// The delivery; nil while a thread uses it.
        var delivery: Delivery? = Delivery()
        /// The thread that uses the delivery. Valid only while `delivery` is nil.
        var deliverer: UInt = 0
    }

    private let state = Lock(State())

    /// Appends changes. Call it under the lock of the scheduler.
    @inline(__always)
    func append(_ append: (inout [LoggedChange]) -> Void) {
        state.withLock { append(&$0.changes) }
    }

    /// Adds a listener. Call it under the lock of the scheduler.
    ///
    /// - Parameters:
    ///   - last: The number of the last change that the listener does not receive.
    ///   - replayed: The changes that the listener receives first.
    func join(_ listener: any ChangeListener, after last: UInt64, replaying replayed: [LoggedChange]) {
        turn(.join(Member(listener: listener, last: last), replayed))
    }

    /// Removes a listener. Call it under the lock of the scheduler.
    func leave(_ listener: ObjectIdentifier) {
        turn(.leave(listener))
    }

    private func turn(_ kind: Turn.Kind) {
        state.withLock { $0.turns.append(Turn(position: $0.changes.count, kind: kind)) }
    }

    /// Delivers all appended changes, unless another thread is delivering. Call it with no lock held.
    func deliver() {
        switch state.withLock({ $0.begin(on: currentThread) }) {
        case .deliver(var delivery):
            repeat { delivery.carryOut() } while state.withLock { $0.goOn(with: &delivery) }
        case .leave(let isBehind):
            if isBehind { letCatchUp() }
        }
    }

    /// Yields briefly if the delivering thread is far behind, because otherwise faster threads could make the log grow
    /// without a bound. The yield is brief, because a listener may wait for the caller.
    private func letCatchUp() {
        for _ in 0..<100 {
            yieldThread()
            if !state.withLock({ $0.isBehind(for: currentThread) }) { return }
        }
    }

    deinit {
        deliver()
        guard let members = state.withLock({ $0.delivery?.members }) else { return }
        for member in members { member.listener.queueWasReleased() }
    }
}

extension ChangeLog {
    /// The changes that one thread delivers at a time.
    fileprivate struct Delivery: Sendable {
        fileprivate var members: [Member] = []
        fileprivate var changes: [LoggedChange] = []
        fileprivate var turns: [Turn] = []

        /// Delivers all changes and releases them. The list of changes keeps its memory unless it was long.
        mutating func carryOut() {
            var position = 0
            for turn in turns {
                tell(changes[position..<turn.position])
                position = turn.position
                take(turn.kind)
            }
            tell(changes[position...])
            changes.removeAll(keepingCapacity: changes.count <= 256)
            turns = []
        }

        private func tell(_ changes: ArraySlice<LoggedChange>) {
            if changes.isEmpty { return }
            let first = changes[changes.startIndex].number
            for member in members {
                // The member has received earlier changes as the state at its addition.
                let new = member.last < first ? changes : changes.drop { $0.number <= member.last }
                if !new.isEmpty { member.listener.receive(new) }
            }
        }

        private mutating func take(_ turn: Turn.Kind) {
            switch turn {
            case .join(let member, let replayed):
                members.append(member)
                if !replayed.isEmpty { member.listener.receive(replayed[...]) }
            case .leave(let listener):
                members.removeAll { $0.listener.identity == listener }
            }
        }
    }

    /// The next step of a thread that has appended changes.
    fileprivate enum Beginning: Sendable {
        case deliver(Delivery)
        /// Return, because another thread is delivering or there are no changes.
        case leave(isBehind: Bool)
    }
}

extension ChangeLog.State {
    private var isEmpty: Bool { changes.isEmpty && turns.isEmpty }

    fileprivate mutating func begin(on thread: UInt) -> ChangeLog.Beginning {
        guard !isEmpty, var delivery = delivery.take() else { return .leave(isBehind: isBehind(for: thread)) }
        deliverer = thread
        exchange(with: &delivery)
        return .deliver(delivery)
    }

    /// Gives the delivering thread the next changes. If there are none, ends the delivery and returns false.
    fileprivate mutating func goOn(with delivery: inout ChangeLog.Delivery) -> Bool {
        if isEmpty {
            self.delivery = delivery
            delivery = ChangeLog.Delivery()
            return false
        }
        exchange(with: &delivery)
        return true
    }

    /// Exchanges the undelivered changes for empty lists.
    private mutating func exchange(with delivery: inout ChangeLog.Delivery) {
        swap(&changes, &delivery.changes)
        swap(&turns, &delivery.turns)
    }

    /// Whether another thread is delivering and many changes are undelivered.
    fileprivate func isBehind(for thread: UInt) -> Bool {
        delivery == nil && deliverer != thread && changes.count > 4096
    }
}
