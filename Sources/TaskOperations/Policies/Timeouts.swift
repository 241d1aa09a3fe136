import Synchronization

/// Runs a body for a limited time. When the time is over, the body is cancelled. The call throws
/// `TaskOperationError.timedOut` after the body has ended.
///
/// ```swift
/// let page = try await withTimeout(.seconds(5)) { try await load(url) }
/// ```
///
/// The body runs in a child task, in the isolation of the caller. The child task inherits the caller's task locals and
/// priority, and is cancelled together with the caller.
///
/// If the body ignores its cancellation, the call waits until the body ends. The call then throws
/// `TaskOperationError.timedOut`, even if the body returns a value: a loop over a stream, for example, returns when it is
/// cancelled. If the caller is cancelled before the time is over,
/// the call returns or throws the result of the body.
///
/// - Parameters:
///   - limit: The time that the body may take. If the limit is not positive, the time is over at once.
///   - clock: The clock that measures the time.
///   - isolation: The actor to which the body is isolated; by default, the caller's actor.
///   - body: The work.
/// - Returns: The value that `body` returns.
/// - Throws: `TaskOperationError.timedOut` if the time is over before the body ends; otherwise the error that `body`
///   throws.
public func withTimeout<Value>(
    _ limit: Duration, clock: any Clock<Duration> = ContinuousClock(), isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Value
) async throws -> Value {
    try await withCancelledBody(after: limit, clock: clock, keepsValue: false, body) {
        TaskOperationError.timedOut(.wait(for: "the body of withTimeout to end"), after: limit)
    }
}

/// Runs a body in a child task, and cancels that task when the time is over.
///
/// - Parameters:
///   - keepsValue: Whether a value that the body returns after its time is returned.
///   - error: Returns the error to throw if the time is over before the body ends.
func withCancelledBody<Value>(
    after limit: Duration, clock: any Clock<Duration>, keepsValue: Bool,
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value, error: () -> any Error
) async throws -> Value {
    let time = LimitedTime()
    let result = await withTimeoutHandler(limit, clock: clock) {
        await time.runInChildTask(body)
    } onTimeout: {
        time.pass(after: limit)
    }
    if case .success = result, keepsValue { return try result.get() }
    if time.hasPassed { throw error() }
    return try result.get()
}

/// Runs one body in a child task of the caller. Any thread can cancel the body.
package final class BodyCancellation: Sendable {
    private let time = LimitedTime()

    package init() {}

    /// Whether `cancel()` was called before the body ended, and before the caller was cancelled.
    package var hasCancelled: Bool { time.hasPassed }

    /// Cancels the body, also if it has not begun. Has no effect after the end of the body.
    package func cancel() { time.pass(after: .zero) }

    /// Runs the body, in the isolation of the caller. Call it only once.
    package func run<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async throws -> Value {
        try await time.runInChildTask(body).get()
    }
}

/// A value that a child task and its parent never use at the same time.
private struct Confined<Value>: @unchecked Sendable {
    // The parent is suspended until the child has ended, and both run in the isolation of the parent.
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// Whether a limit of a body's time passed before the body ended.
enum BodyTime: Sendable {
    case running
    case passed(after: Duration)
    /// The body ended before a limit passed, or was cancelled before.
    case ended

    /// Records that a limit has passed. Returns false if the body has ended, or if another limit has passed before.
    mutating func pass(after limit: Duration) -> Bool {
        guard case .running = self else { return false }
        self = .passed(after: limit)
        return true
    }

    /// Makes later calls of `pass` have no effect. Returns the limit that has passed; nil if none has.
    @discardableResult
    mutating func end() -> Duration? {
        if case .passed(let limit) = self { return limit }
        self = .ended
        return nil
    }
}

/// When the time of a body is over, cancels the task that runs the body. Records whether the body ended first.
private final class LimitedTime: Sendable {
    private let time = Lock(BodyTime.running)
    private let bodyTask = BodyTask()

    var hasPassed: Bool { time.withLock { if case .passed = $0 { true } else { false } } }

    /// Records that the time is over, and cancels the body. Has no effect after `end`.
    func pass(after limit: Duration) {
        if time.withLock({ $0.pass(after: limit) }) { bodyTask.cancel() }
    }

    /// Makes later calls of `pass` have no effect.
    func end() { _ = time.withLock { $0.end() } }

    /// Runs the body in a child task. If the calling task is cancelled, later calls of `pass` have no effect.
    func runInChildTask<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
    ) async -> Result<Value, any Error> {
        await withoutActuallyEscaping(body) { body in
            let work = Confined(body)
            return await withTaskCancellationHandler {
                await withTaskGroup(of: Confined<Result<Value, any Error>>.self, isolation: isolation) { group in
                    group.addTask { await self.run(work, isolation: isolation) }
                    return await group.next(isolation: isolation)!
                }
            } onCancel: {
                end()
            }
        }.value
    }

    /// Runs the body in the calling task.
    private func run<Value>(
        _ body: Confined<() async throws -> Value>, isolation: isolated (any Actor)?
    ) async -> Confined<Result<Value, any Error>> {
        bodyTask.begin()
        // `pass` may have been called before `bodyTask.begin()`.
        if hasPassed { bodyTask.cancel() }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body.value())
        } catch {
            result = .failure(error)
        }
        end()
        if bodyTask.end() { await bodyTask.waitUntilUnused() }
        return Confined(result)
    }
}

