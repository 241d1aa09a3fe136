public import TaskOperations

/// The options of a delivery.
///
/// `operation` contains the options for the queue. The retry policy in `operation` repeats the body in this process,
/// during the same delivery. `redelivery` applies after the last of these attempts.
public struct DeliveryOptions: Sendable {
    /// The name of the operation that executes a delivery, in messages and descriptions.
    public var name: String?

    /// The operations that must finish before the delivery starts, with any outcome.
    public var dependencies: [AnyTaskOperation]

    /// The options of the operation that executes a delivery, such as the priority, weight and limits.
    ///
    /// A timeout cancels the body. After the body has ended, the delivery is acknowledged if the body has succeeded.
    /// Otherwise it has failed. `overrun(.abandon)` has the effect of `overrun(.wait)`, because the end of the body
    /// decides the answer to the engine.
    ///
    /// If the operation fails before its start, the delivery has failed, too. `redelivery` and `maxAttempts` apply to
    /// this failure as they apply to a failure of the body. Examples are a dependency that has failed, a cycle of
    /// dependencies, a timeout that has passed, and a full queue.
    public var operation: OperationOptions

    /// The key of a delivery. Deliveries with the same key execute one at a time in this process, in the order of
    /// arrival. A delivery starts after the operations of all earlier ones have ended. Deliveries without a key have no
    /// order.
    public var key: String?

    /// The lease of a delivery.
    public var lease: DeliveryLease

    /// The delay of the next delivery after a failure. If the policy returns nil, the delivery is poison.
    public var redelivery: RetryPolicy

    /// The number of attempts after which a delivery is poison, at least 1. The engine counts each delivery as an
    /// attempt, even if the worker crashed.
    public var maxAttempts: Int

    /// Creates options.
    ///
    /// - Parameters:
    ///   - name: The name of the operation that executes a delivery.
    ///   - dependencies: The operations that must finish before the delivery starts, with any outcome.
    ///   - operation: The options of the operation that executes a delivery.
    ///   - key: The key of a delivery; nil if the delivery has no order.
    ///   - lease: The lease of a delivery.
    ///   - redelivery: The delay of the next delivery after a failure.
    ///   - maxAttempts: The number of attempts after which a delivery is poison, at least 1.
    public init(
        name: String? = nil, dependencies: [AnyTaskOperation] = [],
        operation: OperationOptions = OperationOptions(), key: String? = nil, lease: DeliveryLease = DeliveryLease(),
        redelivery: RetryPolicy = .exponential(
            initial: .seconds(1), maximum: .seconds(300), jitter: 0.5, attempts: .max),
        maxAttempts: Int = 5
    ) {
        self.name = name
        self.dependencies = dependencies
        self.operation = operation
        self.key = key
        self.lease = lease
        self.redelivery = redelivery
        self.maxAttempts = maxAttempts
    }
}
