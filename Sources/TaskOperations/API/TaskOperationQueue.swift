import Synchronization

/// A queue that runs operations in tasks. It limits the number of bodies that execute at once, and orders operations by
/// priority and dependencies.
///
/// All members except waits can be called from synchronous code, on any thread. They take effect before they return.
///
/// ```swift
/// let queue = TaskOperationQueue(name: "images", maxConcurrentOperationCount: 4)
/// let data = queue.addOperation(name: "download") { try await download(url) }
/// let image = queue.addOperation(name: "decode", after: data) { try decode($0) }
/// show(try await image.value)
/// ```
///
/// The object that `init` returns owns the queue. When this object is released, the queue drains. It resumes, can no
/// longer be suspended, and treats a width of 0 as 1. The remaining operations finish, unless the configuration sets
/// `whenReleased` to `.cancel`.
///
/// Bodies can still use the queue through `current`, and can add operations to it. `current` is then a view of the
/// queue. The lifetime of a view has no effect on the queue.
public final class TaskOperationQueue: Sendable {
    package let scheduler: Scheduler
    /// Nil if this object is a view and does not own the queue.
    private let whenReleased: Configuration.ReleaseRule?

    /// The default width, which is the number of processors.
    public static var defaultMaxConcurrentOperationCount: Int { processorCount }

    /// Creates an empty queue.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - maxConcurrentOperationCount: The width of the queue, which is the number of bodies that may execute at once.
    ///     It must not be negative.
    public convenience init(
        name: String? = nil, maxConcurrentOperationCount: Int = defaultMaxConcurrentOperationCount
    ) {
        self.init(Configuration(name: name, maxConcurrentOperationCount: maxConcurrentOperationCount))
    }

    /// Creates an empty queue with a configuration.
    ///
    /// Bodies run in unstructured tasks, because the queue may outlive the task that creates it. The tasks inherit only
    /// the task locals that the configuration names. For child tasks, see `withTaskOperationQueue`.
    public convenience init(_ configuration: Configuration) {
        self.init(configuration, scopeWorkers: nil, failures: nil)
    }

    convenience init(_ configuration: borrowing Configuration, scopeWorkers: ScopeWorkers?, failures: FailureLog?) {
        configuration.check()
        let scheduler = Scheduler(
            configuration, place: configuration.executor.map { .executor($0) } ?? .pool,
            permit: PermitNode(lending: configuration.lending), scopeWorkers: scopeWorkers, failures: failures)
        self.init(scheduler, whenReleased: configuration.whenReleased)
    }

    /// - Parameter whenReleased: Nil for a view of a queue whose owner was released.
    private init(_ scheduler: Scheduler, whenReleased: Configuration.ReleaseRule?) {
        self.scheduler = scheduler
        self.whenReleased = whenReleased
        if whenReleased == nil { return }
        scheduler.setOwner(self)
        AllQueues.add(self)
    }

    deinit {
        if whenReleased == nil { return }
        AllQueues.remove(scheduler.queueNumber)
        scheduler.ownerWasReleased(cancelsOperations: whenReleased == .cancel)
    }

    /// The name in messages, descriptions and events; nil if the queue has no name.
    public var name: String? {
        get { scheduler.identity.name }
        set { scheduler.identity.name = newValue }
    }

    /// The queue of the main actor. Its bodies run on the main actor, one at a time.
    public static let main = TaskOperationQueue(
        Scheduler(
            .init(name: "main", maxConcurrentOperationCount: 1), place: .mainActor,
            permit: PermitNode(lending: .whenNeeded)),
        whenReleased: .finish)

    /// The queue of the operation whose body is running in the current task or in one of its parent tasks. Nil if there
    /// is no such operation, or if the operation was started without a queue. An unstructured task that a body creates
    /// has no current queue; such a task can capture the queue.
    ///
    /// The result is the object that `init` returned. If that object was released, the result is a view of the queue.
    public static var current: TaskOperationQueue? {
        guard let scheduler = AnyTaskOperation.current?.scheduler, !scheduler.isWithoutQueue else { return nil }
        return scheduler.owner ?? TaskOperationQueue(scheduler, whenReleased: nil)
    }

