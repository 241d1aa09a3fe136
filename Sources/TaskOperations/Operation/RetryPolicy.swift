/// A rule that decides whether and when the body of an operation runs again after a failure.
///
/// ```swift
/// let page = queue.addOperation(
///     [.name("load"), .retry(.exponential(initial: .milliseconds(200), jitter: 0.5, attempts: 5))]
/// ) {
///     try await load(url)
/// }
/// ```
///
/// All attempts belong to one operation. The operation executes from the first attempt to the last, and its outcome is
/// the outcome of the last attempt. Each attempt counts in the rate of the queue. During a pause, the operation lends
/// its permit (see `withPermitLent`) and the permits of its limits. It takes all of them back before the next attempt.
/// Cancelling the operation ends the pause and the operation at once, with `CancellationError`. The values and the
/// error of a failed attempt are released before the pause.
///
/// No further attempt follows if the operation was cancelled, if its time limit has passed, or if its input failed
/// (`TaskOperationError.dependencyFailed`). A failed input would fail again in every attempt.
///
/// ProcedureKit's `RetryProcedure`, with a maximum and a wait strategy, creates a new operation for each attempt
/// instead.
public struct RetryPolicy: Sendable {
    /// Decides whether another attempt follows.
    ///
    /// - Parameters:
    ///   - error: The error of the attempt.
    ///   - attempt: The number of the attempt, from 1.
    /// - Returns: The pause before the next attempt; nil if no attempt follows, and `error` is the outcome. A duration
    ///   that is not positive means no pause.
    public typealias Decision = @Sendable (_ error: any Error, _ attempt: Int) -> Duration?

    private let decision: Decision
    private let report: (@Sendable (FailedAttempt) -> Void)?

    /// Creates a policy from a function that decides. The function is called in the task of the body.
    ///
    /// ```swift
    /// let policy = RetryPolicy { error, attempt in
    ///     error is Busy && attempt < 5 ? .seconds(attempt) : nil
    /// }
    /// ```
    public init(_ decision: @escaping Decision) {
        self.init(decision, report: nil)
    }

    private init(_ decision: @escaping Decision, report: (@Sendable (FailedAttempt) -> Void)?) {
        self.decision = decision
        self.report = report
    }

    /// The number of the current attempt, from 1; nil outside bodies with a retry policy.
    @TaskLocal public static var attempt: Int?
}

// MARK: - Reports and filters

extension RetryPolicy {
    /// An attempt that failed.
    public struct FailedAttempt: Sendable {
        /// The operation.
        public let operation: OperationLabel
        /// The number of the attempt, from 1.
        public let number: Int
        /// The error of the attempt.
        public let error: any Error
        /// The pause before the next attempt; nil if no attempt follows, and the error is the outcome.
        public let pause: Duration?
    }

    /// Returns this policy with a handler that receives each failed attempt.
    ///
    /// - Parameter handler: Called in the task of the body, before the pause.
    public func reporting(to handler: @escaping @Sendable (FailedAttempt) -> Void) -> RetryPolicy {
        RetryPolicy(decision) { [report] failure in
            report?(failure)
            handler(failure)
        }
    }

    /// Returns this policy, limited to errors for which a predicate returns true. After any other error, no attempt
    /// follows.
    public func only(for isTransient: @escaping @Sendable (any Error) -> Bool) -> RetryPolicy {
        RetryPolicy(
            { [decision] error, attempt in isTransient(error) ? decision(error, attempt) : nil }, report: report)
    }

    /// Returns the pause before the next attempt of work that is not an operation; nil if no attempt follows.
    package func delay(after error: any Error, attempt: Int) -> Duration? { decision(error, attempt) }

    /// Decides on another attempt of an operation, and reports the failed one.
    func pause(after error: any Error, attempt: Int, of operation: AnyTaskOperation?) -> Duration? {
        let mustEnd = Task.isCancelled || operation.map { $0.isCancelled || $0.isRefused(error) } ?? false
        let pause = mustEnd ? nil : decision(error, attempt)
        if let report, let operation {
            report(FailedAttempt(operation: OperationLabel(operation), number: attempt, error: error, pause: pause))
        }
        return pause
    }
}

extension AnyTaskOperation {
    /// Whether an error means that the operation did not run because of its dependencies.
    fileprivate func isRefused(_ error: any Error) -> Bool {
        switch error as? TaskOperationError {
        case .dependencyFailed(let dependency, _, _): dependencies.contains { dependency.isLabel(of: $0) }
        case .notReady(let label, _): label.isLabel(of: self)
        default: false
        }
    }
}
