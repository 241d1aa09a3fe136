/// Why an operation failed that waited for a completion handler and learned of no outcome.
public enum CallbackError: Error, Sendable {
    /// Nobody can call the completion any more: all references to it are gone.
    case completionReleased(OperationLabel)

    /// The completion was called with neither a value nor an error.
    case noOutcome(OperationLabel)
}

extension CallbackError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .completionReleased(let operation):
            """
            The completion of \(operation) was released without being called. Call it on every path, also where \
            the work fails or is cancelled.
            """
        case .noOutcome(let operation):
            "The completion of \(operation) was called with neither a value nor an error. Pass one of them."
        }
    }
}
