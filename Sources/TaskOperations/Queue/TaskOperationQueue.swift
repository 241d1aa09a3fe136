/// A queue that runs operations in tasks: a limited number at once, by priority, after their dependencies.
///
/// All members except waits can be called from synchronous code, on any thread, and take effect before they return. A
/// queue that is released finishes its operations.
///
/// ```swift
/// let queue = TaskOperationQueue(name: "images", maxConcurrentOperationCount: 4)
/// let data = queue.addOperation(name: "download") { try await download(url) }
/// let image = queue.addOperation(.name("decode"), after: data) { try decode($0) }
/// show(try await image.value)
/// ```
///
/// The object that `init` returns owns the queue. Once it is released, the queue drains: it is resumed, its width is
/// at least 1, and it can no longer be suspended or get a width of 0. Bodies can still get the queue with `current` and
/// add operations. They get a view, whose lifetime has no effect on the queue.
public final class TaskOperationQueue: Sendable {
    package let scheduler: Scheduler
    /// Whether this object does not own the queue.
    private let isView: Bool

    /// The width of a queue for which none is given: the number of processors.
    public static var defaultMaxConcurrentOperationCount: Int { processorCount }

    /// The width that limits nothing.
    public static var unlimitedConcurrentOperationCount: Int { .max }

    /// The limit of queued operations that limits nothing.
    public static var unlimitedQueuedOperationCount: Int { .max }

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - maxConcurrentOperationCount: The width: how many bodies may execute at once; not negative.
    public convenience init(
        name: String? = nil, maxConcurrentOperationCount: Int = defaultMaxConcurrentOperationCount
    ) {
        self.init(Configuration(name: name, maxConcurrentOperationCount: maxConcurrentOperationCount))
    }

    /// Creates an empty queue with a configuration.
    ///
    /// Bodies run in unstructured tasks, because the queue may outlive the task that created it. They inherit nothing from
    /// that task except the task locals of the configuration. For child tasks, see `withTaskOperationQueue`.
    public convenience init(_ configuration: Configuration) {
        self.init(configuration, scopeWorkers: nil, failures: nil)
    }

    init(_ configuration: Configuration, scopeWorkers: ScopeWorkers?, failures: FailureLog?) {
        configuration.check()
        isView = false
        let policies = configuration.policies
        scheduler = Scheduler(
            queueName: configuration.name, width: configuration.maxConcurrentOperationCount, policies: policies,
            place: configuration.executor.map { .executor($0) } ?? .pool, isSuspended: configuration.isSuspended,
            taskLocals: configuration.taskLocals, permit: PermitNode(configuration.lending.permitKind),
            scopeWorkers: scopeWorkers, clock: policies.needTime ? QueueClock(configuration.clock) : nil,
            defaults: configuration.defaults.isEmpty ? nil : configuration.defaults, failures: failures)
        scheduler.setOwner(self)
        AllQueues.add(self)
    }

    /// The queue of the main actor, which is never released.
    private init(main scheduler: Scheduler) {
        isView = false
        self.scheduler = scheduler
        scheduler.setOwner(self)
        AllQueues.add(self)
    }

    /// Creates a view of a queue whose owner was released.
    fileprivate init(viewOf scheduler: Scheduler) {
        isView = true
        self.scheduler = scheduler
    }

    deinit {
        if isView { return }
        AllQueues.remove(scheduler.queueNumber)
        scheduler.ownerWasReleased()
    }

    /// The name in messages, descriptions and events; nil if the queue has none.
    public var name: String? {
        get { scheduler.identity.name }
        set { scheduler.identity.name = newValue }
    }

    /// A number that no other queue of the process has or had.
    package var number: Int { scheduler.queueNumber }

    /// The queue of the main actor: its bodies run there, one at a time.
    public static let main = TaskOperationQueue(
        main: Scheduler(
            queueName: "main", width: 1, place: .mainActor, isSuspended: false, taskLocals: []))

    /// The queue of the current operation, in its body and in child tasks of the body; nil elsewhere, and in an operation
    /// that was started without a queue.
    ///
    /// This is the object that the user created, or a view of the queue if that object was released.
    public static var current: TaskOperationQueue? {
        AnyTaskOperation.executing.flatMap { $0.record.withLock { $0.host }?.queue }
    }

    static func checkWidth(_ width: Int) {
        require(
            width >= 0,
            """
            maxConcurrentOperationCount is \(width); it must not be negative. Pass \
            TaskOperationQueue.unlimitedConcurrentOperationCount to limit nothing.
            """)
    }
}

// MARK: - Identity

extension TaskOperationQueue: Hashable {
    /// Whether both are the same queue: the same object, or views of one queue.
    public static func == (left: TaskOperationQueue, right: TaskOperationQueue) -> Bool {
        left.scheduler === right.scheduler
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(scheduler)) }
}

extension AnyTaskOperation {
    /// The queue of the operation; nil before it is added, after it has finished, and if it was started without a queue.
    public var queue: TaskOperationQueue? {
        record.withLock { $0.phase == .finished ? nil : $0.host }.flatMap { $0.queue }
    }
}

extension Scheduler {
    /// The owner, or a view if the owner was released.
    fileprivate nonisolated var queue: TaskOperationQueue? {
        if self === Scheduler.withoutQueue { return nil }
        return owningQueue ?? TaskOperationQueue(viewOf: self)
    }

    /// The object that the user created; nil if it was released.
    package nonisolated var owningQueue: TaskOperationQueue? { owner.map { $0 as! TaskOperationQueue } }
}
