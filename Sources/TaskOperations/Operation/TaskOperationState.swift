/// The state of an operation. An operation passes through these states in this order and may skip some.
///
/// Cancellation is not a state. See `AnyTaskOperation.isCancelled`.
public enum TaskOperationState: Comparable, Sendable {
    /// A dependency is unfinished, or the operation's delay has not passed.
    case waiting
    /// Every dependency is finished. The operation has not been added, or its queue has not started it.
    case ready
    /// The body has started.
    case executing
    /// The operation has its final outcome.
    case finished
}
