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