/// Performs a wait. If a timeout passes first, calls a handler that ends the wait.
///
/// Use this function like `withTaskCancellationHandler`. The handler only ends the wait, and `operation` returns the
/// result. The handler is called at most once, with no lock held. No call of the handler begins after this function has
/// returned. However, a call that began earlier may still be running.
///
/// - Parameters:
///   - timeout: The time until the handler is called; nil for no limit. If the time is not positive, the handler is
///     called at once.
///   - clock: The clock that measures the time.
///   - operation: The wait.
///   - onTimeout: The handler, which ends the wait.
package func withTimeoutHandler<Result, Failure>(
    _ timeout: Duration?, clock: any Clock<Duration>, operation: () async throws(Failure) -> Result,
    onTimeout: @escaping @Sendable () -> Void
) async throws(Failure) -> Result {
    guard let timeout else { return try await operation() }
    let limit = HandlerTimer(onTimeout)
    limit.start(timeout, clock: clock)
    defer { limit.end() }
    return try await operation()
}

/// A timer that calls a function once, after a given time.
package final class HandlerTimer: DeadlineTarget, @unchecked Sendable {
    // `deadlineSlot` is accessed only under the lock of `Deadlines`. All other properties are constant.

    var deadlineSlot: Int32 = -1
    private let handler: Lock<(@Sendable () -> Void)?>

    package init(_ handler: @escaping @Sendable () -> Void) {
        self.handler = Lock(handler)
    }

    package func start(_ timeout: Duration, clock: some Clock<Duration>) { startTimer(timeout, clock: clock) }

    /// Ends the timer. No call of the function begins afterwards.
    package func end() {
        endTimer()
        let handler = handler.withLock { $0.take() }
        extendLifetime(handler)
    }

    func deadlinePassed() {
        let handler = handler.withLock { $0.take() }
        handler?()
    }
}

// MARK: - Timeouts of operations

/// A limit of an operation's time. It retains the operation, whose links retain the limit until the operation ends or
/// is withdrawn. One of the two always follows an addition.
class OperationTimeout: DeadlineTarget, @unchecked Sendable {
    // `deadlineSlot` is accessed only under the lock of `Deadlines`. All other properties are constant.

    final var deadlineSlot: Int32 = -1
    let operation: AnyTaskOperation
    let length: Duration

    init(_ length: Duration, of operation: AnyTaskOperation) {
        self.length = length
        self.operation = operation
    }

    /// Whether the limit passed before the operation was added.
    var hasPassedAtAddition: Bool { length <= .zero }

    func begin(on clock: any Clock<Duration>) { startTimer(length, clock: clock) }

    /// Called when the time is over. Each subclass ends the operation.
    func deadlinePassed() {}
}

/// The limit of `timeout(untilStart:)`.
final class StartTimeout: OperationTimeout, @unchecked Sendable {
    // There are no other properties.

    /// Fails the operation with `TaskOperationError.startTimedOut`, unless it has started or was withdrawn.
    override func deadlinePassed() {
        let error = TaskOperationError.startTimedOut(OperationLabel(operation), after: length)
        operation.endUnlessStarted(error, isCancellation: false) { $0.links?.startTimeout === self }
    }
}

/// The limit of `timeout(untilEnd:)` or `timeout(_:)`. For an operation with both, one object records which limit
/// passed first, because that limit determines the error.
final class EndTimeout: OperationTimeout, @unchecked Sendable {
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
        func isCurrent(_ record: borrowing OperationRecord) -> Bool { isOfBody || record.links?.endTimeout === self }
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
    func beginTimeouts(_ options: OptionValues) {
        let startTimeout = options.startTimeout.map { StartTimeout($0.remaining, of: self) }
        let endTimeout = options.endTimeout.map { EndTimeout($0.remaining, of: self, options.body) }
        let isLate = startTimeout?.hasPassedAtAddition == true || endTimeout?.hasPassedAtAddition == true
        let replaced = record.withLock { record -> (StartTimeout?, EndTimeout?) in
            if isFinished { return (nil, nil) }
            record.hasTimedOptions = true
            let links = record.madeLinks()
            defer { (links.startTimeout, links.endTimeout) = (startTimeout, endTimeout) }
            return (links.startTimeout, links.endTimeout)
        }
        extendLifetime(replaced)
        if isLate { return }
        startTimeout?.begin(on: options.body.clock)
        endTimeout?.begin(on: options.body.clock)
        // If the operation finished before the limits began, its end did not find them.
        if isFinished {
            startTimeout?.endTimer()
            endTimeout?.endTimer()
        }
    }

    /// Ends the operation, because a limit passed before it was added.
    func endLate() {
        let (startTimeout, endTimeout) = record.withLock { ($0.links?.startTimeout, $0.links?.endTimeout) }
        if let startTimeout, startTimeout.hasPassedAtAddition { return startTimeout.deadlinePassed() }
        endTimeout?.endOperation(after: endTimeout!.length)
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
        // As for the end of a body: see `Scheduler.finish`.
        _ = core.recording?.ticks
        let ending = record.withLock { record -> OperationEnding? in
            guard isExecuting, condition(record) else { return nil }
            record.cancellation = .cancelled
            finish(Outcome(.failure(failure)))
            return record.abandon()
        }
        guard let ending else { return nil }
        let worker = core.state.rows[slot].worker
        worker?.isWorn = true
        core.state.markFinished(slot)
        return (ending, worker, scheduler.failures?.note(self) ?? false)
    }
}
