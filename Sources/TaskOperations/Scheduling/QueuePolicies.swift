/// The policies of a queue beside its width.
struct QueuePolicies: Sendable {
    var order = OperationOrder.firstInFirstOut
    /// The number of operations that may be queued; `Int.max` without a limit.
    var queuedLimit = Int.max
    var overflow = QueueOverflow.reject
    var rate: OperationRate?
    var ageing: OperationAgeing?

    /// Whether the queue has to know the time.
    var needTime: Bool { rate != nil || ageing != nil }
}
