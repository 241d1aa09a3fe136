extension TaskOperationQueue {
    /// The configuration of a queue, a scope or a group.
    ///
    /// ```swift
    /// let uploads = TaskOperationQueue(
    ///     .init(
    ///         name: "uploads", maxConcurrentOperationCount: 4, rate: .perSecond(10),
    ///         defaults: [.timeout(.seconds(30)), .retry(.immediately(attempts: 3))]))
    /// ```
    public struct Configuration: Sendable {
        /// The name in messages, descriptions and events; nil if the queue has no name.
        public var name: String?

        /// The width of the queue, which is the number of bodies that may execute at once. It must not be negative.
        /// `.max` sets no limit.
        public var maxConcurrentOperationCount: Int

        /// The order in which ready operations of the same priority start.
        public var order: Order

        /// The number of operations that may wait to start, in addition to one operation for each free permit. It must
        /// be at least 1. See `TaskOperationQueue.maxQueuedOperationCount`.
        public var maxQueuedOperationCount: Int

        /// The rule for an operation that is added to a full queue. It applies to callers that do not wait for room.
        public var overflow: Overflow

        /// The rate at which operations start; nil for no limit.
        public var rate: OperationRate?

        /// The clock that measures the rate.
        public var clock: any Clock<Duration>

        /// Whether the queue is suspended at first. A suspended queue starts no operation until it is resumed.
        public var isSuspended: Bool

        /// The effect of releasing the queue's owner on operations that have not finished. It has no effect on a scope,
        /// which finishes its operations before it releases its queue.
        public var whenReleased: ReleaseRule

        /// The rule that decides when a waiting body lends its permit.
        public var lending: Lending

        /// The executor of bodies that are not isolated to an actor. Nil means the cooperative pool. In a scope, nil
        /// means the preferred executor of the task.
        public var executor: (any TaskExecutor)?

        /// The task locals that bodies inherit from the code that adds their operations.
        public var taskLocals: [InheritedTaskLocal]

        /// Options that apply to every operation of the queue.
        ///
        /// An operation has the limits of the defaults in addition to its own limits. Any other option of an operation
        /// replaces the same option of the defaults.
        public var defaults: OperationOptions

        /// Creates a configuration. For each parameter, see the property of the same name.
        public init(
            name: String? = nil,
            maxConcurrentOperationCount: Int = defaultMaxConcurrentOperationCount,
            order: Order = .firstInFirstOut,
            maxQueuedOperationCount: Int = .max,
            overflow: Overflow = .reject,
            rate: OperationRate? = nil,
            clock: any Clock<Duration> = ContinuousClock(),
            isSuspended: Bool = false,
            whenReleased: ReleaseRule = .finish,
            lending: Lending = .whenNeeded,
            executor: (any TaskExecutor)? = nil,
            taskLocals: [InheritedTaskLocal] = [],
            defaults: OperationOptions = OperationOptions()
        ) {
            self.name = name
            self.maxConcurrentOperationCount = maxConcurrentOperationCount
            self.order = order
            self.maxQueuedOperationCount = maxQueuedOperationCount
            self.overflow = overflow
            self.rate = rate
            self.clock = clock
            self.isSuspended = isSuspended
            self.whenReleased = whenReleased
            self.lending = lending
            self.executor = executor
            self.taskLocals = taskLocals
            self.defaults = defaults
        }

        /// The effect of releasing the owner of a queue. The owner is the object that `init` returned.
        public enum ReleaseRule: Hashable, Sendable {
            /// The queue resumes and finishes its operations. Operations that a suspended queue holds then run.
            case finish

            /// The queue cancels its operations, as `cancelAllOperations()` does, and also those that bodies add
            /// afterwards. The cancellation handlers of executing bodies are called in the thread that releases the
            /// owner.
            case cancel
        }

        /// The order in which operations of the same priority start. Operations of a higher priority start first.
        public enum Order: Hashable, Sendable {
            /// The operation that was added first starts first.
            case firstInFirstOut
            /// The operation that was added last starts first. A barrier still starts after all operations that were added
            /// before it, and before all operations that are added after it.
            case lastInFirstOut
        }

        /// The rule for adding an operation to a full queue; see `TaskOperationQueue.maxQueuedOperationCount`.
        public enum Overflow: Hashable, Sendable {
            /// The new operation fails at once with `TaskOperationError.queueFull`.
            case reject
            /// The queue accepts the new operation. The oldest queued operation fails with `TaskOperationError.dropped`, even
            /// if it has a higher priority. For each free permit, one of the oldest operations is not dropped. RxJava calls
            /// this rule `DROP_OLDEST`.
            case dropOldest
        }

        /// The rule that decides when a body lends the permit of its queue. It applies while the body waits for an operation, a
        /// queue, or another object of this library.
        public enum Lending: Sendable {
            /// The body lends its permit if the awaited operation needs a permit of the queue to end, directly or through other
            /// operations. Otherwise, the body keeps its permit. On a queue of width 1, the body then still runs alone during
            /// its waits. The permit is unused while the body waits for other queues.
            case whenNeeded

            /// The body lends its permit in every wait. Another operation can start during the wait, and the body waits for a
            /// permit before it continues. No permit is unused during waits. Each wait costs the return of a permit and the
            /// acquisition of a permit.
            case always

            /// The body never lends its permit, so that a queue of width 1 is strictly serial. A wait that needs a permit of
            /// the queue is refused with `TaskOperationError.waitCycle`. The body also keeps the permit during `withPermitLent`
            /// and during pauses between attempts.
            case never
        }
    }
}

extension TaskOperationQueue.Configuration {
    /// Whether the queue needs `SelectionPolicies`. Levels, the width and the order need none.
    var needsPolicies: Bool { rate != nil || overflow.drops }

    /// Stops the process if a value is invalid.
    package func check() {
        TaskOperationQueue.checkWidth(maxConcurrentOperationCount)
        TaskOperationQueue.checkQueuedLimit(maxQueuedOperationCount)
    }
}

extension TaskOperationQueue.Configuration.Overflow {
    /// Whether a full queue drops a queued operation for a new one.
    var drops: Bool { self != .reject }
}

/// A task local whose value a queue passes from the code that adds an operation to the operation's body.
///
/// ```swift
/// enum Request { @TaskLocal static var id: String? }
/// let queue = TaskOperationQueue(.init(taskLocals: [InheritedTaskLocal(Request.$id)]))
/// ```
public struct InheritedTaskLocal: Sendable {
    /// Reads the value, and returns a function that runs a body with this value.
    let capture: @Sendable () -> TaskLocalBinding

    /// Creates a value from the projected value of a task local, such as `Request.$id`.
    public init<Value: Sendable>(_ taskLocal: TaskLocal<Value>) {
        capture = {
            let value = taskLocal.get()
            return { body in await taskLocal.withValue(value) { await body() } }
        }
    }
}
