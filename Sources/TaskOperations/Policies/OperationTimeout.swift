import Synchronization

/// A limit of an operation's time. It retains the operation, whose links retain the limit until the operation ends or
/// is withdrawn. One of the two always follows an addition.
class TimeLimit: DeadlineTimer, @unchecked Sendable {
    // All properties are constant.

    let operation: AnyTaskOperation
    let length: Duration

    init(_ length: Duration, of operation: AnyTaskOperation) {
        self.length = length
        self.operation = operation
    }

    /// Whether the limit passed before the operation was added.
    var hasPassedAtAddition: Bool { length <= .zero }

    func begin(on clock: any Clock<Duration>) { start(length, clock: clock) }
}

/// The limit of `timeout(untilStart:)`.
final class StartLimit: TimeLimit, @unchecked Sendable {
    // There are no other properties.

    /// Fails the operation with `TaskOperationError.startTimedOut`, unless it has started or was withdrawn.
    override func deadlinePassed() {
        let error = TaskOperationError.startTimedOut(OperationLabel(operation), after: length)
        operation.endUnlessStarted(error, isCancellation: false) { $0.links?.startLimit === self }
    }
}

/// The limit of `timeout(untilEnd:)` or `timeout(_:)`. For an operation with both, one object records which limit
/// passed first, because that limit determines the error.
final class EndLimit: TimeLimit, @unchecked Sendable {
    // All properties are constant.

    // With the clock, the object would be larger than 120 bytes: see `Outcome`.
    private let overrun: TimeoutOverrun
    private let isOfBody: Bool
    private let time = Lock(BodyTime.running)

    /// - Parameter isOfBody: Whether the limit begins with the body. Otherwise it begins with the addition.
    init(_ length: Duration, of operation: AnyTaskOperation, _ options: BodyOptions, isOfBody: Bool = false) {
        self.isOfBody = isOfBody
        overrun = options.overrun ?? .wait
        super.init(length, of: operation)
    }

    /// Records that the body has ended. Returns `TaskOperationError.timedOut` if a limit has passed before.
    @discardableResult
    func endBody() -> TaskOperationError? {
        guard let passed = time.withLock({ $0.end() }) else { return nil }
        return TaskOperationError.timedOut(.operation(OperationLabel(operation)), after: passed)
    }

    override func deadlinePassed() { pass(length) }

    /// Records that a limit has passed, and ends the operation in a new task.
    ///
    /// Ending an operation may call the cancellation handlers of its body. Other deadlines must not wait for these
    /// handlers.
    func pass(_ limit: Duration) {
        let isTooLate = operation.isCancelled && overrun == .wait
        let isFirst = time.withLock { time in
            if isTooLate { time.end() }
            return time.pass(after: limit)
        }
        if isFirst {
            // The sleeper runs on the executor of its clock, and so does this task. An operation that has ended has no
            // options any more, and the task then has no effect.
            let executor = operation.completedOptions.body.clock.executorOfSleepers
            Task.detached(executorPreference: executor, priority: .high) { [self] in
                endOperation(after: limit)
            }
        }
    }

    /// Ends the operation with the error of a limit that has passed, unless the operation was withdrawn. Then another
    /// addition may have begun.
    func endOperation(after limit: Duration) {
        let error = TaskOperationError.timedOut(.operation(OperationLabel(operation)), after: limit)
        func isCurrent(_ record: borrowing OperationRecord) -> Bool { isOfBody || record.links?.endLimit === self }
        if overrun == .abandon { operation.abandon(error, if: isCurrent) }
        operation.endOrCancel(error, isCancellation: true, if: isCurrent)
        // The operation may have started after the first call of `abandon`.
        if overrun == .abandon { operation.abandon(error, if: isCurrent) }
    }
}

// The limits that begin when an operation is added to a queue.

extension AnyTaskOperation {
    /// Begins the limits. If a limit has passed, only records that the operation is late. The queue then ends the
    /// operation when the operation is inserted.
    func beginTimeLimits(_ options: OptionValues) {
        let startLimit = options.startLimit.map { StartLimit($0.remaining, of: self) }
        let endLimit = options.endLimit.map { EndLimit($0.remaining, of: self, options.body) }
        let isLate = startLimit?.hasPassedAtAddition == true || endLimit?.hasPassedAtAddition == true
        let replaced = record.withLock { record -> (StartLimit?, EndLimit?) in
            if isFinished { return (nil, nil) }
            record.hasTimedOptions = true
            let links = record.madeLinks()
            defer { (links.startLimit, links.endLimit) = (startLimit, endLimit) }
            return (links.startLimit, links.endLimit)
        }
        extendLifetime(replaced)
        if isLate { return }
        startLimit?.begin(on: options.body.clock)
        endLimit?.begin(on: options.body.clock)
        // If the operation finished before the limits began, its end did not find them.
        if isFinished {
            startLimit?.end()
            endLimit?.end()
        }
    }

    /// Ends the operation, because a limit passed before it was added.
    func endLate() {
        let (startLimit, endLimit) = record.withLock { ($0.links?.startLimit, $0.links?.endLimit) }
        if let startLimit, startLimit.hasPassedAtAddition { return startLimit.deadlinePassed() }
        endLimit?.endOperation(after: endLimit!.length)
    }
}

// If a body ignores cancellation, its operation can finish before the body ends. The body then keeps its permit until
// it ends, and its waits remain in the wait graph.

extension AnyTaskOperation {
    /// Finishes an executing operation with a failure, and then cancels its body. Does nothing if the operation is not
    /// executing, or does not meet the condition.
    func abandon(_ failure: any Error, if condition: (borrowing OperationRecord) -> Bool) {
        guard isExecuting, let scheduler = record.withLock({ $0.scheduler }) else { return }
        let abandonment = scheduler.withCore { core in abandon(failure, in: &core, of: scheduler, if: condition) }
        guard let (ending, worker, cancelsRest) = abandonment else { return }
        ending.endOptions()
        if cancelsRest { scheduler.cancelAll(andSet: .cancelling) }
        // Completion handlers and cancellation handlers are user code and may take long. For this reason, a separate
        // task calls the completion handlers, while the current task cancels the body.
        HandlerTasks.run(on: scheduler.handlerExecutor, at: effectivePriority) { [self] in
            ending.callHandlers(self)
            notifyDependentsAndWaiters(ending)
        }
        worker?.cancel(throwing: failure)
    }

    /// Notes the failure in the step that finishes the operation. Otherwise the body could end, and its scope return, before
    /// the failure is noted.
    private func abandon(
        _ failure: any Error, in core: inout SchedulerCore, of scheduler: Scheduler,
        if condition: (borrowing OperationRecord) -> Bool
    ) -> (OperationEnding, Worker?, cancelsRest: Bool)? {
        guard let slot = core.slot(of: self) else { return nil }
        let ending = record.withLock { record -> OperationEnding? in
            guard isExecuting, condition(record) else { return nil }
            record.cancellation = .cancelled
            finish(Outcome(.failure(failure)))
            return record.abandon()
        }
        guard let ending else { return nil }
        let worker = core.state.records[slot].worker
        worker?.isWorn = true
        core.state.markFinished(slot)
        return (ending, worker, scheduler.failures?.note(self) ?? false)
    }
}
