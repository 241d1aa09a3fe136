import Synchronization
import TaskOperations
import TaskOperationsExtras

/// Pulls deliveries when the queue could start them, and adds an operation for each delivery.
final class DeliveryConsumer<Source: Delivery>: Sendable {
    let queue: TaskOperationQueue
    let configuration: ConsumerConfiguration
    let optionsFor: (@Sendable (Source.Payload) -> DeliveryOptions)?
    let onPoison: (@Sendable (Source, any Error) async throws -> Void)?
    let observer: @Sendable (DeliveryEvent<Source.ID>) -> Void
    let body: @Sendable (Source.Payload) async throws -> Void
    let clock: RelativeClock

    private struct Entry: Sendable {
        let delivery: HeldDelivery<Source>
        let operation: TaskOperation<Void>
        /// Represents the end of this operation and of all earlier ones with the same key; nil without a key.
        let keyEnd: TaskOperation<Void>?
    }

    /// Represents the consumption in the wait graph if a body performs it; otherwise nil. Its dependencies are the
    /// operations of the held deliveries.
    private let consumption: TaskOperation<Void>? =
        AnyTaskOperation.current == nil ? nil : .placeholder(name: "consume")

    private let state = Lock(ConsumerState<Entry>())
    /// The planned checks of leases. Each check plans the next check.
    private let looks = Lock<[HandlerTimer]>([])
    /// Wakes the loop that pulls.
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
    /// Pulls until the sequence ends, the task is cancelled, or the queue is shut down. Then waits until all deliveries
    /// are settled.
    func run<Deliveries: AsyncSequence>(_ deliveries: Deliveries) async where Deliveries.Element == Source {
        func pullAndDrain() async {
            await pull(from: deliveries)
            await drain()
        }
        guard let consumption else { return await pullAndDrain() }
        do {
            try await consumption.whileAwaited(separatesPriorities: true) { await pullAndDrain() }
        } catch {
            preconditionFailure("a new operation without dependencies waits for a body: \(error)")
        }
    }

    private func pull<Deliveries: AsyncSequence>(from deliveries: Deliveries) async
    where Deliveries.Element == Source {
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
                let pause = pause(after: error, attempt: failureCount)
                observer(.engineFailed(.pull, nil, error: error, retryAfter: pause))
                await clock.sleep(for: pause)
                iterator = deliveries.makeAsyncIterator()
            }
        }
    }

    /// The pause before the next pull. A policy that allows no other attempt does not end the consumption.
    private func pause(after error: any Error, attempt: Int) -> Duration {
        configuration.backoff.delay(after: error, attempt: attempt) ?? configuration.options.lease.duration
    }

    /// Waits until another delivery may be pulled. Returns false if the consumer must stop pulling.
    private func waitForTurn() async -> Bool {
        let prefetch = configuration.prefetch
        var (hasWaited, failureCount) = (false, 0)
        while !Task.isCancelled, !queue.isShutDown {
            let width = queue.maxConcurrentOperationCount
            let couldStartAnother = prefetch == 0 && queue.couldStartAnother(configuration.options.operation)
            let turn = state.withLock {
                $0.turn(
                    width: width, prefetch: prefetch, isInBody: consumption != nil,
                    couldStartAnother: couldStartAnother, hasWaited: hasWaited)
            }
            switch turn {
            case .pull: return true
            case .waitForStart:
                do {
                    try await queue.waitForStart(configuration.options, within: consumption)
                    hasWaited = true
                } catch {
                    failureCount += 1
                    await postpone(after: error, failureCount)
                }
            case .wait: if await !pullSignal.nextChange() { return false }
            }
        }
        return false
    }

    /// Reports that the queue has ended the wait for a start, and pauses. The first pause has no length, because the
    /// queue usually ends such a wait together with other operations.
    private func postpone(after error: any Error, _ failureCount: Int) async {
        if Task.isCancelled || queue.isShutDown { return }
        let pause = failureCount == 1 ? .zero : pause(after: error, attempt: failureCount - 1)
        observer(.pullPostponed(error: error, retryAfter: pause))
        await clock.sleep(for: pause)
    }

    private func take(_ delivery: Source) {
        let held = HeldDelivery(delivery, of: self)
        let operation = held.makeOperation()
        let keyEnd = held.options.key.map { TaskOperation.placeholder(name: "key \($0)") }
        let (number, predecessor, look) = state.withLock {
            $0.pulled(
                Entry(delivery: held, operation: operation, keyEnd: keyEnd), key: held.options.key,
                firstLook: held.firstLook)
        }
        if let look { plan(look) }
        // A delivery that waits in a suspended queue could no longer be replaced in its engine, nor go to another worker.
        let arrivesLate = configuration.prefetch == 0 && queue.isSuspended
        if held.isExhausted || Task.isCancelled || arrivesLate {
            operation.cancel()
            return held.ended(.failure(CancellationError()), isCancelled: true, number: number)
        }
        operation.addCompletionHandler { [unowned operation] result in
            var isCancelled = false
            if case .failure(let error) = result { isCancelled = operation.wasCancelled(withFailure: error) }
            held.ended(result, isCancelled: isCancelled, number: number)
        }
        do {
            if let keyEnd { try keyEnd.addDependency(operation) }
            if let end = predecessor?.keyEnd { try operation.addDependency(end) }
            try consumption?.addDependency(operation)
            try queue.addOperation(operation)
        } catch {
            held.ended(.failure(error), isCancelled: false, number: number)
            operation.cancel()
        }
    }
}

// MARK: - Checking leases

extension DeliveryConsumer {
    private func plan(_ look: Duration) {
        let limit = HandlerTimer { [weak self] in self?.lookAtLeases() }
        looks.withLock { $0.append(limit) }
        limit.start(look - clock.now, clock: clock.clock)
    }

    private func lookAtLeases() {
        endLooks()
        let now = clock.now
        let (due, next) = state.withLock { $0.look(at: now) }
        for entry in due { entry.delivery.startRenewal(of: entry.operation) }
        if let next { plan(next) }
    }

    private func endLooks() {
        let limits = looks.withLock { limits in
            defer { limits = [] }
            return limits
        }
        for limit in limits { limit.end() }
    }
}

// MARK: - Draining

extension DeliveryConsumer {
    /// Waits until all deliveries are settled. If the task is cancelled, bodies have a limited time to finish.
    private func drain() async {
        defer { endLooks() }
        while !isIdle, await pullSignal.nextChange() {}
        if isIdle { return }
        await withTimeoutHandler(configuration.drainTime, clock: configuration.clock) {
            await waitUntilIdle()
        } onTimeout: {
            for entry in self.state.withLock({ $0.entries }) { entry.operation.cancel() }
        }
    }

    private var isIdle: Bool { state.withLock { $0.isIdle } }

    /// Waits until all deliveries are settled, even if the task is cancelled.
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

    /// - Parameter number: The number of a delivery, with a key or without one.
    func operationEnded(_ number: Int) {
        let passed = state.withLock { $0.operationEnded(number) }
        for entry in passed { entry.keyEnd?.finishExternally() }
    }

    func settled(_ number: Int) {
        let entry = state.withLock { $0.settled(number) }
        if let entry { try? consumption?.removeDependency(entry.operation) }
        pullSignal.wake()
        drainSignal.wake()
    }
}