    static func checkWidth(_ width: Int) {
        require(
            width >= 0,
            """
            maxConcurrentOperationCount is \(width); it must not be negative. Pass \
            .max for no limit.
            """)
    }
}

// MARK: - Identity

extension TaskOperationQueue: Hashable {
    /// Whether both values refer to the same queue. Each value may be the owner or a view.
    public static func == (left: TaskOperationQueue, right: TaskOperationQueue) -> Bool {
        left.scheduler === right.scheduler
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(scheduler)) }
}

extension TaskOperationQueue {
    /// Adds an observer of all later events. First the observer receives the state of each unfinished operation; see
    /// `TaskOperationEvent.isReplayed`. The queue keeps the observer. Adding the observer again has no effect.
    ///
    /// Linear in the number of unfinished operations. In an observed queue, an empty operation, which has four events,
    /// takes 2.7 times the instructions.
    public func addObserver(_ observer: any TaskOperationObserver) {
        scheduler.addObserver(observer)
    }

    /// Removes an observer. Another thread may still report earlier events to the observer.
    public func removeObserver(_ observer: any TaskOperationObserver) {
        scheduler.removeObserver(observer)
    }

    /// Adds an observer of all queues of the process. These include queues that are created later, scopes, and the
    /// queues that drive bridged queues. Operations without a queue count as operations of an unnamed queue. Queues
    /// whose owner was already released are excluded. The observer is kept until `removeObserver` of this type. Adding
    /// the observer again has no effect.
    public static func addObserver(_ observer: any TaskOperationObserver) {
        AllQueues.add(AllQueues.Listener(observer))
    }

    /// Removes an observer of all queues. Another thread may still report earlier events to the observer.
    public static func removeObserver(_ observer: any TaskOperationObserver) {
        AllQueues.remove(AllQueues.Listener(observer))
    }
}

extension TaskOperationQueue {
    /// Adds an interceptor, which is a function that calls each body. Use it for a trace span, a transaction or a task
    /// local.
    ///
    /// ```swift
    /// queue.addBodyInterceptor { operation, body in
    ///     try await withSpan(operation.name ?? "operation") { _ in try await body() }
    /// }
    /// ```
    ///
    /// Call this before you add operations. An operation that starts at the same time may run without the interceptor.
    /// An interceptor that is added later wraps the earlier interceptors.
    ///
    /// The interceptor runs in the task of the body, on the body's executor. The operation holds its permit, and the
    /// inherited task locals are set. `current` is the operation only within `body`. If the body of an operation does
    /// not run, the interceptor is not called.
    ///
    /// An interceptor must not await operations that need a permit of the same queue, or a limit of the operation. A wait of
    /// the interceptor does not count as a wait of the body: it lends no permit, and is not refused if it cannot end.
    ///
    /// - Parameter interceptor: Calls `body` once. `body` throws the error of the operation's body. The outcome of the
    ///   operation is the outcome of its body, even if `interceptor` throws another error. If `interceptor` throws without
    ///   calling `body`, the operation fails with that error. If `interceptor` returns without calling `body`, the
    ///   operation fails with `TaskOperationError.bodyNotCalled`.
    public func addBodyInterceptor(
        _ interceptor:
            @escaping @Sendable (_ operation: AnyTaskOperation, _ body: () async throws -> Void) async throws -> Void
    ) {
        scheduler.addInterceptor(interceptor)
    }
}

// MARK: - Control

extension TaskOperationQueue {
    /// The width of the queue, which is the number of bodies that may execute at once. It must not be negative.
    ///
    /// Raising the width starts operations at once. Lowering the width stops no body. With a width of 0, no operation
    /// starts. After the queue's owner was released, a width of 0 has the effect of 1.
    public var maxConcurrentOperationCount: Int {
        get { scheduler.width }
        set {
            Self.checkWidth(newValue)
            scheduler.withCore { $0.state.setWidth(newValue) }
        }
    }

