import Synchronization

extension TaskOperation {
    /// Runs a body until it succeeds, or until the policy allows no further attempt.
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
            // All values of the failed attempt have been released here.
            attempt += 1
            await waitLendingPermit(for: pause, before: attempt, clock: clock)
            try Task.checkCancellation()
            executing?.report(.attempt(attempt))
        }
    }
}

extension AnyTaskOperation {
    /// Waits until a pause is over, and until the rates of the queue and of the limits allow an attempt. During this
    /// wait, the body lends its permits. If the task is cancelled, the body does not take the permits back, and must end.
    static func waitLendingPermit<C: Clock>(
        for pause: Duration, before attempt: Int, clock: C
    ) async where C.Duration == Duration {
        let (host, limits) = executing?.record.withLock { ($0.host, $0.links?.limits ?? []) } ?? (nil, [])
        let hasRate = host?.hasRate == true || limits.contains { $0.limit.hasRate }
        if pause <= .zero, !hasRate { return }
        let face = ClockFace(clock)
        let end = face.moment(after: pause)
        await lendingPermit(for: .pause(attempt: attempt, length: pause), continues: { !Task.isCancelled }) {
            await lendingLimits {
                if pause > .zero { await face.sleep(until: end) }
                if !Task.isCancelled { await host?.waitForAttempt() }
            }
        }
    }
}
