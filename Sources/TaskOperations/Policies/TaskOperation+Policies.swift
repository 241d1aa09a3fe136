import Synchronization

extension TaskOperation {
    /// Runs a body with the policies in the operation's options. `OperationOptions` documents the order of policies.
    ///
    /// - Parameter options: The options at the addition that wrapped the body.
    // Inlined, because an asynchronous call costs 400 instructions.
    @inline(__always)
    static func runWithPolicies(_ body: @escaping Body, _ options: BodyOptions) async throws -> Success {
        let operation = AnyTaskOperation.current!
        let (endLimit, isOutdated) = operation.record.withLock { ($0.links?.endLimit, $0.wrapping == .outdated) }
        let options = isOutdated ? operation.completedOptions.body : options
        guard let limit = endLimit ?? options.timeout.map({ EndLimit($0, of: operation, options, isOfBody: true) })
        else {
            return try await attempts(body, options)
        }
        var timer: DeadlineTimer?
        if let timeout = options.timeout {
            timer = endLimit == nil ? limit : HandlerTimer { limit.pass(timeout) }
            timer!.start(timeout, clock: options.clock)
        }
        do {
            let value = try await attempts(body, options)
            timer?.end()
            // A value is kept if the limit has passed: its effects have happened.
            limit.endBody()
            return value
        } catch {
            timer?.end()
            throw limit.endBody() ?? error
        }
    }

    @inline(__always)
    private static func attempts(_ body: @escaping Body, _ options: BodyOptions) async throws -> Success {
        guard let policy = options.retry else {
            return options.attemptTimeout == nil ? try await body() : try await attempt(body, options)
        }
        return try await policy.run(for: current, isolation: #isolation) {
            try await attempt(body, options)
        } wait: { pause, next in
            await waitLendingPermit(for: pause, before: next, clock: options.clock)
        }
    }

    private static func attempt(_ body: @escaping Body, _ options: BodyOptions) async throws -> Success {
        guard let limit = options.attemptTimeout else { return try await body() }
        let label = OperationLabel(AnyTaskOperation.current!)
        return try await withCancelledBody(after: limit, clock: options.clock, keepsValue: true, body) {
            TaskOperationError.timedOut(.operation(label), after: limit)
        }
    }
}

extension RetryPolicy {
    /// Runs a body until it succeeds, or until the policy allows no further attempt.
    ///
    /// - Parameters:
    ///   - operation: The operation that makes the attempts; nil if there is none.
    ///   - wait: Waits for a pause before the attempt with the given number.
    fileprivate func run<Value>(
        for operation: AnyTaskOperation?, isolation: isolated (any Actor)?, _ body: () async throws -> Value,
        wait: (_ pause: Duration, _ next: Int) async -> Void
    ) async throws -> Value {
        var attempt = 1
        while true {
            let pause: Duration
            do {
                return try await RetryPolicy.$attempt.withValue(attempt, operation: body, isolation: isolation)
            } catch {
                guard let chosen = self.pause(after: error, attempt: attempt, of: operation) else { throw error }
                pause = chosen
            }
            // All values of the failed attempt have been released here.
            attempt += 1
            await wait(pause, attempt)
            try Task.checkCancellation()
            operation?.report(.attempt(attempt))
        }
    }
}

extension AnyTaskOperation {
    /// Waits until a pause is over, and until the rates of the queue and of the limits allow an attempt. During this
    /// wait, the body lends its permits. If the task is cancelled, the body does not take the permits back, and must end.
    static func waitLendingPermit(for pause: Duration, before attempt: Int, clock: any Clock<Duration>) async {
        // See `ClockFace.sleep(for:)`.
        if pause <= .zero { await Task.yield() }
        let (scheduler, limits) = current?.record.withLock { ($0.scheduler, $0.links?.limits ?? []) } ?? (nil, [])
        let mayWait = scheduler?.hasRate == true || limits.contains { $0.mayHoldBackAttempts }
        if pause <= .zero, !mayWait { return }
        let face = ClockFace(clock)
        let end = face.moment(after: pause)
        await lendingPermit(for: .pause(attempt: attempt, length: pause), continues: { !Task.isCancelled }) {
            await lendingLimits {
                if pause > .zero { await face.sleep(until: end) }
                if !Task.isCancelled { await scheduler?.waitForAttempt() }
            }
        }
    }
}

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
/// policy lends its permit during pauses.
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
    try await policy.run(for: nil, isolation: isolation, body) { pause, _ in await ClockFace(clock).sleep(for: pause) }
}
