/// The order in which operations of one priority start. A higher priority always starts first.
public enum OperationOrder: Hashable, Sendable {
    /// The operation that was added first starts first.
    case firstInFirstOut
    /// The operation that was added last starts first. A barrier keeps its place: it starts after all operations that
    /// were added before it, and before all operations that are added after it.
    case lastInFirstOut
}
