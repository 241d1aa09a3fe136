import TaskOperations

/// An error of work that ended without an outcome from its completion handler. The associated value names the work.
public enum CallbackError: Error, Sendable {
    /// The completion handler was released without being called.
    case completionReleased(String)

    /// The completion handler was called with neither a value nor an error.
    case noOutcome(String)
}

extension CallbackError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .completionReleased(let work):
            """
            The completion of \(work) was released without being called. Call it on every path, even if the \
            work fails or is cancelled.
            """
        case .noOutcome(let work):
            "The completion of \(work) was called with neither a value nor an error. Pass one of them."
        }
    }
}
