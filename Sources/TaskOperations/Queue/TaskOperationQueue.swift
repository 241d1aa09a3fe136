/// Runs operations in tasks: at most so many at once, by priority, after their dependencies.
///
/// Everything but waiting can be called from synchronous code, from any thread, and takes effect before the call
/// returns. A queue that is released while it has operations still finishes them.
///
/// ```swift
/// let queue = TaskOperationQueue(name: "images", maxConcurrentOperationCount: 4)
/// let data = queue.addOperation(name: "download") { try await download(url) }
/// let image = queue.addOperation(name: "decode", after: data) { try decode($0) }
/// show(try await image.value)
/// ```
///
/// The object that `init` returns owns the queue. Once it is released, the queue drains: it is resumed, its width is
/// at least 1, and it can no longer be suspended or get a width of 0, as nobody could take that back for good. Bodies
/// can still ask for it with `current` and add to it; what they get then is a view, whose lifetime means nothing.
public final class TaskOperationQueue: Sendable {
    let scheduler: Scheduler
    /// Whether the queue goes on after this object is released.
    private let isView: Bool

    /// The width of a queue for which none is given: the number of processors.
    public static var defaultMaxConcurrentOperationCount: Int { processorCount }

    /// The width that limits nothing.
    public static var unlimitedConcurrentOperationCount: Int { .max }

    /// The limit of pending operations that limits nothing.
    public static var unlimitedPendingOperationCount: Int { .max }

    /// Makes an empty queue.
    ///
    /// - Parameters:
    ///   - name: What the queue is called in messages and descriptions.
    ///   - maxConcurrentOperationCount: The width: how many bodies may execute at once; not negative. Pass
    ///     `unlimitedConcurrentOperationCount` to have none wait for another.
    ///   - order: In which order ready operations of one priority start.
    ///   - maxPendingOperationCount: How many operations may be pending, that is added and not started; at least 1.
    ///   - overflow: What becomes of an operation that is added to a full queue by a caller that does not wait.
    ///   - rate: How fast operations start; nil if nothing limits that. One that is cancelled before its start does not
    ///     count. See `OperationRate`.
    ///   - ageing: How operations that wait come before more urgent ones in the end; nil if they do not. It is for the order
    ///     `firstInFirstOut` only. The priority by which an operation is ordered rises, not the one of its task.
    ///   - clock: What measures the rate and ageing.
    ///   - isSuspended: Whether the queue starts nothing until it is resumed.
    ///   - lendsPermits: Whether a body lends its permit while it awaits something that needs a permit of this queue. If
    ///     false, no operation starts in place of a body that waits, so that a queue of width 1 is strictly serial.
    ///     `withPermitLent` and pauses between attempts then keep the permit, too. A wait that needs the permit is refused
    ///     with `TaskOperationError.waitCycle`.
    ///   - executor: Where bodies run that are not isolated to an actor; nil for the cooperative pool.
    ///   - taskLocals: Task locals whose values a body sees as they were where its operation was added.
    ///
    /// Bodies run in unstructured tasks: the queue may outlive the task that made it. Nothing of that task is seen in
    /// them, but for what is carried. For child tasks, see `withTaskOperationQueue`.
    public convenience init(
        name: String? = nil,
        maxConcurrentOperationCount: Int = defaultMaxConcurrentOperationCount,
        order: OperationOrder = .firstInFirstOut,
        maxPendingOperationCount: Int = unlimitedPendingOperationCount,
        overflow: QueueOverflow = .refuse,
        rate: OperationRate? = nil,
        ageing: OperationAgeing? = nil,
        clock: any Clock<Duration> = ContinuousClock(),
        isSuspended: Bool = false,
        lendsPermits: Bool = true,
        executor: (any TaskExecutor)? = nil,
        inheriting taskLocals: [InheritedTaskLocal] = []
    ) {
        self.init(
            name: name, width: maxConcurrentOperationCount,
            policies: QueuePolicies(
                order: order, pendingLimit: maxPendingOperationCount, overflow: overflow, rate: rate, ageing: ageing),
            clock: clock, isSuspended: isSuspended, lendsPermits: lendsPermits, executor: executor,
            taskLocals: taskLocals,
            scopeWorkers: nil)
    }

    init(
        name: String?, width: Int, policies: QueuePolicies, clock: any Clock<Duration>, isSuspended: Bool,
        lendsPermits: Bool,
        executor: (any TaskExecutor)?, taskLocals: [InheritedTaskLocal], scopeWorkers: ScopeWorkers?
    ) {
        Self.checkWidth(width)
        Self.checkPendingLimit(policies.pendingLimit)
        require(
            policies.ageing == nil || policies.order == .firstInFirstOut,
            "ageing is set and order is \(policies.order); it must be firstInFirstOut, or old operations never come first."
        )
        isView = false
        scheduler = Scheduler(
            queueName: name, width: width, policies: policies, place: executor.map { .executor($0) } ?? .pool,
            isSuspended: isSuspended, taskLocals: taskLocals, permit: PermitNode(lendsPermits ? .lendable : .kept),
            scopeWorkers: scopeWorkers, clock: policies.needTime ? QueueClock(clock) : nil)
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

    /// A view of a queue whose owner is gone.
    fileprivate init(viewOf scheduler: Scheduler) {
        isView = true
        self.scheduler = scheduler
    }

    deinit {
        if isView { return }
        AllQueues.remove(scheduler.queueNumber)
        scheduler.ownerWasReleased()
    }

    /// What the queue is called in messages, descriptions and events from now on; nil if it has no name.
    public var name: String? {
        get { scheduler.identity.name }
        set { scheduler.identity.name = newValue }
    }

    /// The queue of the main actor: its bodies run there, one at a time.
    public static let main = TaskOperationQueue(
        main: Scheduler(
            queueName: "main", width: 1, place: .mainActor, isSuspended: false, taskLocals: []))

    /// The queue of the operation whose body, or a child task of whose body, asks; nil anywhere else, and where
    /// the operation was started by hand.
    ///
    /// This is the object that the user made, or a view of its queue if that object is gone.
    public static var current: TaskOperationQueue? {
        AnyTaskOperation.executing.flatMap { ($0.record.withLock { $0.host } as? Scheduler)?.queue }
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
    /// The queue that the operation is on; nil if it was not added or was started by hand, and once it has
    /// finished.
    public var queue: TaskOperationQueue? {
        record.withLock { $0.phase == .finished ? nil : $0.host }.flatMap { ($0 as? Scheduler)?.queue }
    }
}

extension Scheduler {
    /// The queue as its user knows it: the owner, or a view if the owner is gone.
    fileprivate nonisolated var queue: TaskOperationQueue? {
        if self === Scheduler.withoutQueue { return nil }
        return owningQueue ?? TaskOperationQueue(viewOf: self)
    }

    /// The object that the user made; nil if it is gone.
    nonisolated var owningQueue: TaskOperationQueue? { owner.map { $0 as! TaskOperationQueue } }
}
