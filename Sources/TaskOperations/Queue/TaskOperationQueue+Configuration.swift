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

        /// The width: the number of bodies that may execute at once; not negative. `unlimitedConcurrentOperationCount`
        /// sets no limit.
        public var maxConcurrentOperationCount: Int

        /// The order in which ready operations of one priority start.
        public var order: OperationOrder

        /// The number of operations that may wait to start, in addition to one operation for each free permit; at least
        /// 1. See `TaskOperationQueue.maxQueuedOperationCount`.
        public var maxQueuedOperationCount: Int

        /// The rule for an operation that is added to a full queue by a caller that does not wait for room.
        public var overflow: QueueOverflow

        /// The rate at which operations start; nil for no limit.
        public var rate: OperationRate?

        /// The rule by which waiting operations overtake more urgent ones; nil if they never do. It requires the order
        /// `firstInFirstOut`. Ageing increases the priority that orders an operation, not the priority of its task.
        public var ageing: OperationAgeing?

        /// The clock that measures the rate and ageing.
        public var clock: any Clock<Duration>

        /// Whether the queue starts no operation until it is resumed.
        public var isSuspended: Bool

        /// The rule that decides when a waiting body lends its permit.
        public var lending: PermitLending

        /// The executor of bodies that are not isolated to an actor; nil for the cooperative pool. In a scope, nil
        /// means the preferred executor of the task.
        public var executor: (any TaskExecutor)?

        /// The task locals that bodies see, with the values at the time when their operations were added.
        public var taskLocals: [InheritedTaskLocal]

        /// Options that apply to every operation of the queue.
        ///
        /// The limits of an operation are added to those of the defaults. Any other option of an operation replaces the
        /// same option of the defaults. The defaults must not contain a name or dependencies, because these belong to
        /// one operation.
        public var defaults: OperationOptions

        /// Creates a configuration. For each parameter, see the property of the same name.
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

/// The rule that decides when a body lends the permit of its queue during a wait for an operation, a queue, or another
/// object of this library.
public enum PermitLending: Sendable {
    /// The body lends its permit if the awaited operation needs the permit to end, directly or through other
    /// operations. Otherwise a body on a queue of width 1 still runs alone during its waits, but its permit is unused
    /// while it waits for other queues.
    case whenNeeded

    /// The body lends its permit in every wait. Another operation can start during the wait, and the body waits for a
    /// permit before it continues. No permit is unused, but each wait costs the return and the acquisition of a permit.
    case always

    /// The body never lends its permit, so that a queue of width 1 is strictly serial. A wait that needs a permit of
    /// the queue is refused with `TaskOperationError.waitCycle`. `withPermitLent` and pauses between attempts keep the
    /// permit too.
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

    /// Stops the process if a value is invalid.
    package func check() {
        TaskOperationQueue.checkWidth(maxConcurrentOperationCount)
        TaskOperationQueue.checkQueuedLimit(maxQueuedOperationCount)
        require(
            ageing == nil || order == .firstInFirstOut,
            "ageing is set, but order is \(order). Ageing requires firstInFirstOut.")
        let values = defaults.values
        require(
            values.name == nil,
            "The defaults of a queue set the name \"\(values.name ?? "")\". Name each operation instead.")
        require(
            values.dependencies.isEmpty,
            "The defaults of a queue set dependencies. Pass them to each operation instead.")
    }
}
