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
        /// Whether there are changes of operations to tell.
        var hasChanges = false

        var isEmpty: Bool {
            workers.isEmpty && resumed.isEmpty && rejected.isEmpty && removed.isEmpty && newFloors.isEmpty
                && !hasChanges && !isOver && wakeDelay == nil
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
        if !intake.takes || changes.isObserved || room.isLimited || pace.hasAgeing { return .everything }
        if let offered { return order.servesNewcomersLast ? .above(offered) : .from(offered) }
        if permits.available == 0 || isHalted { return .nothing }
        if starting.count < min(permits.available, workerLimit) { return .everything }
        return .above(starting.highest!)
    }
}
