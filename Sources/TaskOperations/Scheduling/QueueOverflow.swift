/// The rule for adding an operation to a full queue; see `TaskOperationQueue.maxQueuedOperationCount`.
public enum QueueOverflow: Hashable, Sendable {
    /// The new operation fails at once with `TaskOperationError.queueFull`.
    case reject
    /// The new operation is accepted. The queued operation that was added first, of any priority, fails with
    /// `TaskOperationError.dropped` instead. Each free permit protects one operation from the front of the queue.
    /// (RxJava's `DROP_OLDEST`.)
    case dropOldest
    /// The new operation is accepted. The queued operation that was added last before it, of any priority, fails
    /// with `TaskOperationError.dropped` instead. (RxJava's `DROP_LATEST`.)
    case dropNewest
}

extension QueueOverflow {
    /// True if a queued operation is dropped for a new one.
    var drops: Bool { self != .reject }
}
