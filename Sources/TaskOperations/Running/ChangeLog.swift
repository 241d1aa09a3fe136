/// The changes of a queue on their way to listeners.
///
/// Changes are appended under the lock of the scheduler, so that they are in the order of their numbers, and delivered
/// after it. One thread at a time delivers the changes of all threads. So a listener is called in order, by one thread at
/// a time, and under no lock. If a listener changes the queue, the delivery in progress delivers these changes too.
struct ChangeLog: ~Copyable, Sendable {
    fileprivate struct Member: Sendable {
        let listener: any ChangeListener
        /// The number of the last change before the listener was added.
        let last: UInt64
    }

    /// A listener is added or removed after a number of undelivered changes.
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
        /// The next delivery; nil while a thread has it.
        var delivery: Delivery? = Delivery()
        /// The thread that delivers, if one does.
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
    ///   - replayed: The changes that it receives first.
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

    /// Delivers all appended changes, unless another thread does. Call it with no lock held.
    func deliver() {
        switch state.withLock({ $0.begin(on: currentThread) }) {
        case .deliver(var delivery):
            repeat { delivery.carryOut() } while state.withLock { $0.goOn(with: &delivery) }
        case .leave(let isBehind):
            if isBehind { letCatchUp() }
        }
    }

    /// Yields for a moment to the delivering thread, which is far behind. Otherwise faster threads could let the log grow
    /// without a bound. The moment is short, because a listener may wait for the caller.
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

        /// Delivers everything and releases it. Lists of usual length keep their memory.
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
        /// Return: another thread delivers, or there are no changes.
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

    /// Gives the delivering thread the next changes. Returns false if there are none.
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

    /// Whether another thread delivers, and much is left.
    fileprivate func isBehind(for thread: UInt) -> Bool {
        delivery == nil && deliverer != thread && changes.count > 4096
    }
}
