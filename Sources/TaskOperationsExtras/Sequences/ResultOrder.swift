import TaskOperations

/// The order in which results of concurrent work are returned.
public enum ResultOrder: Sendable {
    /// The order of the elements that they belong to. A result that is ready waits for those before it.
    case input
    /// The order in which the work ends.
    case completion
}
