import Synchronization
import TaskOperations
import TaskOperationsExtras

/// The error of a payload that was delivered more often than `DeliveryOptions.maxAttempts` allows. The payload is not
/// executed again.
public struct DeliveryAttemptsExhausted: Error, Hashable {
    /// The number of the delivery that exceeded the maximum.
    public let attempt: Int
}

/// A delivery from its arrival until it is settled. It extends the lease and sends the answer to the engine.
final class HeldDelivery<Source: Delivery>: Sendable {
    private struct State: Sendable {
        var lease: LeaseState
        var renewal: Task<Void, Never>?
        var hasStarted = false
        var hasSucceeded = false
        var isAcknowledged = false
        /// Whether the operation has ended. If true, the lease is no longer extended.
        var hasEnded = false
        var isLost = false
    }

    let delivery: Source
    let options: DeliveryOptions
    let consumer: DeliveryConsumer<Source>
    private let state: Lock<State>

    init(_ delivery: Source, of consumer: DeliveryConsumer<Source>) {
        self.delivery = delivery
        self.consumer = consumer
        options = consumer.optionsFor?(delivery.payload) ?? consumer.configuration.options
        state = Lock(State(lease: LeaseState(options.lease, at: consumer.clock.now, progress: .none)))
    }

    private var clock: RelativeClock { consumer.clock }

    /// Whether the delivery must be settled as poison without another execution.
    var isExhausted: Bool { consumer.onPoison != nil && delivery.attempt > options.maxAttempts }

    /// Executes the payload and acknowledges it. This is the body of the operation.
    ///
    /// The body itself makes the first attempt to acknowledge, so that most deliveries need no other task. If this
    /// attempt fails, `settle` repeats it.
    func execute() async throws {
        let now = clock.now
        let before = state.withLock { state in
            defer { state.hasStarted = true }
            state.lease.begin(at: now)
            return state
        }
        if !before.hasStarted { consumer.stoppedWaiting() }
        if before.isAcknowledged { return }
        // If the time of an attempt ends during the acknowledgement, the next attempt only acknowledges.
        if !before.hasSucceeded {
            do {
                try await consumer.body(delivery.payload)
            } catch is CancellationError where state.withLock({ $0.isLost }) {
                throw DeliveryLeaseLost()
            }
            state.withLock { $0.hasSucceeded = true }
        }
        do { try await delivery.acknowledge() } catch { return }
        state.withLock { $0.isAcknowledged = true }
    }

    /// The time of the first check of the lease.
    var firstLook: Duration { state.withLock { $0.lease.nextLook } }

    /// Records the end of the operation, and settles the delivery. Later calls have no effect.
    ///
    /// - Parameter isCancelled: Whether the operation was cancelled, and not by a timeout.
    func ended(_ result: Result<Void, any Error>, isCancelled: Bool, number: Int) {
        let (ended, renewal) = state.withLock { state in
            defer { state.hasEnded = true }
            let renewal = state.renewal.take()
            return (state, renewal)
        }
        if ended.hasEnded { return }
        renewal?.cancel()
        if !ended.hasStarted { consumer.stoppedWaiting() }
        consumer.operationEnded(number)
        if ended.isAcknowledged {
            report(.acknowledged(delivery.id))
            return consumer.settled(number)
        }
        // A detached task, because it is never cancelled.
        Task.detached(executorPreference: clock.executor) { [self] in
            await settle(result, ended, isCancelled: isCancelled)
            consumer.settled(number)
        }
    }

    /// Sends the answer to the engine.
    private func settle(_ result: Result<Void, any Error>, _ state: State, isCancelled: Bool) async {
        switch result {
        case _ where state.hasSucceeded: await acknowledge { .acknowledged($0) }
        case .success: preconditionFailure("the operation has succeeded, and its body has not")
        case .failure where state.isLost: break
        case .failure where isExhausted: await poison(DeliveryAttemptsExhausted(attempt: delivery.attempt))
        case .failure where isCancelled: await giveBack()
        // A body can report the shutdown of another queue. That is a failure.
        case .failure(TaskOperationError.queueShutDown) where !state.hasStarted: await giveBack()
        case .failure(let error): await fail(error)
        }
    }
}

