extension TaskOperationQueue {
    /// The configuration of a queue, a scope or a group.
    ///
    /// ```swift
    /// let uploads = TaskOperationQueue(
    ///     .init(
    ///         name: "uploads", maxConcurrentOperationCount: 4, rate: .perSecond(10),
    ///         defaults: [.timeLimit(.seconds(30)), .retry(.immediately(attempts: 3))]))
    /// ```
    public struct Configuration: Sendable {
        /// The name in messages, descriptions and events; nil if the queue has none.
        public var name: String?

        /// The width: how many bodies may execute at once; not negative. `unlimitedConcurrentOperationCount` limits nothing.
        public var maxConcurrentOperationCount: Int

        /// The order in which ready operations of one priority start.
        public var order: OperationOrder

        /// How many operations may be queued, that is added and not started, beyond those for which a permit is free; at
        /// least 1. See `TaskOperationQueue.maxQueuedOperationCount`.
        public var maxQueuedOperationCount: Int

        /// The rule for an operation that is added to a full queue by a caller that does not wait for room.
        public var overflow: QueueOverflow

        /// How fast operations start; nil if nothing limits that.
        public var rate: OperationRate?

        /// The rule by which waiting operations overtake more urgent ones; nil if they never do. It requires the order
        /// `firstInFirstOut`. Ageing increases the priority that orders an operation, not the priority of its task.
        public var ageing: OperationAgeing?

        /// The clock that measures the rate and ageing.
        public var clock: any Clock<Duration>

        /// Whether the queue starts nothing until it is resumed.
        public var isSuspended: Bool

        /// When a body lends its permit while it awaits.
        public var lending: PermitLending

        /// The executor of bodies that are not isolated to an actor; nil for the cooperative pool. In a scope, nil is the
        /// preferred executor of the task.
        public var executor: (any TaskExecutor)?

        /// Task locals whose values a body sees as they were where its operation was added.
        public var taskLocals: [InheritedTaskLocal]

        /// Options of all operations of the queue, which complete those of each operation.
        ///
        /// A limit of the defaults is added to the limits of an operation; for any other option, the operation's own value
        /// counts. Names and dependencies belong to one operation, and stop the process here with a message.
        public var defaults: OperationOptions

        /// Creates a configuration. Each parameter is described at the property of its name.
        public init(
            name: String? = nil,
            maxConcurrentOperationCount: Int = defaultMaxConcurrentOperationCount,
            order: OperationOrder = .firstInFirstOut,
            maxQueuedOperationCount: Int = unlimitedQueuedOperationCount,
            overflow: QueueOverflow = .reject,
            rate: OperationRate? = nil,
            ageing: OperationAgeing? = nil,
            clock: any Clock<Duration> = ContinuousClock(),
            isSuspended: Bool = false,
            lending: PermitLending = .whenNeeded,
            executor: (any TaskExecutor)? = nil,
            inheriting taskLocals: [InheritedTaskLocal] = [],
            defaults: OperationOptions = OperationOptions()
        ) {
            self.name = name
            self.maxConcurrentOperationCount = maxConcurrentOperationCount
            self.order = order
            self.maxQueuedOperationCount = maxQueuedOperationCount
            self.overflow = overflow
            self.rate = rate
            self.ageing = ageing
            self.clock = clock
            self.isSuspended = isSuspended
            self.lending = lending
            self.executor = executor
            self.taskLocals = taskLocals
            self.defaults = defaults
        }
    }
}

/// When a body lends the permit of its queue while it awaits an operation, a queue, or something else of this library.
public enum PermitLending: Sendable {
    /// When the awaited operation could not end otherwise. A serial queue keeps its exclusion where possible; but the
    /// width is not used while a body waits for other queues.
    case whenNeeded

    /// In every wait: another operation starts in place of the body, and the body waits for a permit before it continues.
    /// The width is used fully, and each wait costs the exchange of a permit.
    case always

    /// Never, so that a queue of width 1 is strictly serial. A wait that needs a permit of the queue is refused with
    /// `TaskOperationError.waitCycle`. `withPermitLent` and pauses between attempts keep the permit too.
    case never
}

extension PermitLending {
    var permitKind: PermitNode.Kind {
        switch self {
        case .whenNeeded: .lendable
        case .always: .lentAlways
        case .never: .kept
        }
    }
}

extension TaskOperationQueue.Configuration {
    var policies: QueuePolicies {
        QueuePolicies(
            order: order, queuedLimit: maxQueuedOperationCount, overflow: overflow, rate: rate, ageing: ageing)
    }

    /// Stops the process if a value makes no sense.
    package func check() {
        TaskOperationQueue.checkWidth(maxConcurrentOperationCount)
        TaskOperationQueue.checkQueuedLimit(maxQueuedOperationCount)
        require(
            ageing == nil || order == .firstInFirstOut,
            "ageing is set and order is \(order); it must be firstInFirstOut, or old operations never come first.")
        let values = defaults.values
        require(
            values.name == nil, "The defaults of a queue have the name \"\(values.name ?? "")\"; name each operation.")
        require(values.dependencies.isEmpty, "The defaults of a queue have dependencies; give them to each operation.")
    }
}
