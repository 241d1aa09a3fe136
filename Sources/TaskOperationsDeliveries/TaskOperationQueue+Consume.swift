public import TaskOperations

extension TaskOperationQueue {
    /// Executes deliveries of an engine as operations of this queue, until the sequence ends, the task is cancelled, or
    /// the queue is shut down.
    ///
    /// ```swift
    /// let queue = TaskOperationQueue(name: "thumbnails", maxConcurrentOperationCount: 4)
    /// await queue.consume(engine.deliveries()) { photo in
    ///     try await store(thumbnail(of: photo), as: photo.id)
    /// }
    /// ```
    ///
    /// **Deliveries are at least once.** If a worker crashes, loses a lease, or cannot reach the engine after its body
    /// has succeeded, the payload is delivered again. Write bodies that can run twice.
    ///
    /// - A delivery is pulled when the queue could start it; see `ConsumerConfiguration.prefetch`.
    /// - A delivery is acknowledged after success. It is rejected after a failure, with the delay of
    ///   `DeliveryOptions.redelivery`.
    /// - The lease is extended according to `DeliveryOptions.lease`. If the lease is lost, the body is cancelled.
    /// - If a call of the engine fails, the failure is reported, and the call is repeated. The answer to a delivery
    ///   is repeated until the lease ends.
    /// - When the task is cancelled, no more deliveries are pulled. Bodies have `ConsumerConfiguration.drainTime` to
    ///   finish; then they are cancelled. Deliveries that have not succeeded are returned to the engine.
    ///
    /// Returns when every pulled delivery is settled and every body has ended.
    ///
    /// - Parameters:
    ///   - deliveries: The source. If its iterator throws, another iterator is created after a pause.
    ///   - configuration: The configuration of the consumer.
    ///   - optionsFor: Returns the options of a payload, for sources with several kinds of payloads. If `optionsFor`
    ///     is nil, the options of the configuration apply to all payloads.
    ///   - onPoison: Called with a delivery that has failed permanently, and its last error. If the function returns,
    ///     the delivery is acknowledged; if it throws, the delivery is rejected. If `onPoison` is nil, deliveries are
    ///     retried forever.
    ///   - observer: Called with each event, in the task that caused the event.
    ///   - body: The work for a payload.
    public func consume<Deliveries: AsyncSequence>(
        _ deliveries: Deliveries,
        configuration: ConsumerConfiguration = ConsumerConfiguration(),
        optionsFor: (@Sendable (Deliveries.Element.Payload) -> DeliveryOptions)? = nil,
        onPoison: (@Sendable (Deliveries.Element, any Error) async throws -> Void)? = nil,
        observer: @escaping @Sendable (DeliveryEvent<Deliveries.Element.ID>) -> Void = { _ in },
        body: @escaping @Sendable (Deliveries.Element.Payload) async throws -> Void
    ) async where Deliveries.Element: Delivery {
        let consumer = DeliveryConsumer<Deliveries.Element>(
            queue: self, configuration: configuration, optionsFor: optionsFor, onPoison: onPoison, observer: observer,
            body: body)
        await consumer.pull(from: deliveries)
        await consumer.drain()
    }
}
