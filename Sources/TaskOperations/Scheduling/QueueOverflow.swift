/// The rule for adding an operation to a full queue; see `TaskOperationQueue.maxQueuedOperationCount`.
public enum QueueOverflow: Hashable, Sendable {
    /// The new operation fails at once with `TaskOperationError.queueFull`.
    case reject
    /// The queue accepts the new operation. The oldest queued operation fails with `TaskOperationError.dropped`, even
    /// if it has a higher priority. For each free permit, one of the oldest operations is not dropped. RxJava calls
    /// this rule `DROP_OLDEST`.
    case dropOldest
    /// The queue accepts the new operation. The newest operation that was queued before it fails with
    /// `TaskOperationError.dropped`, even if it has a higher priority. RxJava calls this rule `DROP_LATEST`.
    case dropNewest
}

extension QueueOverflow {
    /// Whether a full queue drops a queued operation for a new one.
    var drops: Bool { self != .reject }
}
