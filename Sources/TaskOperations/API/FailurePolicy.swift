import Synchronization

/// The effect of an operation's failure on its scope or group.
///
/// An operation that was cancelled, before or after its start, does not count as a failure. An operation that exceeded
/// its timeout counts as a failure.
public enum FailurePolicy: Sendable {
    /// The first failure cancels the remaining operations, and is thrown at the end.
    case cancelRest

    /// All operations run, except those whose inputs have failed. If any failed, `OperationFailures` is thrown at the
    /// end.
    case collect

    /// Failures have no effect on the scope or group. Only a task that awaits the value of the operation receives its
    /// error.
    case ignore
}

/// The failures of the operations of a scope or a group with the policy `collect`.
public struct OperationFailures: Error, Sendable {
    /// An operation that failed.
    public struct Failure: Sendable {
        /// The operation.
        public let operation: OperationLabel
        /// The error of the operation.
        public let error: any Error
    }

    /// All failures, in the order in which they occurred.
    public let failures: [Failure]
}

extension OperationFailures: CustomStringConvertible {
    public var description: String {
        let list = failures.map { "\($0.operation): \($0.error)" }.joined(separator: "; ")
        return "\(failures.count) operations failed: \(list)"
    }
}

/// The failures of the operations of a queue, for a scope or a group that throws them.
final class FailureLog: Sendable {
    private struct State: Sendable {
        var failures: [OperationFailures.Failure] = []
        var hasCancelled = false
    }

    private let policy: FailurePolicy
    private let state = Lock(State())

    /// - Returns: Nil if the policy ignores failures.
    init?(_ policy: FailurePolicy) {
        if case .ignore = policy { return nil }
        self.policy = policy
    }

    /// Records that an operation has failed or was cancelled. Returns whether the remaining operations must be
    /// cancelled.
    func note(_ operation: AnyTaskOperation) -> Bool {
        guard let error = operation.failure, !operation.isInternal else { return false }
        let failure = OperationFailures.Failure(operation: OperationLabel(operation), error: error)
        let isCancelled = operation.isCancelled && !error.isTimeout
        state.withLock { state in
            if isCancelled { state.hasCancelled = true } else { state.failures.append(failure) }
        }
        return !isCancelled && policy == .cancelRest
    }

    /// Whether any operation was cancelled.
    var hasCancelled: Bool { state.withLock { $0.hasCancelled } }

    /// The error that the scope or the group throws because of its operations; nil if none has failed.
    var error: (any Error)? {
        let failures = state.withLock { $0.failures }
        guard let first = failures.first else { return nil }
        return policy == .cancelRest ? first.error : OperationFailures(failures: failures)
    }
}

extension Scheduler {
    /// Whether any operation was cancelled. False without a policy for failures.
    package nonisolated var hasCancelledOperations: Bool { failures?.hasCancelled ?? false }

    nonisolated func noteFailure(of operation: AnyTaskOperation) {
        if let failures, failures.note(operation) { cancelAll(andSet: .cancelling) }
    }
}

extension Error {
    fileprivate var isTimeout: Bool {
        if case .timedOut(.operation, _) = self as? TaskOperationError { true } else { false }
    }
}
