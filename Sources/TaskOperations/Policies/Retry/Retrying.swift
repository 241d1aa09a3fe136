/// Runs a body, and runs it again after failures as a policy decides.
///
/// ```swift
/// let page = try await retrying(.exponential(initial: .milliseconds(200), attempts: 5)) { try await load(url) }
/// ```
///
/// All attempts run in the calling task, in the isolation of the caller. After a cancellation of the task there is no
/// other attempt, and a pause ends at once. In the body of an operation, the operation keeps its permit during pauses.
/// By contrast, an operation that is added with a retry policy lends its permit then. Handlers of `RetryPolicy.reporting(to:)` are not called,
/// because there is no operation to report.
///
/// - Parameters:
///   - policy: The policy.
///   - clock: The clock that measures pauses.
///   - isolation: The actor that the body is isolated to; by default that of the caller.
///   - body: The work. `RetryPolicy.attempt` is the number of the attempt.
/// - Returns: The value that the first successful attempt returns.
/// - Throws: The error of the last attempt; `CancellationError` if the task is cancelled during a pause.
public func retrying<Value>(
    _ policy: RetryPolicy, clock: any Clock<Duration> = ContinuousClock(),
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Value
) async throws -> Value {
    var attempt = 1
    while true {
        let pause: Duration
        do {
            return try await RetryPolicy.$attempt.withValue(attempt, operation: body, isolation: isolation)
        } catch {
            guard let chosen = policy.pause(after: error, attempt: attempt, of: nil) else { throw error }
            pause = chosen
        }
        attempt += 1
        if pause > .zero { await sleep(for: pause, on: clock) }
        try Task.checkCancellation()
    }
}

private func sleep(for pause: Duration, on clock: some Clock<Duration>) async {
    let face = ClockFace(clock)
    await face.sleep(until: face.moment(after: pause))
}