    /// Whether the queue is suspended. A suspended queue starts no operation. Operations that are executing continue, also
    /// with further attempts of `OperationOptions.retry(_:)`. To hold back attempts, too, pause their clock, a
    /// `PausableClock` of TaskOperationsExtras, or give the operations a limit with a capacity of 0, which also holds back
    /// attempts that follow without a pause.
    ///
    /// A release of the queue's owner ends the suspension. By default, the queue then resumes and runs all operations
    /// that it holds, for example uploads after a logout. To cancel them instead, set `Configuration.whenReleased` to
    /// `.cancel`. Afterwards, the queue can no longer be suspended.
    public var isSuspended: Bool {
        get { scheduler.isSuspended }
        set { scheduler.isSuspended = newValue }
    }

    /// The rate at which operations start; nil if permits alone limit the starts.
    ///
    /// A change applies at once. Used tokens remain used.
    public var rate: OperationRate? {
        get { scheduler.withCore { $0.state.pace.rate } }
        set {
            if newValue != nil { scheduler.prepareClock() }
            scheduler.withCore { $0.state.setRate(newValue) }
        }
    }

    /// The operations that have not finished, in the order in which they were added. Sorts the operations.
    public var operations: [AnyTaskOperation] { scheduler.operations }

    /// The number of operations that have not finished.
    public var operationCount: Int { scheduler.operationCount }

    /// Cancels all unfinished operations. Operations that are added afterwards are not cancelled.
    ///
    /// If the call cancels an operation and one of its dependencies, the operation does not start. The operations are
    /// cancelled one after the other. Another thread may therefore see an operation that is cancelled and an operation
    /// that is not yet cancelled.
    ///
    /// The call does not change finished operations. Code that awaits the value of a finished operation, and a handler
    /// of `whenFinished`, can still receive the value after the call.
    ///
    /// - Parameters:
    ///   - cause: The error of operations that have not started. An executing operation finishes with the result of its
    ///     body. The body can read the cause from `AnyTaskOperation.cancellationCause`.
    ///   - queuedOnly: Whether to cancel only operations that have not started.
    public func cancelAllOperations(throwing cause: any Error = CancellationError(), queuedOnly: Bool = false) {
        scheduler.cancelAll(throwing: cause, unstartedOnly: queuedOnly)
    }

    /// Waits until the queue is empty, including operations that are added during the wait. The wait blocks no thread.
    /// `operationCount` is 0 at the moment when the wait ends.
    ///
    /// Cancelling the task ends the wait and cancels no operation. The wait raises no priorities. If the queue is
    /// suspended and not empty, the wait cannot end before the queue is resumed or its operations are cancelled.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the queue is empty. `TaskOperationError.waitCycle`
    ///   if the caller is the body of an operation of this queue, or if an operation of this queue waits for the
    ///   caller's operation.
    public func waitUntilAllOperationsAreFinished() async throws {
        let isOver = try await scheduler.waitUntilEmpty(QueueWait())
        if !isOver { throw CancellationError() }
    }
}

extension TaskOperationQueue {
    /// Like `waitUntilAllOperationsAreFinished()`, but cancelling the task does not end the wait.
    package func waitToTheEnd() async throws(TaskOperationError) {
        _ = try await scheduler.waitUntilEmpty(QueueWait(endsWhenCancelled: false))
    }
}

// MARK: - Shutting down

extension TaskOperationQueue {
    /// The rule for operations that were added before `shutDown`.
    public enum Shutdown: Sendable {
        /// The operations finish as usual.
        case drain
        /// The operations are cancelled.
        case cancel
    }

    /// Shuts the queue down. An operation that is added later fails at once with `TaskOperationError.queueShutDown`.
    ///
    /// A suspended queue remains suspended. To empty a suspended queue, cancel its operations.
    public func shutDown(_ manner: Shutdown = .drain) {
        switch manner {
        case .drain: scheduler.shutDown()
        case .cancel: scheduler.cancelAll(andSet: .shut)
        }
    }

