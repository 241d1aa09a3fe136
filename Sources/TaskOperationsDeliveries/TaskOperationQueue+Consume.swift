public import TaskOperations

extension TaskOperationQueue {
    /// Executes deliveries of an engine as operations of this queue. Stops pulling deliveries only when the sequence
    /// ends, the task is cancelled, or the queue is shut down.
    ///
    /// ```swift
    /// let queue = TaskOperationQueue(name: "thumbnails", maxConcurrentOperationCount: 4)
    /// await queue.consume(engine.deliveries()) { photo in
    ///     try await store(thumbnail(of: photo), as: photo.id)
    /// }
    /// ```
    ///
    /// **Each payload is delivered at least once.** A payload is delivered again if a worker crashes or loses its
    /// lease, or if the engine does not receive the acknowledgement. Write bodies that can run twice.
    ///
    /// - A delivery is pulled when the queue could start it. See `ConsumerConfiguration.prefetch`. While the consumer
    ///   waits for such a moment, the queue can contain an empty operation named "pull". It is an operation like any
    ///   other: it is part of `operationCount`, and `waitUntilAllOperationsAreFinished` waits for it.
    /// - A delivery is acknowledged after success. After a failure, it is rejected with the delay of
    ///   `DeliveryOptions.redelivery`. The end of a timeout is a failure. After another cancellation of its
    ///   operation, a delivery is returned to the engine at once.
    /// - The lease is extended according to `DeliveryOptions.lease`. If the lease is lost, the body is cancelled.
    /// - If a call of the engine fails, the failure is reported, and the call is repeated. Acknowledgements and
    ///   rejections are repeated until the lease ends.
    /// - When the task is cancelled, no more deliveries are pulled. Bodies have `ConsumerConfiguration.drainTime` to
    ///   finish. Then they are cancelled. Deliveries that have not succeeded are returned to the engine.
    ///
    /// The method returns when every pulled delivery is settled and every body has ended.
    ///
    /// In a body, the call is a wait for its deliveries. If they need the permit of the body, the body lends the permit
    /// until the call returns. If the queue never lends, or if deliveries need a limit that the body holds, the
    /// consumer pulls nothing, and reports `DeliveryEvent.pullPostponed` with an error that names the cycle. The
    /// deliveries do not inherit the priority that the body has at the beginning.
    ///
    /// - Parameters:
    ///   - deliveries: The source of the deliveries. If the iterator throws, another iterator is created after a pause.
    ///   - configuration: The configuration of the consumer.
    ///   - optionsFor: A function that returns the options of a payload, for sources with several kinds of payloads. If
    ///     nil, the options of the configuration apply to all payloads.
    ///   - onPoison: A function that is called with a delivery that has failed permanently, and its last error. The
    ///     error is `DeliveryAttemptsExhausted` if the number of the delivery exceeds `maxAttempts`. If the function
    ///     returns, the delivery is acknowledged. If the function throws, the delivery is rejected. If `onPoison` is
    ///     nil, deliveries are retried forever.
    ///   - observer: A function that is called with each event, in the task that caused the event.
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
        await consumer.run(deliveries)
    }
}
