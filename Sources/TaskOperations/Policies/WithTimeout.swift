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
        await withoutActuallyEscaping(body) { body in
            let work = Confined(body)
            return await withTaskCancellationHandler {
                await withTaskGroup(of: Confined<Result<Value, any Error>>.self, isolation: isolation) { group in
                    group.addTask { await time.run(work, isolation: isolation) }
                    return await group.next(isolation: isolation)!
                }
            } onCancel: {
                time.end()
            }
        }
    } onTimeout: {
        time.pass(after: limit)
    }
    if case .success(let value) = result.value, keepsValue { return value }
    if time.hasPassed { throw error() }
    return try result.value.get()
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

    /// Runs the body in the calling task.
    func run<Value>(
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

/// An object that learns once that a time is over.
package class DeadlineTimer: DeadlineTarget, @unchecked Sendable {
    // Accessed only under the lock of `Deadlines`.
    final var deadlineSlot: Int32 = -1

    package final func start(_ timeout: Duration, clock: some Clock<Duration>) {
        Deadlines.add(self, after: timeout, on: clock, .high)
    }

    /// Ends the timer. A thread that has found the time over may still call `deadlinePassed` once afterwards.
    package func end() { Deadlines.remove(self) }

    func deadlinePassed() {}
}

/// A timer that calls a function once, after a given time.
package final class HandlerTimer: DeadlineTimer, @unchecked Sendable {
    // All properties are constant.

    private let handler: Lock<(@Sendable () -> Void)?>

    package init(_ handler: @escaping @Sendable () -> Void) {
        self.handler = Lock(handler)
    }

    /// Ends the timer. No call of the function begins afterwards.
    override package func end() {
        super.end()
        let handler = handler.withLock { $0.take() }
        extendLifetime(handler)
    }

    override func deadlinePassed() {
        let handler = handler.withLock { $0.take() }
        handler?()
    }
}
