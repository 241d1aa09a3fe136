/// What a queue was asked for beside its width.
struct QueuePolicies: Sendable {
    var order = OperationOrder.firstInFirstOut
    /// How many operations may be pending; `Int.max` if nothing limits that.
    var pendingLimit = Int.max
    var overflow = QueueOverflow.reject
    var rate: OperationRate?
    var ageing: OperationAgeing?

    /// Whether the queue has to know the time.
    var needTime: Bool { rate != nil || ageing != nil }
}
