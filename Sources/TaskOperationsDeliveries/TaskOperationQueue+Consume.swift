public import TaskOperations

extension TaskOperationQueue {
    /// Executes deliveries of an engine as operations of this queue, until the sequence ends, the task is cancelled, or the
    /// queue is shut down.
    ///
    /// ```swift
    /// let queue = TaskOperationQueue(name: "thumbnails", maxConcurrentOperationCount: 4)
    /// await queue.consume(engine.deliveries()) { photo in
    ///     try await store(thumbnail(of: photo), as: photo.id)
    /// }
    /// ```
    ///
    /// **Deliveries are at least once.** If a worker crashes, loses a lease, or cannot reach the engine after its body has
    /// succeeded, the payload is delivered again. Write bodies that can run twice.
    ///
    /// - A delivery is pulled when the queue could start it; see `ConsumerConfiguration.prefetch`.
    /// - After success it is acknowledged. After a failure it is rejected, with the delay of `DeliveryOptions.redelivery`.
    /// - Its lease is extended as `DeliveryOptions.lease` says. A lease that is lost cancels the body.
    /// - A call of the engine that fails is reported and repeated, for the answer to a delivery until the lease ends.
    /// - When the task is cancelled, no more deliveries are pulled. Bodies have `ConsumerConfiguration.drainTime` to
    ///   finish; then they are cancelled. Deliveries that have not succeeded are returned to the engine.
    ///
    /// The call returns when every delivery that it has pulled is settled, and every body has ended.
    ///
    /// - Parameters:
    ///   - deliveries: The source. If its iterator throws, another one is made after a pause.
    ///   - configuration: How this process consumes them.
    ///   - optionsFor: The options of a payload, for sources of several kinds; nil if all have those of the configuration.
    ///   - onPoison: Called with a delivery that has failed for good, and its last error. When this returns, the delivery is
    ///     acknowledged; when it throws, the delivery is rejected. Nil if deliveries are tried for ever.
    ///   - observer: Called with each event, in the task that it happened in.
    ///   - body: The work.
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
