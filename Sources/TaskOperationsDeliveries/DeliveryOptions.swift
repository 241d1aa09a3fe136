public import TaskOperations

/// The options of the deliveries of one kind.
///
/// `operation` contains the options for the queue. A retry policy in it repeats the body in this process, within the
/// same delivery. `redelivery` applies after the last of these attempts.
public struct DeliveryOptions: Sendable {
    /// The options of each delivery's operation: its name, priority, weight, limits and so on.
    public var operation: OperationOptions

    /// Deliveries with the same key execute one at a time in this process, in the order in which they arrived; nil for no
    /// such order.
    public var key: String?

    /// The lease of a delivery.
    public var lease: DeliveryLease

    /// The delay before the engine delivers again after the body has failed. If the policy returns nil for an error and an
    /// attempt, the delivery is poison.
    public var redelivery: RetryPolicy

    /// The number of attempts after which a delivery is poison; at least 1. The engine counts each delivery as an
    /// attempt, including deliveries that ended with a crash.
    public var maxAttempts: Int

    /// Creates options.
    public init(
        operation: OperationOptions = OperationOptions(), key: String? = nil, lease: DeliveryLease = DeliveryLease(),
        redelivery: RetryPolicy = .exponential(
            initial: .seconds(1), maximum: .seconds(300), jitter: 0.5, attempts: .max),
        maxAttempts: Int = 5
    ) {
        self.operation = operation
        self.key = key
        self.lease = lease
        self.redelivery = redelivery
        self.maxAttempts = maxAttempts
    }
}
