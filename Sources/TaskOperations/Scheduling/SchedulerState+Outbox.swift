extension SchedulerState {
    /// What events have led to, for the actor to carry out after it is left.
    struct Outbox: Sendable {
        /// The levels of workers to start.
        var workers = TinyArray<PriorityLevel>()
        /// Waiting tasks that go on.
        var resumed: [Waiter] = []
        /// Operations that end without having been started, and why.
        var rejected: [Rejection] = []
        /// Operations that have left the queue, to be let go of.
        var removed: [Element] = []
        /// Whether the queue is empty and stays so.
        var isOver = false
        /// Operations whose floor may be another one now.
        var newFloors: [Element] = []
        /// After which time the queue is to be woken.
        var wakeDelay: Duration?
        /// What happened to operations, in order; nothing if nobody listens.
        var changes: [Change] = []

        var isEmpty: Bool {
            workers.isEmpty && resumed.isEmpty && rejected.isEmpty && removed.isEmpty && newFloors.isEmpty
                && changes.isEmpty && !isOver && wakeDelay == nil
        }

        mutating func takeNewFloors() -> [Element] {
            defer { newFloors = [] }
            return newFloors
        }
    }

    /// An operation that is to be ended.
    struct Rejection: Sendable {
        enum Reason: Hashable, Sendable {
            /// It came after the queue was shut down.
            case shutDown
            /// It came while everything was being cancelled.
            case cancelled
            /// There was no room for it.
            case full
            /// It gave way to a newer one.
            case dropped
        }

        let element: Element
        let reason: Reason
    }

    /// One change of one operation. Numbers are given without a gap from 1 on.
    struct Change: Sendable {
        typealias Kind = ChangeKind

        let number: UInt64
        let element: Element
        /// The number of the operation: the first that was added has 1.
        let arrival: UInt64
        let kind: Kind
        /// How many operations were ever added, and how many of them have not ended, after this change.
        let counts: Counts
    }

    /// How many operations were ever added, and how many of them have not ended.
    struct Counts: Hashable, Sendable {
        let added: Int
        let unfinished: Int
    }

    var counts: Counts { Counts(added: Int(arrivals), unfinished: count) }
}

// MARK: - Urgency

extension SchedulerState {
    /// Which newcomers have to be taken in at once, as nobody else is about to: those of a level from this one on.
    struct Urgency: RawRepresentable, Hashable, Sendable {
        let rawValue: UInt8

        init(rawValue: UInt8) { self.rawValue = rawValue }

        static var everything: Self { Self(rawValue: 0) }
        static var nothing: Self { Self(rawValue: .max) }

        static func from(_ level: PriorityLevel) -> Self { Self(rawValue: level.rawValue) }
        static func above(_ level: PriorityLevel) -> Self { Self(rawValue: level.rawValue + 1) }

        func includes(_ level: PriorityLevel) -> Bool { level.rawValue >= rawValue }
    }

    /// What is urgent as long as nothing happens but that workers take what is offered, of a level, if any is.
    ///
    /// A worker that executes enters afterwards and takes in what came, and one that was started does so before it
    /// begins; what comes before its level cannot wait for that.
    func urgency(offering offered: PriorityLevel?) -> Urgency {
        // For ageing, when an operation came has to be known.
        if !intake.takes || isObserved || room.isLimited || ages != nil { return .everything }
        if let offered { return order.servesNewcomersLast ? .above(offered) : .from(offered) }
        if permits.available == 0 || isHalted { return .nothing }
        if starting.count < min(permits.available, workerLimit) { return .everything }
        return .above(starting.highest!)
    }
}

/// What happened to an operation. On its own, as a type within a generic one is looked up at each use.
enum ChangeKind: Hashable, Sendable {
    case added
    /// Its dependencies are finished.
    case ready
    case started
    /// It has lent its permit out.
    case lent
    /// It goes on after it had lent its permit out.
    case returned
    /// It was cancelled; it ends at once if it has not started.
    case cancelled
    /// It has another level.
    case levelChanged(PriorityLevel)
    /// Its body runs again, for the so many-th time.
    case attempt(Int)
    case finished
}
