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
        /// The thread that delivers has them meanwhile.
        var members: [Member] = []
        /// The thread that delivers; 0 if none does.
        var deliverer: UInt = 0
    }

    private let state = Lock(State())

    /// Appends changes. To be called while the scheduler is entered.
    func append(_ changes: [Scheduler.State.Change], at instant: ContinuousClock.Instant) {
        state.withLock { state in
            for change in changes { state.changes.append(LoggedChange(change, at: instant)) }
        }
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
        guard var delivery = state.withLock({ $0.begin(on: currentThread) }) else { return letCatchUp() }
        while !delivery.isEmpty {
            delivery.carryOut()
            let done = delivery
            delivery = state.withLock { $0.next(keeping: done.members) }
            extendLifetime(done)
        }
    }

    /// Gives the thread that delivers a moment if it is far behind: threads that are faster would otherwise have what is to
    /// be delivered grow without a bound. No more than a moment, as a listener may wait for the caller.
    private func letCatchUp() {
        for _ in 0..<100 {
            if !state.withLock({ $0.isBehind(for: currentThread) }) { return }
            yieldThread()
        }
    }

    deinit {
        deliver()
        for member in state.withLock({ $0.members }) { member.listener.queueWasReleased() }
    }
}

extension ChangeLog {
    /// What one thread delivers at a time.
    fileprivate struct Delivery: Sendable {
        fileprivate var members: [Member]
        private let changes: [LoggedChange]
        private let turns: [Turn]

        fileprivate init(members: [Member], changes: [LoggedChange], turns: [Turn]) {
            self.members = members
            self.changes = changes
            self.turns = turns
        }

        var isEmpty: Bool { changes.isEmpty && turns.isEmpty }

        mutating func carryOut() {
            var position = 0
            for turn in turns {
                tell(changes[position..<turn.position])
                position = turn.position
                take(turn.kind)
            }
            tell(changes[position...])
        }

        private func tell(_ changes: ArraySlice<LoggedChange>) {
            guard let first = changes.first?.number else { return }
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
}

extension ChangeLog.State {
    /// Begins to deliver; nil if there is nothing to do, or another thread does.
    fileprivate mutating func begin(on thread: UInt) -> ChangeLog.Delivery? {
        if deliverer != 0 || (changes.isEmpty && turns.isEmpty) { return nil }
        deliverer = thread
        let delivery = next(keeping: members)
        members = []
        return delivery
    }

    /// Whether another thread delivers, and much is left.
    fileprivate func isBehind(for thread: UInt) -> Bool {
        deliverer != 0 && deliverer != thread && changes.count > 4096
    }

    /// Goes on, or ends if there is nothing left.
    fileprivate mutating func next(keeping members: [ChangeLog.Member]) -> ChangeLog.Delivery {
        let delivery = ChangeLog.Delivery(members: members, changes: changes, turns: turns)
        if delivery.isEmpty {
            deliverer = 0
            self.members = members
        }
        changes = []
        turns = []
        return delivery
    }
}
