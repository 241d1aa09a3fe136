/// Where an operation stands. Every operation goes through these states in this order, and may leave some out;
/// being cancelled is a mark beside the state, not a state.
public enum TaskOperationState: Comparable, Sendable {
    /// A dependency is unfinished.
    case pending
    /// Every dependency is finished; the operation waits to be added, or for its queue to start it.
    case ready
    /// The body has started.
    case executing
    /// The outcome is there, and does not change any more.
    case finished
}
