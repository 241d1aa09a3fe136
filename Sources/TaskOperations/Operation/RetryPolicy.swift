/// A rule that decides whether and when the body of an operation runs again after it has failed.
///
/// ```swift
/// let page = queue.addOperation(
///     [.name("load"), .retry(.exponential(initial: .milliseconds(200), jitter: 0.5, attempts: 5))]
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
/// No further attempt follows if the operation was cancelled or its time limit has passed. A failed input
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

    private let decision: Decision
    private let report: (@Sendable (FailedAttempt) -> Void)?

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

    private init(_ decision: @escaping Decision, report: (@Sendable (FailedAttempt) -> Void)?) {
        self.decision = decision
        self.report = report
    }

    /// The number of the current attempt, from 1. Nil outside bodies with a retry policy.
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
        /// The pause before the next attempt. Nil if no attempt follows; the error is then the outcome.
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
    ///
    /// - Parameter attempt: The number of the attempt, as another system reports it. A number below 1 counts as 1.
    package func delay(after error: any Error, attempt: Int) -> Duration? { decision(error, max(1, attempt)) }

    /// Decides whether an operation makes another attempt, and reports the failed attempt.
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
