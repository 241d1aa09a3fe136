public import TaskOperations

/// The configuration of a consumer of deliveries.
public struct ConsumerConfiguration: Sendable {
    /// The options of all deliveries for which `optionsFor` of `consume` returns none. Before each pull, the queue must
    /// be able to start an operation with their priority, weight and limits.
    public var options: DeliveryOptions

    /// The number of deliveries that may wait in this process to start.
    ///
    /// With 0, a delivery is pulled only when the queue could start it: a permit, the limits of `options` and a token
    /// of the rate are free, no more urgent operation waits, and no delivery waits for the limits of its kind. With a
    /// higher number, that many deliveries are pulled in advance. In both cases, at most `maxConcurrentOperationCount +
    /// prefetch` deliveries are held.
    public var prefetch = 0

    /// The time that bodies have to finish after the consuming task was cancelled. Then they are cancelled, too.
    public var drainTime: Duration = .seconds(30)

    /// The pauses after calls of the engine that failed. Pulling ends if it returns nil.
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
