import Synchronization

/// An operation without the type of its value, for dependencies, queues and lists of operations.
///
/// This is the base class of `TaskOperation`. No other class can inherit from it.
public class AnyTaskOperation: @unchecked Sendable {
    // `name` is constant, `record` contains its lock, and the numbers are atomic. See `outcomeOnceFinished` for the
    // outcome.

    /// The name in messages and descriptions.
    public let name: String?

    let record: Lock<OperationRecord>

    /// The operation's place in the order of the wait graph.
    let rank: Rank

    /// The phase of the operation's life. It changes under the lock of `record`; the start, and nothing else, changes it
    /// under the lock of the queue instead.
    private let currentPhase: Atomic<OperationPhase>

    /// The slot of the operation in its queue; negative while the queue has no row for the operation. It changes only
    /// under the lock of the queue.
    private let currentSlot = Atomic<Int32>(-1)

    // Written once, under the lock of `record`, before the phase becomes `finished`. Read only in that phase.
    @exclusivity(unchecked) private nonisolated(unsafe) var outcomeOnceFinished: Outcome?

    /// - Parameters:
    ///   - inputCount: The number of the first dependencies whose values the body needs.
    ///   - scheduler: The scheduler to which the caller adds the operation at once; nil if it is not added. The caller
    ///     then also links the dependencies, which inherit the default level.
    init(
        name: String?, level: PriorityLevel?, dependencies: [AnyTaskOperation], inputCount: Int = 0,
        addedTo scheduler: Scheduler? = nil
    ) {
        self.name = name
        record = Lock(
            OperationRecord(
                level: level,
                links: dependencies.isEmpty
                    ? nil
                    : OperationLinks(
                        dependencies: dependencies, inputCount: inputCount,
                        linkedHandingOn: scheduler == nil ? nil : .default),
                addedTo: scheduler))
        currentPhase = Atomic(scheduler == nil ? .created : .added)
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
    func wrapBody(in options: BodyOptions) {
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
        switch phase {
        case .created: return dependencies.allSatisfy(\.isFinished) ? .ready : .waiting
        case .added: return record.withLock { $0.hasUnfinishedDependencies || $0.isDelayed } ? .waiting : .ready
        case .executing: return .executing
        case .finished: return .finished
        }
    }

    /// Whether `state` is `.ready`.
    public var isReady: Bool { state == .ready }

    /// Whether the body is executing.
    public var isExecuting: Bool { phase == .executing }

    /// Whether the operation has an outcome.
    public var isFinished: Bool { phase == .finished }

    /// Whether `cancel()` was called before the operation finished. An executing body may continue, and may even
    /// succeed.
    public var isCancelled: Bool { record.withLock { $0.isCancelled } }

    /// The error of the operation; nil if it has not finished or has succeeded.
    public var failure: (any Error)? {
        if case .failure(let error) = finalOutcome?.result { error } else { nil }
    }

    var phase: OperationPhase { currentPhase.load(ordering: .acquiring) }

    /// Changes the phase. See `currentPhase` for the lock that the caller holds. `end` enters the last phase.
    func enter(_ phase: OperationPhase) { currentPhase.store(phase, ordering: .releasing) }

    /// Enters the last phase under the lock of `record`.
    func finish(_ outcome: Outcome?) {
        outcomeOnceFinished = outcome
        enter(.finished)
    }

    /// The outcome; nil if the operation has not finished or has succeeded without a value.
    var finalOutcome: Outcome? { isFinished ? outcomeOnceFinished : nil }

    /// The operation's slot in its queue. See `currentSlot`.
    var slot: Int {
        get { Int(currentSlot.load(ordering: .relaxed)) }
        set { currentSlot.store(Int32(newValue), ordering: .relaxed) }
    }
}

// MARK: - Handlers

extension AnyTaskOperation {
    /// Adds a handler that is called once, after the operation has finished with any outcome. Handlers are called in
    /// the order in which they were added. Dependents start, and waiting tasks continue, after all handlers have
    /// returned. While handlers are running, a task that begins to await the operation does not wait, and neither does a
    /// dependent that is added to its queue.
    ///
    /// The handler runs in the task that ran the body. If the operation was cancelled before its start, or has already
    /// finished, the handler runs in a separate task. It never runs inside this call or inside `cancel()`.
    public func addCompletionHandler(_ handler: @escaping @Sendable () -> Void) {
        addHandler { _ in handler() }
    }