// MARK: - The lease

extension HeldDelivery {
    /// Starts the task that extends the lease. Most deliveries are settled before they need this task.
    func startRenewal(of operation: TaskOperation<Void>) {
        let task = Task.detached(executorPreference: clock.executor, priority: .high) { await self.renew(operation) }
        let isTooLate = state.withLock { state in
            if !state.hasEnded { state.renewal = task }
            return state.hasEnded
        }
        if isTooLate { task.cancel() }
    }

    private func renew(_ operation: TaskOperation<Void>) async {
        while !Task.isCancelled {
            let (now, progress) = (clock.now, operation.currentProgress)
            switch state.withLock({ $0.lease.step(at: now, progress: progress) }) {
            case .sleep(let moment): await clock.sleep(for: moment - now)
            case .extend(let end): await extend(of: operation, at: now, until: end)
            case .lose: return lose(operation)
            }
        }
    }

    private func extend(of operation: TaskOperation<Void>, at now: Duration, until end: Duration) async {
        do {
            try await withTimeoutHandler(end - now, clock: clock.clock) {
                try await delivery.extendLease(by: options.lease.duration.saturated)
            } onTimeout: {
                self.lose(operation)
            }
            state.withLock { $0.lease.wasExtended(at: now) }
        } catch is DeliveryLeaseLost {
            lose(operation)
        } catch {
            if Task.isCancelled { return }
            let next = state.withLock { $0.lease.nextLook }
            report(.engineFailed(.extendLease, delivery.id, error: error, retryAfter: next - now))
        }
    }

    private func lose(_ operation: TaskOperation<Void>) {
        let (isNew, renewal) = state.withLock { state in
            if state.isLost || state.hasEnded { return (false, nil as Task<Void, Never>?) }
            state.isLost = true
            return (true, state.renewal)
        }
        renewal?.cancel()
        if !isNew { return }
        report(.leaseLost(delivery.id))
        operation.cancel(throwing: DeliveryLeaseLost())
    }
}

// MARK: - The answer

extension HeldDelivery {
    private func report(_ event: DeliveryEvent<Source.ID>) { consumer.observer(event) }

    private func acknowledge(_ event: (Source.ID) -> DeliveryEvent<Source.ID>) async {
        if await call(.acknowledge, { try await self.delivery.acknowledge() }) { report(event(delivery.id)) }
    }

    private func giveBack() async {
        if await call(.reject, { try await self.delivery.reject(retryAfter: .zero) }) {
            report(.givenBack(delivery.id))
        }
    }

    private func fail(_ error: any Error) async {
        let delay = options.redelivery.delay(after: error, attempt: delivery.attempt)
        if consumer.onPoison != nil, delay == nil || delivery.attempt >= options.maxAttempts {
            return await poison(error)
        }
        await reject(error, after: delay ?? options.lease.duration)
    }

    private func reject(_ error: any Error, after delay: Duration) async {
        let delay = max(.zero, delay.saturated)
        if await call(.reject, { try await self.delivery.reject(retryAfter: delay, because: error) }) {
            report(.rejected(delivery.id, error: error, retryAfter: delay))
        }
    }

    private func poison(_ error: any Error) async {
        do {
            try await consumer.onPoison!(delivery, error)
        } catch let failure {
            return await reject(failure, after: options.lease.duration)
        }
        await acknowledge { .poisoned($0, error: error) }
    }

    /// Calls the engine, and repeats a failed call until the lease ends. Returns whether a call has succeeded.
    private func call(_ call: EngineCall, _ answer: () async throws -> Void) async -> Bool {
        var attempt = 0
        while true {
            do {
                try await answer()
                return true
            } catch is DeliveryLeaseLost {
                if !state.withLock({ $0.isLost }) { report(.leaseLost(delivery.id)) }
                return false
            } catch {
                attempt += 1
                var pause = consumer.configuration.backoff.delay(after: error, attempt: attempt)
                if let length = pause?.saturated, clock.now + length >= state.withLock({ $0.lease.end }) { pause = nil }
                report(.engineFailed(call, delivery.id, error: error, retryAfter: pause))
                guard let pause else { return false }
                await clock.sleep(for: pause)
            }
        }
    }
}
