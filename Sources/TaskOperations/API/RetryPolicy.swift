/// A rule that decides whether and when the body of an operation runs again after it has failed.
///
/// ```swift
/// let page = queue.addOperation(
///     name: "load", .retry(.exponential(initial: .milliseconds(200), jitter: 0.5, attempts: 5))
/// ) {
///     try await load(url)
/// }
/// ```
///
/// All attempts belong to one operation. The operation executes from the first attempt to the last. Its outcome is the
/// outcome of the last attempt. Each attempt takes a token of the queue's rate.
///
/// During a pause, the operation lends its permit (see `withPermitLent`) and the permits of its limits. It takes all of
/// them back before the next attempt. The values and the error of a failed attempt are released before the pause.
/// Cancelling the operation ends the pause and the operation at once, with `CancellationError`.
///
/// No further attempt follows if the operation was cancelled or its timeout has passed. A failed input
/// (`TaskOperationError.dependencyFailed`) also ends the attempts, because the input would be missing in every attempt.
///
/// This differs from the `RetryProcedure` of ProcedureKit, which creates a new operation for each attempt.
public struct RetryPolicy: Sendable {
    /// Decides whether another attempt follows.
    ///
    /// - Parameters:
    ///   - error: The error of the attempt.
    ///   - attempt: The number of the attempt, from 1.
    /// - Returns: The pause before the next attempt. A duration that is not positive means no pause. If the result is
    ///   nil, no attempt follows, and `error` is the outcome.
    public typealias Decision = @Sendable (_ error: any Error, _ attempt: Int) -> Duration?

    private typealias Report = @Sendable (_ error: any Error, _ attempt: Int, _ pause: Duration?) -> Void

    private let decision: Decision
    private let report: Report?

    /// Creates a policy from a function that decides whether another attempt follows. The function is called in the
    /// task of the body.
    ///
    /// ```swift
    /// let policy = RetryPolicy { error, attempt in
    ///     error is Busy && attempt < 5 ? .seconds(attempt) : nil
    /// }
    /// ```
    public init(_ decision: @escaping Decision) {
        self.init(decision, report: nil)
    }

    private init(_ decision: @escaping Decision, report: Report?) {
        self.decision = decision
        self.report = report
    }

    /// The number of the current attempt, from 1. Nil outside bodies with a retry policy.
    @TaskLocal public static var attempt: Int?
}

// MARK: - Reports and filters

extension RetryPolicy {
    /// Returns this policy with a handler that receives each failed attempt.
    ///
    /// ```swift
    /// let policy = RetryPolicy.immediately(attempts: 3).reporting { error, attempt, pause in
    ///     log("\(AnyTaskOperation.current?.name ?? "work"): attempt \(attempt) failed: \(error)")
    /// }
    /// ```
    ///
    /// - Parameter handler: Called in the task of the body, before the pause, with the error of the attempt, the number of
    ///   the attempt from 1, and the pause before the next attempt. The pause is nil if no attempt follows; the error is
    ///   then the outcome.
    public func reporting(
        to handler: @escaping @Sendable (_ error: any Error, _ attempt: Int, _ pause: Duration?) -> Void
    ) -> RetryPolicy {
        RetryPolicy(decision) { [report] error, attempt, pause in
            report?(error, attempt, pause)
            handler(error, attempt, pause)
        }
    }

    /// Returns this policy, which also pauses a limit when another system asks for a pause, for example with the header
    /// `Retry-After`.
    ///
    /// ```swift
    /// let policy = RetryPolicy.exponential(initial: .milliseconds(200), attempts: 5)
    ///     .pausing(model) { error in (error as? TooManyRequests)?.retryAfter }
    /// jobs.addOperation([.limit(model, key: provider, cost: estimate), .retry(policy)]) { … }
    /// ```
    ///
    /// The pause applies to the key that the operation has at the limit. If it has none, or if no operation makes the
    /// attempt, the pause applies to the whole limit. Other operations then wait, too, instead of failing one after
    /// another. See `AsyncSemaphore.pause(for:key:)`.
    ///
    /// - Parameters:
    ///   - limit: The limit to pause.
    ///   - pause: Called in the task of the body after each failed attempt, with the error of the attempt. Returns the
    ///     length of the pause, which begins at once; nil for no pause. The limit is paused even if no attempt follows.
    public func pausing(
        _ limit: AsyncSemaphore, for pause: @escaping @Sendable (any Error) -> Duration?
    ) -> RetryPolicy {
        reporting { error, _, _ in
            guard let duration = pause(error) else { return }
            let key = AnyTaskOperation.current?.limitRequests.first { $0.limit === limit }?.key
            limit.pause(for: duration, key)
        }
    }

    /// Returns this policy, limited to errors for which a predicate returns true. After any other error, no attempt
    /// follows. The error of an attempt that took too long is `TaskOperationError.timedOut`:
    ///
    /// ```swift
    /// let policy = RetryPolicy.exponential(initial: .seconds(1), attempts: 4).only {
    ///     if case TaskOperationError.timedOut = $0 { true } else { $0 is URLError }
    /// }
    /// ```
    public func only(for isTransient: @escaping @Sendable (any Error) -> Bool) -> RetryPolicy {
        RetryPolicy(
            { [decision] error, attempt in isTransient(error) ? decision(error, attempt) : nil }, report: report)
    }

