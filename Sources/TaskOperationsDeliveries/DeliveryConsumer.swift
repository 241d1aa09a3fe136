@_spi(Lock) import TaskOperations

/// Pulls deliveries when the queue could start them, and adds an operation for each.
final class DeliveryConsumer<Source: Delivery>: Sendable {
    let queue: TaskOperationQueue
    let configuration: ConsumerConfiguration
    let optionsFor: (@Sendable (Source.Payload) -> DeliveryOptions)?
    let onPoison: (@Sendable (Source, any Error) async throws -> Void)?
    let observer: @Sendable (DeliveryEvent<Source.ID>) -> Void
    let body: @Sendable (Source.Payload) async throws -> Void
    let clock: RelativeClock

    private let state = Lock(ConsumerState<AnyTaskOperation>())
    /// Wakes the loop that pulls. Ends its wait for good when the task is cancelled.
    private let pullSignal = ProgressListener()
    private let drainSignal = ProgressListener()

    init(
        queue: TaskOperationQueue, configuration: ConsumerConfiguration,
        optionsFor: (@Sendable (Source.Payload) -> DeliveryOptions)?,
        onPoison: (@Sendable (Source, any Error) async throws -> Void)?,
        observer: @escaping @Sendable (DeliveryEvent<Source.ID>) -> Void,
        body: @escaping @Sendable (Source.Payload) async throws -> Void
    ) {
        require(configuration.prefetch >= 0, "prefetch is \(configuration.prefetch); it must not be negative.")
        self.queue = queue
        self.configuration = configuration
        self.optionsFor = optionsFor
        self.onPoison = onPoison
        self.observer = observer
        self.body = body
        clock = RelativeClock(configuration.clock)
    }
}

// MARK: - Pulling

extension DeliveryConsumer {
    /// Pulls until the sequence ends, the task is cancelled, or the queue refuses operations.
    func pull<Deliveries: AsyncSequence>(from deliveries: Deliveries) async where Deliveries.Element == Source {
        var iterator = deliveries.makeAsyncIterator()
        var failureCount = 0
        while await waitForTurn() {
            do {
                guard let delivery = try await iterator.next(isolation: #isolation) else { return }
                failureCount = 0
                take(delivery)
            } catch {
                if Task.isCancelled { return }
                failureCount += 1
                let pause = configuration.backoff.delay(after: error, attempt: failureCount)
                observer(.engineFailed(.pull, nil, error: error, retryAfter: pause))
                guard let pause else { return }
                await clock.sleep(for: pause)
                iterator = deliveries.makeAsyncIterator()
            }
        }
    }

    /// Waits until another delivery may be pulled. Returns false if none may be any more.
    private func waitForTurn() async -> Bool {
        while !Task.isCancelled {
            let width = queue.maxConcurrentOperationCount
            let (mayPull, isShutDown) = state.withLock {
                ($0.mayPull(width: width, prefetch: configuration.prefetch), $0.isShutDown)
            }
            if isShutDown { return false }
            if mayPull { return configuration.prefetch > 0 ? true : await queue.waitForStart(configuration.options) }
            if await !pullSignal.nextChange() { return false }
        }
        return false
    }

    private func take(_ delivery: Source) {
        let held = HeldDelivery(delivery, of: self)
        let operation = held.makeOperation()
        let key = held.options.key
        let (number, predecessor) = state.withLock { state in
            let predecessor = state.predecessor(ofKey: key)
            return (state.pulled(operation, key: key), predecessor)
        }
        queue.add(operation, after: predecessor, isCancelled: held.isExhausted || Task.isCancelled)
        // At the operation's priority, because waiting at a higher one would raise it.
        Task.detached(executorPreference: clock.executor, priority: operation.priority) {
            await held.settle(operation, number: number)
        }
    }
}

// MARK: - Draining

extension DeliveryConsumer {
    /// Waits until all deliveries are settled. From the moment when the task is cancelled, bodies have a limited time.
    func drain() async {
        while !isIdle, await pullSignal.nextChange() {}
        if isIdle { return }
        await withTimeLimit(configuration.drainTime, clock: configuration.clock) {
            await waitUntilIdle()
        } onTimeout: {
            for operation in self.state.withLock({ Array($0.held.values) }) { operation.cancel() }
        }
    }

    private var isIdle: Bool { state.withLock { $0.held.isEmpty } }

    /// Waits in a task that is not cancelled.
    private func waitUntilIdle() async {
        await Task.detached(executorPreference: clock.executor) { [self] in
            while !isIdle { _ = await drainSignal.nextChange() }
        }.value
    }
}

// MARK: - Events of held deliveries

extension DeliveryConsumer {
    func stoppedWaiting() {
        state.withLock { $0.stoppedWaiting() }
        pullSignal.wake()
    }

    func settled(_ number: Int, key: String?) {
        let operation = state.withLock { $0.settled(number, key: key) }
        extendLifetime(operation)
        pullSignal.wake()
        drainSignal.wake()
    }

    func queueRefused() { state.withLock { $0.isShutDown = true } }
}
