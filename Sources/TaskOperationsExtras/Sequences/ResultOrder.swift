import TaskOperations

/// The order in which results of concurrent work are returned.
public enum ResultOrder: Sendable {
    /// The order of the elements. A result that is ready waits for the results of earlier elements.
    case input
    /// The order in which the work ends.
    case completion
}