    /// Returns this policy with a condition for each attempt that this policy allows.
    package func onlyWhile(_ isAllowed: @escaping @Sendable () -> Bool) -> RetryPolicy {
        RetryPolicy(
            { [decision] error, attempt in
                guard let pause = decision(error, attempt), isAllowed() else { return nil }
                return pause
            }, report: report)
    }

    /// Returns the pause before the next attempt of work that is not an operation; nil if no attempt follows.
    ///
    /// - Parameter attempt: The number of the attempt, as another system reports it. A number below 1 counts as 1.
    package func delay(after error: any Error, attempt: Int) -> Duration? { decision(error, max(1, attempt)) }

    /// Decides whether another attempt follows, and reports the failed attempt.
    func pause(after error: any Error, attempt: Int, of operation: AnyTaskOperation?) -> Duration? {
        let mustEnd = Task.isCancelled || operation.map { $0.isCancelled || $0.isRefused(error) } ?? false
        let pause = mustEnd ? nil : decision(error, attempt)
        report?(error, attempt, pause)
        return pause
    }
}

extension AnyTaskOperation {
    /// Whether an error means that the operation did not run because of its dependencies.
    fileprivate func isRefused(_ error: any Error) -> Bool {
        switch error as? TaskOperationError {
        case .dependencyFailed(let dependency, _, _): dependencies.contains { dependency == OperationLabel($0) }
        case .notReady(let label, _): label == OperationLabel(self)
        default: false
        }
    }
}

extension RetryPolicy {
    /// Tries again at once. The operation keeps its permit.
    ///
    /// - Parameter attempts: The total number of attempts; at least 1.
    public static func immediately(attempts: Int) -> RetryPolicy {
        checkAttempts(attempts)
        return RetryPolicy { _, attempt in attempt < attempts ? .zero : nil }
    }

    /// Tries again after pauses of increasing length.
    ///
    /// The pause after attempt `n` is `initial · factor ⁿ⁻¹`, but at most `maximum`. Jitter shortens each pause by a
    /// random fraction, so that clients that failed together do not all try again together. A jitter of 1 is the "full
    /// jitter" of M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    ///
    /// - Parameters:
    ///   - initial: The pause after the first attempt; not negative.
    ///   - factor: The ratio of each pause to the previous one; at least 1.
    ///   - maximum: The longest pause; not shorter than `initial`.
    ///   - jitter: The largest fraction by which a pause is shortened, from 0 to 1.
    ///   - attempts: The total number of attempts; at least 1.
    ///   - seed: The seed of the jitter. The same seed gives the same pauses. If it is nil, the pauses differ each
    ///     time.
    public static func exponential(
        initial: Duration, factor: Double = 2, maximum: Duration = .seconds(60), jitter: Double = 0, attempts: Int,
        seed: UInt64? = nil
    ) -> RetryPolicy {
        checkAttempts(attempts)
        require(initial >= .zero, "initial is \(initial); it must not be negative.")
        require(factor >= 1 && factor.isFinite, "factor is \(factor); it must be at least 1, and finite.")
        require(maximum >= initial, "maximum is \(maximum); it must not be shorter than initial, \(initial).")
        require(jitter >= 0 && jitter <= 1, "jitter is \(jitter); it must be from 0 to 1.")
        return RetryPolicy { _, attempt in
            if attempt >= attempts { return nil }
            let pause = pause(after: attempt, initial, factor, maximum)
            if jitter == 0 { return pause }
            return pause.saturated * (1 - jitter * random(seed, attempt))
        }
    }

    private static func pause(
        after attempt: Int, _ initial: Duration, _ factor: Double, _ maximum: Duration
    ) -> Duration {
        if factor == 1 || initial == .zero { return initial }
        let (first, limit) = (initial.saturated / .seconds(1), maximum.saturated / .seconds(1))
        let seconds = first * power(factor, attempt - 1)
        if seconds >= limit { return maximum }
        // The pause is rounded, so that three times 100 milliseconds are exactly 300 milliseconds. Larger numbers of
        // nanoseconds would not fit into an `Int64`.
        return seconds < 1e9 ? .nanoseconds(Int64((seconds * 1e9).rounded())) : .seconds(seconds)
    }

    /// Takes logarithmic time in the exponent, because a count of attempts may be as large as any number.
    private static func power(_ base: Double, _ exponent: Int) -> Double {
        var (power, square, rest) = (1.0, base, exponent)
        while rest > 0 {
            if rest & 1 == 1 { power *= square }
            square *= square
            rest >>= 1
        }
        return power
    }

    /// Returns a number that is at least 0 and less than 1.
    private static func random(_ seed: UInt64?, _ attempt: Int) -> Double {
        guard let seed else { return .random(in: 0..<1) }
        return Double(mixed(seed &+ UInt64(bitPattern: Int64(attempt)) &* 0x9E37_79B9_7F4A_7C15) >> 11) * 0x1p-53
    }

    /// The output function of SplitMix64 (G. L. Steele, D. Lea and C. H. Flood, "Fast Splittable Pseudorandom Number
    /// Generators", OOPSLA 2014).
    private static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = number
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    private static func checkAttempts(_ attempts: Int) {
        require(attempts >= 1, "attempts is \(attempts); it must be at least 1, as the first one counts.")
    }
}

// MARK: - Attempts

extension RetryPolicy {
    /// Runs a body until it succeeds, or until the policy allows no further attempt.
    ///
    /// - Parameters:
    ///   - operation: The operation that makes the attempts; nil if there is none.
    ///   - wait: Waits for a pause before the attempt with the given number.
    func run<Value>(
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
