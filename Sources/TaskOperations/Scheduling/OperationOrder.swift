/// The order in which operations of the same priority start. Operations of a higher priority start first.
public enum OperationOrder: Hashable, Sendable {
    /// The operation that was added first starts first.
    case firstInFirstOut
    /// The operation that was added last starts first. A barrier still starts after all operations that were added
    /// before it, and before all operations that are added after it.
    case lastInFirstOut
}