    /// Adds a handler.
    ///
    /// - Parameter executor: The executor of the handler if the operation has already finished; nil for the cooperative
    ///   pool.
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
            if isFinished { return false }
            record.madeLinks().addHandler(handler, isOwn: isOwn)
            return true
        }
    }

    /// Whether the operation has finished, and the progress that is attached to it.
    package var attachedProgress: (isFinished: Bool, progress: (any AnyObject & Sendable)?) {
        record.withLock { (isFinished, $0.links?.extras?.progress) }
    }

    /// Attaches `progress` if the operation has no progress yet.
    ///
    /// - Parameter onEnd: Called when the operation has finished, but only if this call attached `progress`.
    /// - Returns: The operation's progress, which is `progress` or the progress that was attached earlier. Nil if the
    ///   operation has finished.
    package func attach(
        progress: any AnyObject & Sendable, onEnd: @escaping @Sendable (AnyTaskOperation) -> Void
    ) -> (any AnyObject & Sendable)? {
        record.withLock { record in
            if isFinished { return nil }
            let links = record.madeLinks()
            if let present = links.extras?.progress { return present }
            links.madeExtras().progress = progress
            links.addHandler(onEnd, isOwn: true)
            return progress
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
    /// The operation whose body is running in the current task or in one of its parent tasks; otherwise nil. An
    /// unstructured task that a body creates has no current operation; such a task can capture the operation.
    public static var current: AnyTaskOperation? { BodyTask.currentOperation }
}

/// The state of an operation. An operation passes through these states in this order and may skip some.
///
/// Cancellation is not a state. See `AnyTaskOperation.isCancelled`.
public enum TaskOperationState: Hashable, Sendable {
    /// A dependency is unfinished, or the operation's delay has not passed.
    case waiting
    /// Every dependency is finished. The operation has not been added, or its queue has not started it.
    case ready
    /// The body has started.
    case executing
    /// The operation has its final outcome.
    case finished
}

extension AnyTaskOperation {
    /// Waits until the operation has finished, with any outcome. The wait blocks no thread.
    ///
    /// The operation and all operations for which it waits inherit the priority of the waiting task. If that priority
    /// increases during the wait, they inherit the increase. Cancelling the task ends the wait and does not cancel the
    /// operation.
    ///
    /// A body that waits keeps its permit, unless the awaited operation needs a permit of the same queue. The awaited
    /// operation may need the permit itself, or through other operations. The body then lends its permit until the wait
    /// ends, so that a queue cannot deadlock on itself.
    ///
    /// A wait in a child task is treated as a wait of the body, even if the body continues. An unstructured task is not
    /// part of the body, even if the body awaits that task. The waits of an unstructured task lend no permit.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before the operation has finished.
    ///   `TaskOperationError.waitCycle` if a body awaits an operation that cannot end before the body does.
    // Inlined in `value`: Cost, row 14.
    @inline(__always)
    public func waitUntilFinished() async throws {
        if isFinished { return }
        var isOver = true
        try await Self.withWaitEdge(.operation(self)) { isOver = await suspendUntilFinished(endsEarly: true) }
        if !isOver { throw CancellationError() }
    }

    /// Like `waitUntilFinished()`, but cancelling the task does not end the wait.
    ///
    /// - Parameter lendsPermit: Whether a waiting body always lends its permit, because the awaited work may need a permit
    ///   without the library's knowledge.
    package func waitToTheEnd(lendsPermit: Bool = false) async throws(TaskOperationError) {
        if isFinished { return }
        try await Self.withWaitEdge(.operation(self), permit: lendsPermit ? .lent : .keptIfNotNeeded) {
            _ = await suspendUntilFinished(endsEarly: false)
        }
    }

    /// Returns a unique number for a wait. `leaveWait` ends the wait with this number.
    package static func nextWaitNumber() -> Int { Rank.next() }

    /// Waits until the operation has finished.
    ///
    /// - Parameters:
    ///   - number: The number of the wait.
    ///   - endsEarly: Whether the wait ends when the task is cancelled.
    ///   - hasLeft: Called once, after the wait is registered. Returns true if the wait must end, because `leaveWait`
    ///     was called before its registration.
    /// - Returns: Whether the operation is finished.
    package func wait(
        number: Int, endsEarly: Bool, hasLeft: () -> Bool
    ) async throws(TaskOperationError) -> Bool {
        var isOver = true
        try await Self.withWaitEdge(.operation(self)) {
            isOver = await suspendUntilFinished(number: number, endsEarly: endsEarly, hasLeft: hasLeft)
        }
        return isOver
    }

    /// Suspends the task until the operation is finished.
    ///
    /// - Parameters:
    ///   - number: The unique number of the wait. `leaveWait` with this number ends the wait.
    ///   - endsEarly: Whether the wait ends when the task is cancelled.
    ///   - hasLeft: Called once, after the wait is registered. Returns true if the wait must end, because `leaveWait`
    ///     was called before its registration.
    /// - Returns: Whether the operation is finished.
    func suspendUntilFinished(
        number: Int = Rank.next(), endsEarly: Bool, hasLeft: () -> Bool = { false }
    ) async -> Bool {
        await withWaitHandlers(endsWhenCancelled: endsEarly) { priority in
            raiseWaiter(number, to: PriorityLevel(priority))
        } end: {
            leaveWait(number)
        } register: { continuation in
            addWaiter(continuation, number, endsEarly: endsEarly)
            if hasLeft() { leaveWait(number) }
        }
    }

    /// Registers a waiter, whose level the operation inherits. If the operation is finished, or the wait must end
    /// early, resumes the waiter instead.
    private func addWaiter(_ continuation: WaitContinuation<Bool>, _ number: Int, endsEarly: Bool) {
        let (result, following) = record.withLock { record -> (Bool?, Inheritance.Following?) in
            if isFinished { return (true, nil) }
            // The cancellation and the priority are read under the lock. Therefore no change before the registration is
            // missed.
            if endsEarly && Task.isCancelled { return (false, nil) }
            let level = PriorityLevel(Task.currentPriority)
            let waiter = OperationWaiter(continuation: continuation, level: level)
            let links = record.madeLinks()
            links.waiters.append(waiter, number: number)
            return (nil, record.inherit(from: nil, to: level, of: self, in: links))
        }
        if let result { continuation.resume(returning: result) }
        if let following { Inheritance.propagate(following) }
    }

    private func raiseWaiter(_ number: Int, to level: PriorityLevel) {
        let before = record.withLock { record in
            record.links?.waiters.update(number) { waiter in
                defer { waiter.level = max(waiter.level, level) }
                return waiter.level
            }
        }
        guard let before, before < level else { return }
        Inheritance.propagate(.init(target: .operation(self), from: before, to: level))
    }

    /// Ends a wait if it is in progress.
    package func leaveWait(_ number: Int) {
        guard let waiter = record.withLock({ $0.links?.waiters.remove(number) }) else { return }
        Inheritance.propagate(.init(target: .operation(self), from: waiter.level, to: nil))
        waiter.continuation.resume(returning: false)
    }
}

extension AnyTaskOperation {
    /// The requested priority. It orders the ready operations of a queue, and is the priority of the body's task. You
    /// can change the priority at any time. A change after the end of the operation has no effect.
    ///
    /// There are five levels: `.background`, `.low`, `.medium`, `.high` and user-interactive (raw value 33). A value
    /// between two levels is treated as the lower level. Lowering the priority of an executing operation does not
    /// change the priority of its task.
    public var priority: TaskPriority {
        get { record.withLock { $0.level }.taskPriority }
        set {
            Inheritance.change(self) { record in
                if isFinished { return }
                record.level = PriorityLevel(newValue)
                record.isPriorityGiven = true
            }
        }
    }

    /// The highest of `priority` and the priorities of all operations and tasks that currently wait for the operation.
    ///
    /// Operations behind a barrier wait for the operations before it. Their priorities are included, but do not change
    /// the order of the operations before the barrier.
    public var effectivePriority: TaskPriority { record.withLock { $0.effectiveLevel }.taskPriority }

    /// The priority by which a queue orders the operation. Unlike `effectivePriority`, it excludes the priorities
    /// inherited from operations behind barriers and from waits for the whole queue. Those priorities raise all
    /// operations alike and do not change their order.
    package var orderPriority: TaskPriority { record.withLock { $0.orderLevel }.taskPriority }

    /// Changes the level that a waiter of another module passes to the operation and to all operations for which it waits.
    ///
    /// - Parameters:
    ///   - former: The previous level; nil for a new waiter.
    ///   - level: The new level; nil if the waiter no longer waits.
    package func inherit(from former: PriorityLevel? = nil, to level: PriorityLevel?) {
        Inheritance.propagate(.init(target: .operation(self), from: former, to: level))
    }
}

extension AnyTaskOperation {
    /// Starts the operation without a queue, in a task with the priority of the operation. The operation starts at once,
    /// unless it must wait for its limits.
    ///
    /// - Throws: `TaskOperationError.notReady` if a dependency is unfinished. `TaskOperationError.alreadyAdded` if the
    ///   operation was already added to a queue or started. If the call throws, nothing changes.
    public func start() throws(TaskOperationError) {
        try Scheduler.withoutQueue.submit(self, mustBeReady: true)
    }
}

extension AnyTaskOperation: CustomStringConvertible, CustomDebugStringConvertible {
    /// The name and the state of the operation, as in `"decode" (waiting)`.
    public var description: String {
        "\(OperationLabel(self)) (\(state)\(isCancelled ? ", cancelled" : ""))"
    }

    /// The description, the unfinished dependencies, and the outcome. Takes linear time in the number of dependencies.
    public var debugDescription: String {
        var parts = ["\(state)"]
        if isCancelled { parts.append("cancelled") }
        parts.append("priority \(PriorityLevel(priority))")
        if effectivePriority != priority { parts.append("escalated to \(PriorityLevel(effectivePriority))") }
        switch state {
        case .waiting, .ready:
            if let waitingDescription { parts.append(waitingDescription) }
        case .executing:
            let waits = record.withLock { $0.links?.extras?.waits.all.map(\.target) ?? [] }
            if !waits.isEmpty { parts.append("awaits \(waits.map(\.description).joined(separator: ", "))") }
        case .finished:
            parts.append(failure.map { "failed: \($0)" } ?? "succeeded")
        }
        return "\(OperationLabel(self)) (\(parts.joined(separator: ", ")))"
    }

    /// The reason why the operation waits: unfinished dependencies, a delay, or a missing queue. Nil if only the
    /// operation's queue knows the reason.
    private var waitingDescription: String? {
        let unfinished = dependencies.filter { !$0.isFinished }
        if !unfinished.isEmpty {
            return "waits for \(unfinished.map { OperationLabel($0).description }.joined(separator: ", "))"
        }
        if record.withLock({ $0.isDelayed }) { return "waits for the end of its delay" }
        return record.withLock { $0.scheduler } == nil ? "not added to a queue" : nil
    }
}
