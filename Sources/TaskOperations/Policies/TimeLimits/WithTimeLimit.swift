/// Runs a body for a limited time. When the time is over, the body is cancelled, and the call throws `WaitTimeoutError`
/// after the body has ended.
///
/// ```swift
/// let page = try await withTimeLimit(.seconds(5)) { try await load(url) }
/// ```
///
/// The body runs in a child task, in the isolation of the caller: it sees the caller's task locals, is cancelled with
/// it, and inherits its priority. If the body ignores its cancellation, the call waits for it, and throws
/// `WaitTimeoutError` even if the body returns a value. If the caller was cancelled before the time was over, the
/// outcome is the outcome of the body.
///
/// - Parameters:
///   - limit: The time that the body may take. If it is not positive, the body is cancelled from its start.
///   - clock: The clock that measures the limit.
///   - isolation: The actor that the body is isolated to; by default that of the caller.
///   - body: The work.
/// - Returns: The value that `body` returns.
/// - Throws: `WaitTimeoutError` if the time is over before the body ends; otherwise the error that `body` throws.
public func withTimeLimit<Value>(
    _ limit: Duration, clock: any Clock<Duration> = ContinuousClock(), isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Value
) async throws -> Value {
    try await withCancelledBody(after: limit, clock: clock, body) {
        WaitTimeoutError("the body of withTimeLimit to end", timeout: limit)
    }
}

/// Runs a body in a child task, and cancels that task when the time is over.
///
/// - Parameter error: The error to throw if the time is over before the body ends.
func withCancelledBody<Value>(
    after limit: Duration, clock: any Clock<Duration>, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Value, error: () -> any Error
) async throws -> Value {
    let time = LimitedTime()
    let result = await withTimeLimit(limit, clock: clock) {
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
        time.pass()
    }
    if time.hasPassed { throw error() }
    return try result.value.get()
}

/// A value that a child task and its parent use in turn.
private struct Confined<Value>: @unchecked Sendable {
    // The parent is suspended until the child has ended, and both run in the isolation of the parent.
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// The time of a body, and the task that runs the body.
private final class LimitedTime: Sendable {
    private enum State: Sendable {
        case running
        case passed
        /// The body has ended in time, or the caller was cancelled before.
        case over
    }

    private let state = Lock(State.running)
    private let runner = OperationRunner()

    var hasPassed: Bool { state.withLock { $0 == .passed } }

    /// The time is over.
    func pass() {
        let isFirst = state.withLock { state in
            defer { if state == .running { state = .passed } }
            return state == .running
        }
        if isFirst { runner.cancel() }
    }

    /// Ends the limit, so that the time no longer counts.
    func end() {
        state.withLock { state in
            if state == .running { state = .over }
        }
    }

    /// Runs the body in the calling task.
    func run<Value>(
        _ body: Confined<() async throws -> Value>, isolation: isolated (any Actor)?
    ) async -> Confined<Result<Value, any Error>> {
        runner.begin()
        // The time may have passed before the task began.
        if hasPassed { runner.cancel() }
        let result: Result<Value, any Error>
        do {
            result = .success(try await body.value())
        } catch {
            result = .failure(error)
        }
        end()
        if runner.end() { await runner.waitUntilUnused() }
        return Confined(result)
    }
}
