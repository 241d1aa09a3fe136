public import TaskOperations

/// The configuration of a consumer of deliveries.
public struct ConsumerConfiguration: Sendable {
    /// The options of all deliveries if `optionsFor` of `consume` is nil. In any case, the queue must be able to start
    /// an operation with the priority, weight and limits of these options before each pull.
    public var options: DeliveryOptions

    /// The number of deliveries that may wait in this process to start.
    ///
    /// With 0, a delivery is pulled only when the queue could start it. Then a permit, the limits of `options` and a
    /// token of the rate are free, no more urgent operation waits, and no delivery waits for the limits of its kind.
    /// With a higher number, that many deliveries are pulled in advance. In both cases, the process holds at most
    /// `maxConcurrentOperationCount + prefetch` deliveries.
    public var prefetch = 0

    /// The time after the cancellation of the consuming task during which bodies can finish. Then the bodies are
    /// cancelled.
    public var drainTime: Duration = .seconds(30)

    /// The pauses after failed calls of the engine. If the policy returns nil, pulling ends.
    public var backoff: RetryPolicy = .exponential(
        initial: .milliseconds(100), maximum: .seconds(30), jitter: 0.5, attempts: .max)

    /// The clock of leases, pauses and the drain time.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// Creates a configuration.
    public init(options: DeliveryOptions = DeliveryOptions(), prefetch: Int = 0) {
        self.options = options
        self.prefetch = prefetch
    }
}