    /// Shuts the queue down and waits until it is empty. The wait blocks no thread. Operations that have not finished
    /// in time are cancelled. The call also waits for bodies that ignore their cancellation.
    ///
    /// If the calling task is cancelled, the remaining operations are cancelled at once. A suspended queue remains
    /// suspended.
    ///
    /// ```swift
    /// try await queue.shutDown(cancellingAfter: .seconds(10))
    /// ```
    ///
    /// - Parameters:
    ///   - limit: The time that operations have to finish.
    ///   - clock: The clock that measures the limit.
    /// - Throws: `TaskOperationError.waitCycle` if the caller is the body of an operation of this queue, or if an
    ///   operation of this queue waits for the caller's operation. In both cases the queue is shut down, but no
    ///   operation is cancelled.
    public func shutDown(
        cancellingAfter limit: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) async throws(TaskOperationError) {
        scheduler.shutDown()
        try await scheduler.waitUntilEmpty(cancellingAfter: limit, clock: clock)
    }
}

// MARK: - Limits of a priority

extension TaskOperationQueue {
    /// Limits the number of permits that operations of one priority may take at once. Other permits remain for
    /// operations of other priorities.
    ///
    /// The limit applies to the priority by which the queue orders operations, which includes the priority inherited
    /// from dependents. While a priority is at its limit, operations of lower priorities start. Raising the limit
    /// starts operations at once. Lowering the limit stops no operation. An operation whose weight exceeds the limit
    /// runs alone within its priority.
    ///
    /// ```swift
    /// let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
    /// queue.setMaxConcurrentOperationCount(1, for: .background)   // three are left for urgent operations
    /// ```
    ///
    /// - Parameters:
    ///   - count: The number of permits; not negative. With 0, no operation of the priority starts. After the queue's
    ///     owner was released, 0 has the effect of 1. `.max` removes the limit.
    ///   - priority: The priority. A value between two levels is treated as the lower level.
    public func setMaxConcurrentOperationCount(_ count: Int, for priority: TaskPriority) {
        require(
            count >= 0,
            """
            maxConcurrentOperationCount is \(count) for a priority; it must not be negative. Pass \
            .max for no limit.
            """)
        scheduler.withCore { $0.state.setCap(count, at: PriorityLevel(priority)) }
    }

    /// Returns the number of permits that operations of a priority may take at once. Returns
    /// `.max` if only the width limits this number.
    public func maxConcurrentOperationCount(for priority: TaskPriority) -> Int {
        scheduler.withCore { $0.state.permits.caps.map { $0[PriorityLevel(priority)].capacity } ?? .max }
    }
}

extension TaskOperationQueue {
    /// The number of waiting claims. A claim is a set of limits that the queue needs to start an operation.
    package var claimCount: Int {
        scheduler.withCore { core in
            core.state.limited.map { limited in limited.sets.slots.count { limited.isClaimed($0) } } ?? 0
        }
    }
}

// MARK: - Description

extension TaskOperationQueue: CustomStringConvertible, CustomDebugStringConvertible {
    /// The name of the queue and the number of operations in each state. An example is `queue "images" (width 4, 3
    /// executing, 2 ready, 5 waiting)`.
    public var description: String {
        let state = scheduler.withCore { $0.state }
        var counts: [OperationStatus: Int] = [:]
        for record in state.rows.all { counts[record.status, default: 0] += 1 }
        let lentCount = counts[.lent, default: 0] + counts[.returning, default: 0]
        var parts = ["width \(state.width.capacity == .max ? "unlimited" : "\(state.width.capacity)")"]
        if state.isSuspended { parts.append("suspended") }
        if !state.admission.state.accepts { parts.append("shut down") }
        parts.append("\(counts[.executing, default: 0]) executing")
        if lentCount > 0 { parts.append("\(lentCount) awaiting others") }
        parts.append("\(counts[.ready, default: 0]) ready")
        parts.append("\(counts[.waiting, default: 0]) waiting")
        return "\(QueueLabel(scheduler)) (\(parts.joined(separator: ", ")))"
    }

    /// The description, and a line for each operation. TaskOperationsDiagnosis explains why operations wait.
    public var debugDescription: String {
        ([description] + operations.map { "  " + $0.debugDescription }).joined(separator: "\n")
    }
}
