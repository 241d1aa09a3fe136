/// What the failure of an operation does to the group that it belongs to.
public enum GroupFailurePolicy: Sendable {
    /// The first failure cancels all that is left of the group, and is what the group fails with.
    case failFast

    /// All operations run. If any failed, the group fails with `GroupFailures`.
    case collectAll
}

/// What failed in a group that keeps all failures.
public struct GroupFailures: Error, Sendable {
    /// An operation that failed.
    public struct Failure: Sendable {
        /// The operation.
        public let operation: OperationLabel
        /// What it failed with.
        public let error: any Error
    }

    /// All that failed, in the order in which they did.
    public let failures: [Failure]
}

extension GroupFailures: CustomStringConvertible {
    public var description: String {
        let list = failures.map { "\($0.operation): \($0.error)" }.joined(separator: "; ")
        return "\(failures.count) operations of the group failed: \(list)"
    }
}
