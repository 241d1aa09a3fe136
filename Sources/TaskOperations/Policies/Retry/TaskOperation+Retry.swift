extension TaskOperation {
    /// Runs a body until it succeeds, or the policy ends the attempts.
    static func run<C: Clock>(
        _ body: Body, retrying policy: RetryPolicy, clock: C
    ) async throws -> Success where C.Duration == Duration {
        var attempt = 1
        while true {
            let pause: Duration
            do {
                return try await RetryPolicy.$attempt.withValue(attempt) { try await body() }
            } catch {
                guard let chosen = policy.pause(after: error, attempt: attempt, of: executing) else { throw error }
                pause = chosen
            }
            // At this point, all values of the attempt have been released.
            attempt += 1
            await waitLendingPermit(for: pause, before: attempt, clock: clock)
            try Task.checkCancellation()
            executing?.report(.attempt(attempt))
        }
    }
}

extension AnyTaskOperation {
    /// Waits for a pause to end, and then until the rate of the queue allows an attempt. The body lends its permits
    /// meanwhile. If its task is cancelled, the body does not get them back, and has to end.
    static func waitLendingPermit<C: Clock>(
        for pause: Duration, before attempt: Int, clock: C
    ) async where C.Duration == Duration {
        let host = executing?.record.withLock { $0.host }
        if pause <= .zero, host?.hasRate != true { return }
        let face = ClockFace(clock)
        let end = face.moment(after: pause)
        await lendingPermit(for: .pause(attempt: attempt, length: pause), goesOn: { !Task.isCancelled }) {
            await lendingLimits {
                if pause > .zero { await face.sleep(until: end) }
                if !Task.isCancelled { await host?.waitForAttempt() }
            }
        }
    }
}
