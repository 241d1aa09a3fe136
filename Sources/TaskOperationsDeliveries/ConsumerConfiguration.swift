public import TaskOperations

/// The configuration of a consumer of deliveries.
public struct ConsumerConfiguration: Sendable {
    /// The options of all deliveries, unless `optionsFor` of `consume` provides other options. If `prefetch` is 0, the
    /// consumer pulls only when the queue could start an operation with the priority, weight and limits of `options`.
    public var options: DeliveryOptions

    /// The maximum number of deliveries that wait in this process for their start.
    ///
    /// If it is 0, a delivery is pulled only when the queue could start it. The queue could start a delivery if all of
    /// these conditions are true:
    ///
    /// - A permit, the limits of `options` and a token of the rate are free.
    /// - No more urgent operation waits.
    /// - No other delivery waits for limits of its own options.
    ///
    /// The limits and the weight include those of the queue's default options.
    ///
    /// If it is higher, up to this number of deliveries are pulled in advance. In a body, even then the first pull
    /// waits until the queue could start a delivery. In both cases, the process holds at most
    /// `maxConcurrentOperationCount + prefetch` deliveries.
    public var prefetch = 0

    /// The time that bodies have to finish after the consuming task is cancelled. Then the bodies are cancelled.
    public var drainTime: Duration = .seconds(30)

    /// The pauses after failed calls of the engine. If the policy returns nil after a failed pull, the next pull
    /// follows after the duration of a lease of `options`. The policy also applies if the queue repeatedly ends the
    /// operation "pull"; see `DeliveryEvent.pullPostponed`.
    public var backoff: RetryPolicy = .exponential(
        initial: .milliseconds(100), maximum: .seconds(30), jitter: 0.5, attempts: .max)

    /// The clock that measures leases, pauses and the drain time.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - options: The options of deliveries.
    ///   - prefetch: The maximum number of deliveries that wait for their start; not negative.
    public init(options: DeliveryOptions = DeliveryOptions(), prefetch: Int = 0) {
        self.options = options
        self.prefetch = prefetch
    }
}
