import Synchronization

/// A limit of an operation's time. It retains the operation until its deadline has passed or was removed, which the end
/// of the operation does. An operation that was added always ends, or is withdrawn.
class OperationLimit: DeadlineTimer, @unchecked Sendable {
    // All properties are constant.

    let operation: AnyTaskOperation
    let length: Duration

    init(_ length: Duration, of operation: AnyTaskOperation) {
        self.length = length
        self.operation = operation
    }

    /// Whether the limit passed before the operation was added.
    var hasPassedAtAddition: Bool { length <= .zero }
}

/// The limit of `timeout(untilStart:)`.
final class StartLimit: OperationLimit, @unchecked Sendable {
    // There are no other properties.

    /// Fails the operation with `TaskOperationError.startTimedOut`, unless it has started.
    override func deadlinePassed() {
        let error = TaskOperationError.startTimedOut(OperationLabel(operation), after: length)
        operation.endUnlessStarted(error, isCancellation: false)
    }
}

/// The limit of `timeout(untilEnd:)` or `timeout(_:)`. For an operation with both, one object records which limit
/// passed first, because that limit determines the error.
final class EndLimit: OperationLimit, @unchecked Sendable {
    // All properties are constant.

    private enum State: Sendable {
        case running
        case passed(after: Duration)
        /// The body ended before a limit passed, or the operation was cancelled before.
        case over

        var passed: Duration? { if case .passed(let limit) = self { limit } else { nil } }
    }

    private let overrun: TimeoutOverrun
    private let clock: any Clock<Duration>
    private let state = Lock(State.running)

    init(_ length: Duration, of operation: AnyTaskOperation, _ options: BodyOptions) {
        overrun = options.overrun ?? .wait
        clock = options.clock
        super.init(length, of: operation)
    }

    /// Records that the body has ended. Throws `TaskOperationError.timedOut` if a limit has passed before.
    func endBody() throws {
        let passed = state.withLock { state in
            if case .running = state { state = .over }
            return state.passed
        }
        if let passed { throw TaskOperationError.timedOut(OperationLabel(operation), after: passed) }
    }

    override func deadlinePassed() { pass(length) }

    /// Records that a limit has passed, and ends the operation in a new task.
    ///
    /// Ending an operation may call the cancellation handlers of its body. Other deadlines must not wait for these
    /// handlers.
    func pass(_ limit: Duration) {
        let isTooLate = operation.isCancelled && overrun == .wait
        let isFirst = state.withLock { state in
            guard case .running = state else { return false }
            state = isTooLate ? .over : .passed(after: limit)
            return !isTooLate
        }
        if isFirst {
            // The sleeper runs on the executor of its clock, and so does this task.
            Task.detached(executorPreference: clock.executorOfSleepers, priority: .high) { [self] in
                endOperation(after: limit)
            }
        }
    }

    /// Ends the operation with the error of a limit that has passed.
    func endOperation(after limit: Duration) {
        let error = TaskOperationError.timedOut(OperationLabel(operation), after: limit)
        if overrun == .abandon { operation.abandon(error) }
        operation.endOrCancel(error, isCancellation: true)
        // The operation may have started after the first call of `abandon`.
        if overrun == .abandon { operation.abandon(error) }
    }
}

// The limits that begin when an operation is added to a queue.

extension AnyTaskOperation {
    /// Begins the limits. If a limit has passed, only records that the operation is late. The queue then ends the
    /// operation when the operation is inserted.
    func beginLimits(_ options: OptionValues) {
        let startLimit = options.startLimit.map { StartLimit($0.remaining, of: self) }
        let endLimit = options.endLimit.map { EndLimit($0.remaining, of: self, options.body) }
        let isLate = startLimit?.hasPassedAtAddition == true || endLimit?.hasPassedAtAddition == true
        let replaced = record.withLock { record -> (StartLimit?, EndLimit?) in
            if record.phase == .finished { return (nil, nil) }
            record.isLate = isLate
            let links = record.madeLinks()
            defer { (links.startLimit, links.endLimit) = (startLimit, endLimit) }
            return (links.startLimit, links.endLimit)
        }
        extendLifetime(replaced)
        if isLate { return }
        startLimit?.start(startLimit!.length, clock: options.body.clock)
        endLimit?.start(endLimit!.length, clock: options.body.clock)
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
    /// executing.
    func abandon(_ failure: any Error) {
        guard let scheduler = record.withLock({ $0.phase == .executing ? $0.scheduler : nil }) else { return }
        let abandonment = scheduler.withCore { core in abandon(failure, in: &core) }
        guard let (ending, runner) = abandonment else { return }
        ending.endLimits()
        scheduler.noteFailure(of: self)
        // Completion handlers and cancellation handlers are user code and may take long. For this reason, a separate
        // task calls the completion handlers, while the current task cancels the body.
        HandlerTasks.run(on: scheduler.handlerExecutor, at: effectivePriority) { [self] in
            ending.callHandlers(self)
            notifyDependentsAndWaiters(ending)
        }
        runner?.cancel(throwing: failure)
    }

    private func abandon(
        _ failure: any Error, in core: inout SchedulerCore
    ) -> (OperationEnding, OperationRunner?)? {
        guard let slot = core.slot(of: self) else { return nil }
        let abandonment = record.withLock { record -> (OperationEnding, OperationRunner?)? in
            guard record.phase == .executing else { return nil }
            let runner = record.runner
            record.isCancelled = true
            record.isRunnerWorn = true
            return (record.abandon(AbandonedOutcome(failure, runner)), runner)
        }
        if abandonment != nil { core.state.markFinished(slot) }
        return abandonment
    }
}
