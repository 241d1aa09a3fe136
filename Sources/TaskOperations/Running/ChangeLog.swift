/// The changes of a queue on their way to listeners.
///
/// They are appended while the scheduler is entered, so that they are in the order of their numbers, and delivered after
/// it is left. One thread at a time delivers, for all: a thread that comes meanwhile leaves what it has to that one. So
/// a listener is called in order and by one thread at a time, under no lock, and one that changes the queue itself finds
/// a delivery in progress, which goes on with what it did.
struct ChangeLog: ~Copyable, Sendable {
    fileprivate struct Member: Sendable {
        let listener: any ChangeListener
        /// The last change before it came.
        let last: UInt64
    }

    /// A listener comes or goes, after so many changes that are to be delivered.
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

    /// Appends changes. To be called while the scheduler is entered.
    @inline(__always)
    func append(_ append: (inout [LoggedChange]) -> Void) {
        state.withLock { append(&$0.changes) }
    }

    /// A listener comes. To be called while the scheduler is entered.
    ///
    /// - Parameters:
    ///   - last: The number of the last change that it is not told.
    ///   - replayed: What it is told first.
    func join(_ listener: any ChangeListener, after last: UInt64, replaying replayed: [LoggedChange]) {
        turn(.join(Member(listener: listener, last: last), replayed))
    }

    /// A listener goes. To be called while the scheduler is entered.
    func leave(_ listener: ObjectIdentifier) {
        turn(.leave(listener))
    }

    private func turn(_ kind: Turn.Kind) {
        state.withLock { $0.turns.append(Turn(position: $0.changes.count, kind: kind)) }
    }

    /// Delivers all that was appended, unless another thread does. To be called with no lock held.
    func deliver() {
        switch state.withLock({ $0.begin(on: currentThread) }) {
        case .deliver(var delivery):
            repeat { delivery.carryOut() } while state.withLock { $0.goOn(with: &delivery) }
        case .leave(let isBehind):
            if isBehind { letCatchUp() }
        }
    }

    /// Gives the thread that delivers a moment, as it is far behind: threads that are faster would otherwise have what is to
    /// be delivered grow without a bound. No more than a moment, as a listener may wait for the caller.
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
    /// What one thread delivers at a time.
    fileprivate struct Delivery: Sendable {
        fileprivate var members: [Member] = []
        fileprivate var changes: [LoggedChange] = []
        fileprivate var turns: [Turn] = []

        /// Tells everything, and lets go of it. Lists of usual length keep their memory.
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
                // What it was told as the state that it found.
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

    /// What a thread does that comes to deliver.
    fileprivate enum Beginning: Sendable {
        case deliver(Delivery)
        /// Another one does, or there is nothing to do.
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

    /// Has a thread that has delivered what it had go on. Returns false if there is nothing left.
    fileprivate mutating func goOn(with delivery: inout ChangeLog.Delivery) -> Bool {
        if isEmpty {
            self.delivery = delivery
            delivery = ChangeLog.Delivery()
            return false
        }
        exchange(with: &delivery)
        return true
    }

    /// Hands over what is to be told, for lists that are empty.
    private mutating func exchange(with delivery: inout ChangeLog.Delivery) {
        swap(&changes, &delivery.changes)
        swap(&turns, &delivery.turns)
    }

    /// Whether another thread delivers, and much is left.
    fileprivate func isBehind(for thread: UInt) -> Bool {
        delivery == nil && deliverer != thread && changes.count > 4096
    }
}
