import Synchronization
public import TaskOperations

/// Limits retries and hedges to a part of the calls that succeed, so that they do not multiply the load of a system that
/// fails.
///
/// ```swift
/// let budget = RetryBudget(ratio: 0.1)
/// budget.countBodies(of: reads)
/// budget.countBodies(of: writes)
/// reads.addOperation(.retry(.exponential(initial: .milliseconds(100), attempts: 3).limited(by: budget))) { … }
/// ```
///
/// The budget is a number of tokens. A success adds `ratio` tokens, up to the maximum. A retry or a hedge takes one
/// token, and does not happen if there is less than one. This is the token bucket of gRPC ("gRPC Retry Design", A6) with
/// the withdrawals of Finagle (`RetryBudget`): gRPC takes a token for each failure and stops at half of the maximum.
/// Use one budget for each system that is called. See <doc:FailingSystems>.
///
/// Each call takes constant time and a lock.
public final class RetryBudget: Sendable {
    // Tokens are counted in thousandths, because a sum of fractions is not exact.
    private static let unit = 1000

    private let income: Int
    private let maximum: Int
    private let tokens: Lock<Int>

    /// Creates a full budget.
    ///
    /// - Parameters:
    ///   - ratio: The number of tokens that a success adds, from 0 to 1, in steps of 0.001. With 0.1, at most one call
    ///     of ten has a further attempt in the long run.
    ///   - maxTokens: The maximum number of tokens; at least 1. So many further attempts can follow immediately.
    public init(ratio: Double = 0.1, maxTokens: Int = 10) {
        require(ratio >= 0 && ratio <= 1, "ratio is \(ratio); it must be from 0 to 1.")
        require(maxTokens >= 1, "maxTokens is \(maxTokens); it must be at least 1.")
        income = Int((ratio * Double(Self.unit)).rounded())
        let (maximum, overflows) = maxTokens.multipliedReportingOverflow(by: Self.unit)
        self.maximum = overflows ? .max : maximum
        tokens = Lock(self.maximum)
    }

    /// The number of further attempts that are allowed now.
    public var tokenCount: Int { tokens.withLock { $0 } / Self.unit }

    /// Takes a token for a further attempt. Returns false if there is none. Then the attempt must not happen.
    public func takeToken() -> Bool {
        tokens.withLock { tokens in
            if tokens < Self.unit { return false }
            tokens -= Self.unit
            return true
        }
    }

    /// Records a call that succeeded. Use it for calls that are not bodies of a counted queue.
    public func addSuccess() {
        tokens.withLock { $0 = $0 > maximum - income ? maximum : $0 + income }
    }

    /// Records the bodies of a queue that succeed, in any attempt. Call it before you add operations. Several queues can
    /// share the budget.
    public func countBodies(of queue: TaskOperationQueue) {
        queue.addBodyInterceptor { _, body in
            try await body()
            self.addSuccess()
        }
    }
}

extension RetryPolicy {
    /// Returns this policy, limited by a budget. If the budget is used up, no attempt follows, and the error of the last
    /// attempt is the outcome.
    ///
    /// - Parameter budget: The budget from which each further attempt takes a token.
    public func limited(by budget: RetryBudget) -> RetryPolicy {
        onlyWhile { budget.takeToken() }
    }
}
