import Synchronization

/// The timers of `timeout(untilStart:)` and `timeout(untilEnd:)`. They start when the operation is added to a queue.
final class OperationTimers: Sendable {
    /// Records whether the limit `timeout(untilEnd:)` has passed; nil if the operation does not have this limit.
    let endLimit: OperationTimeout?
    private let options: OptionValues
    let timeToStart: Duration?
    private let timeToEnd: Duration?
    private let timers = Lock<[DeadlineTimer]>([])

    init(_ options: OptionValues) {
        self.options = options
        timeToStart = options.startLimit?.remaining
        timeToEnd = options.endLimit?.remaining
        endLimit = options.endLimit.map { _ in OperationTimeout(options.overrun ?? .wait, clock: options.chosenClock)
        }
    }

    /// Ends an operation, because a limit passed before the operation was added.
    func endPassed(_ operation: AnyTaskOperation) {
        if let timeToStart, timeToStart <= .zero { return operation.startTimePassed(timeToStart) }
        if let timeToEnd { endLimit?.end(operation, after: timeToEnd) }
    }

    func begin(for operation: AnyTaskOperation) {
        let isLate = [timeToStart, timeToEnd].contains { $0.map { $0 <= .zero } ?? false }
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
        var begun: [(timer: DeadlineTimer, time: Duration)] = []
        if let limit = timeToStart {
            let timer = DeadlineTimer { [weak operation] in operation?.startTimePassed(limit) }
            begun.append((timer, limit))
        }
        if let limit = timeToEnd, let endLimit {
            let timer = DeadlineTimer { [weak operation] in
                if let operation { endLimit.pass(limit, for: operation) }
            }
            begun.append((timer, limit))
        }
        timers.withLock { $0 = begun.map(\.timer) }
        guard operation.addHandlerUnlessFinished(isOwn: true, { [weak self] _ in self?.end() }) else { return }
        for (timer, time) in begun { timer.start(time, clock: options.chosenClock) }
        // If the operation finished before the timers started, the handler called `end` too early.
        if operation.isFinished { end() }
    }

    func end() {
        for timer in timers.withLock({ $0 }) { timer.end() }
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
    /// The executor of the task that ends the operation after a limit has passed.
    private let executor: (any TaskExecutor)?
    private let state = Lock(State.running)

    init(_ overrun: TimeoutOverrun, clock: some Clock) {
        self.overrun = overrun
        executor = clock.executorOfSleepers
    }

    /// Runs a body. Throws `TaskOperationError.timedOut` if a limit has passed before the body ends.
    func run<Success>(_ body: TaskOperation<Success>.Body) async throws -> Success {
        let result: Result<Success, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        let passed = state.withLock { state in
            if case .running = state { state = .over }
            return state.passed
        }
        if let passed { throw TaskOperationError.timedOut(OperationLabel(.executing!), after: passed) }
        return try result.get()
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
            Task.detached(executorPreference: executor, priority: .high) { [self] in end(operation, after: limit) }
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
