import Synchronization

/// An operation without the type of its value, for dependencies, queues and lists of operations.
///
/// This is the base class of `TaskOperation`. No other class can inherit from it.
public class AnyTaskOperation: @unchecked Sendable {
    // `name` is constant. The lock of `record` protects everything else.

    /// The name in messages and descriptions.
    public let name: String?

    let record: Lock<OperationRecord>

    /// The operation's place in the order of the wait graph.
    let rank: Rank

    /// - Parameter inputCount: The number of the first dependencies whose values the body needs.
    init(name: String?, level: PriorityLevel?, dependencies: [AnyTaskOperation], inputCount: Int = 0) {
        self.name = name
        record = Lock(
            OperationRecord(
                level: level,
                links: dependencies.isEmpty ? nil : OperationLinks(dependencies: dependencies, inputCount: inputCount)))
        // Created last. The dependencies are already marked as waited for, so their ranks no longer increase.
        rank = Rank()
    }

    /// Runs the body. Called at most once.
    func runBody() async -> Outcome? {
        preconditionFailure("only TaskOperation inherits from AnyTaskOperation")
    }

    /// Adds a handler that is called when the body begins. If the operation has started or ended, returns false and
    /// does nothing.
    package func addStartHandler(_ handler: @escaping @Sendable () -> Void) -> Bool {
        preconditionFailure("only TaskOperation inherits from AnyTaskOperation")
    }

    /// Wraps the body in the policies of its options. A second call has no effect.
    func surroundBody() {
        preconditionFailure("only TaskOperation inherits from AnyTaskOperation")
    }

    /// Releases a body that will never run.
    func discardBody() {
        preconditionFailure("only TaskOperation inherits from AnyTaskOperation")
    }
}

// MARK: - State

extension AnyTaskOperation {
    /// The state of the operation at this moment.
    ///
    /// Takes linear time in the number of dependencies if the operation has not been added. Otherwise takes constant
    /// time.
    public var state: TaskOperationState {
        let (phase, dependencies) = record.withLock { record in
            (record.phase, record.phase == .created ? record.links?.dependencies.operations ?? [] : [])
        }
        switch phase {
        case .created: return dependencies.allSatisfy(\.isFinished) ? .ready : .waiting
        case .submitted: return record.withLock { $0.hasUnfinishedDependencies || $0.isDelayed } ? .waiting : .ready
        case .executing: return .executing
        case .finished: return .finished
        }
    }

    /// Whether `state` is `.ready`.
    public var isReady: Bool { state == .ready }

    /// Whether the body is executing.
    public var isExecuting: Bool { record.withLock { $0.phase == .executing } }

    /// Whether the operation has an outcome.
    public var isFinished: Bool { record.withLock { $0.phase == .finished } }

    /// Whether `cancel()` was called before the operation finished. An executing body may continue, and may even
    /// succeed.
    public var isCancelled: Bool { record.withLock { $0.isCancelled } }

    /// The error of the operation; nil if it has not finished or has succeeded.
    public var failure: (any Error)? {
        if case .failure(let error) = record.withLock({ $0.outcome })?.result { error } else { nil }
    }
}

// MARK: - Handlers

extension AnyTaskOperation {
    /// Adds a handler that is called once, after the operation has finished with any outcome. Handlers are called in
    /// the order in which they were added. Dependents start, and waiting tasks continue, after all handlers have
    /// returned. A task that begins to await the operation while handlers are running does not wait.
    ///
    /// The handler runs in the task that ran the body. If the operation was cancelled before its start, or has already
    /// finished, the handler runs in a separate task. It never runs inside this call or inside `cancel()`.
    public func addCompletionHandler(_ handler: @escaping @Sendable () -> Void) {
        addHandler { _ in handler() }
    }

    /// Adds a handler that must not depend on the cooperative pool.
    ///
    /// - Parameter executor: The executor of the handler if the operation has already finished.
    package func addCompletionHandler(on executor: any TaskExecutor, _ handler: @escaping @Sendable () -> Void) {
        addHandler(on: executor) { _ in handler() }
    }

    package func addHandler(
        on executor: (any TaskExecutor)? = nil, _ handler: @escaping @Sendable (AnyTaskOperation) -> Void
    ) {
        if !addHandlerUnlessFinished(handler) {
            HandlerTasks.run(on: executor, at: effectivePriority) { handler(self) }
        }
    }

    /// Adds a handler. If the operation is finished, returns false and does nothing.
    ///
    /// - Parameter isOwn: Whether the handler only ends something that belongs to the operation, such as a timer.
    package func addHandlerUnlessFinished(
        isOwn: Bool = false, _ handler: @escaping @Sendable (AnyTaskOperation) -> Void
    ) -> Bool {
        record.withLock { record in
            if record.phase == .finished { return false }
            record.madeLinks().addHandler(handler, isOwn: isOwn)
            return true
        }
    }
}

// MARK: - Identity

extension AnyTaskOperation: Hashable {
    /// Whether both arguments are the same operation.
    public static func == (left: AnyTaskOperation, right: AnyTaskOperation) -> Bool { left === right }

    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// MARK: - The current operation

extension AnyTaskOperation {
    @TaskLocal static var executing: AnyTaskOperation?

    /// The operation whose body is running in the current task or in one of its parent tasks; otherwise nil.
    public static var current: AnyTaskOperation? { executing }
}
