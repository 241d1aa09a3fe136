/// The treatment of an operation that is added to a full queue; see `TaskOperationQueue.maxQueuedOperationCount`.
public enum QueueOverflow: Hashable, Sendable {
    /// The new operation fails at once with `TaskOperationError.queueFull`.
    case reject
    /// The new operation is accepted. The queued operation that was added first, of any priority, fails with
    /// `TaskOperationError.dropped` instead. Free permits protect the first operations: one for each. (RxJava's
    /// `DROP_OLDEST`.)
    case dropOldest
    /// The new operation is accepted. The queued operation that was added last before it, of any priority, fails
    /// with `TaskOperationError.dropped` instead. (RxJava's `DROP_LATEST`.)
    case dropNewest
}

extension QueueOverflow {
    /// True if a queued operation is dropped for a new one.
    var drops: Bool { self != .reject }
}
