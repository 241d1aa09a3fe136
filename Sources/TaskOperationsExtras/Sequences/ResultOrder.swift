import TaskOperations

/// The order in which results of concurrent work are returned.
public enum ResultOrder: Sendable {
    /// The order of the elements. A result is returned after the results of all earlier elements.
    case input
    /// The order in which the calls or operations end.
    case completion
}
