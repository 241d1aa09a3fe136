import Synchronization

/// The timers of `timeout(untilStart:)` and `timeout(untilEnd:)`. They run from the addition of the operation to a queue
/// until its end.
final class OperationTimers: Sendable {
    /// Records whether the limit `timeout(untilEnd:)` has passed; nil if the operation does not have this limit.
    let endLimit: OperationTimeout?
    let timeToStart: Duration?
    private let timeToEnd: Duration?
    private let clock: any Clock<Duration>
    // The timers retain the operation until they end. An operation that was added always ends, or is withdrawn.
    private let startTimer: DeadlineTimer?
    private let endTimer: DeadlineTimer?

    init(_ options: OptionValues, of operation: AnyTaskOperation) {
        clock = options.chosenClock
        timeToStart = options.startLimit?.remaining
        startTimer = timeToStart.map { limit in DeadlineTimer { operation.startTimePassed(limit) } }
        timeToEnd = options.endLimit?.remaining
        guard let timeToEnd else {
            (endLimit, endTimer) = (nil, nil)
            return
        }
        let endLimit = OperationTimeout(options)
        endTimer = DeadlineTimer { endLimit.pass(timeToEnd, for: operation) }
        self.endLimit = endLimit
    }

    /// Whether a limit passed before the operation was added.
    private var isLate: Bool { timeToStart.map { $0 <= .zero } ?? false || timeToEnd.map { $0 <= .zero } ?? false }

    /// Ends an operation, because a limit passed before the operation was added.
    func endPassed(_ operation: AnyTaskOperation) {
        if let timeToStart, timeToStart <= .zero { return operation.startTimePassed(timeToStart) }
        if let timeToEnd { endLimit?.end(operation, after: timeToEnd) }
    }

    func begin(for operation: AnyTaskOperation) {
        let replaced = operation.record.withLock { record in
            if record.phase == .finished { return nil as OperationTimers? }
            record.isLate = isLate
            let links = record.madeLinks()
            defer { links.timers = self }
            return links.timers
        }
        extendLifetime(replaced)
        // The queue ends the operation when the operation is inserted.
        if isLate { return }
        if let startTimer, let timeToStart { startTimer.start(timeToStart, clock: clock) }
        if let endTimer, let timeToEnd { endTimer.start(timeToEnd, clock: clock) }
        // If the operation finished before the timers started, its end did not find them.
        if operation.isFinished { end() }
    }

    func end() {
        startTimer?.end()
        endTimer?.end()
    }
}

extension AnyTaskOperation {
    /// Fails the operation with `TaskOperationError.startTimedOut`, unless it has started.
    fileprivate func startTimePassed(_ limit: Duration) {
        endUnlessStarted(TaskOperationError.startTimedOut(OperationLabel(self), after: limit), isCancellation: false)
    }
}

/// Records whether a timeout of an operation has passed. `timeout(_:)` and `timeout(untilEnd:)` of one operation
/// share this object, and the limit that passes first determines the error.
final class OperationTimeout: Sendable {
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

    init(_ options: OptionValues) {
        overrun = options.overrun ?? .wait
        clock = options.chosenClock
    }

    /// Records that the body has ended. Throws `TaskOperationError.timedOut` if a limit has passed before.
    func endBody(of operation: AnyTaskOperation) throws {
        let passed = state.withLock { state in
            if case .running = state { state = .over }
            return state.passed
        }
        if let passed { throw TaskOperationError.timedOut(OperationLabel(operation), after: passed) }
    }

    /// Records that a limit has passed, and ends the operation in a new task.
    ///
    /// Ending an operation may call the cancellation handlers of its body. Other deadlines must not wait for these
    /// handlers.
    func pass(_ limit: Duration, for operation: AnyTaskOperation) {
        let isTooLate = operation.isCancelled && overrun == .wait
        let isFirst = state.withLock { state in
            guard case .running = state else { return false }
            state = isTooLate ? .over : .passed(after: limit)
            return !isTooLate
        }
        if isFirst {
            // The sleeper runs on the executor of its clock, and so does this task.
            Task.detached(executorPreference: clock.executorOfSleepers, priority: .high) { [self] in
                end(operation, after: limit)
            }
        }
    }

    /// Ends the operation with the error of a limit that has passed.
    func end(_ operation: AnyTaskOperation, after limit: Duration) {
        let error = TaskOperationError.timedOut(OperationLabel(operation), after: limit)
        if overrun == .abandon { operation.abandon(error) }
        operation.endOrCancel(error, isCancellation: true)
        // The operation may have started after the first call of `abandon`.
        if overrun == .abandon { operation.abandon(error) }
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
        ending.endTimers()
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
