/// Runs a body, and runs it again after failures as long as a policy allows.
///
/// ```swift
/// let page = try await retrying(.exponential(initial: .milliseconds(200), attempts: 5)) { try await load(url) }
/// ```
///
/// All attempts run in the calling task, in the isolation of the caller. If the task is cancelled, a pause ends at
/// once, and no further attempt follows.
///
/// An operation whose body calls this function keeps its permit during pauses. By contrast, an operation with a retry
/// policy lends its permit during pauses. This function does not call the handlers of `RetryPolicy.reporting(to:)`,
/// because there is no operation to report.
///
/// - Parameters:
///   - policy: The policy that decides on each further attempt.
///   - clock: The clock that measures pauses.
///   - isolation: The actor to which the body is isolated; by default, the caller's actor.
///   - body: The work. During the call, `RetryPolicy.attempt` is the number of the attempt.
/// - Returns: The value that the first successful attempt returns.
/// - Throws: The error of the last attempt, or `CancellationError` if the task is cancelled between two attempts.
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
