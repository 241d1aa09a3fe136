internal import Synchronization
internal import TaskOperations
import TaskOperationsExtras

/// An engine within the process, for tests and first experiments. It supports payloads, leases, redeliveries and
/// delays. It stores payloads only in memory.
///
/// ```swift
/// let engine = InMemoryEngine<Photo>(lease: .seconds(30))
/// engine.send(photo)
/// engine.finish()
/// await queue.consume(engine.deliveries()) { photo in … }   // returns when all are acknowledged
/// ```
///
/// With a `ManualClock` and the trait `.schedules`, runs are repeatable. An interceptor can delay calls or make them fail.
public final class InMemoryEngine<Payload: Sendable>: Sendable {
    private let state: Lock<EnginePulls<Payload>>
    private let clock: RelativeClock
    private let interceptor: (@Sendable (_ worker: String, _ call: EngineCall, _ isDone: Bool) async throws -> Void)?

    /// Creates an empty engine.
    ///
    /// - Parameters:
    ///   - lease: The time for which a worker holds a delivery. It must be positive.
    ///   - clock: The clock that measures leases and delays.
    ///   - interceptor: A function that is called before and after each call of the engine, for delays and failures in
    ///     tests. An error that it throws before the call prevents the call. An error that it throws after the call
    ///     simulates a lost answer.
    public init(
        lease: Duration, clock: any Clock<Duration> = ContinuousClock(),
        interceptor: (@Sendable (_ worker: String, _ call: EngineCall, _ isDone: Bool) async throws -> Void)? = nil
    ) {
        require(lease > .zero, "lease is \(lease); it must be positive.")
        state = Lock(EnginePulls(InMemoryEngineState(lease: lease)))
        self.clock = RelativeClock(clock)
        self.interceptor = interceptor
    }

    /// The number of payloads that are not acknowledged.
    public var count: Int { state.withLock { $0.core.count } }

    /// The attempt that currently holds the lease of a payload; nil if no attempt holds it.
    package func holdingAttempt(of id: Int) -> Int? {
        let now = clock.now
        return change { $0.holdingAttempt(of: id, at: now) }
    }

    /// Adds a payload.
    ///
    /// - Returns: The number of the payload. If the engine has a payload with the identity of `options`, and `replaces`
    ///   is false, the number of that payload.
    @discardableResult
    public func send(_ payload: Payload, options: EnqueueOptions = EnqueueOptions()) -> Int {
        let now = clock.now
        return change { $0.send(payload, options, at: now) }
    }

    /// Closes the engine. The sequences of deliveries end when all payloads are acknowledged.
    public func finish() { change { $0.isFinished = true } }

    /// Returns the deliveries to one worker.
    ///
    /// - Parameter worker: The name of the worker. The interceptor receives this name.
    public func deliveries(to worker: String = "worker") -> InMemoryDeliveries<Payload> {
        InMemoryDeliveries(engine: self, worker: worker)
    }
}

extension InMemoryEngine {
    typealias Core = InMemoryEngineState<Payload>

    fileprivate func call<Result: Sendable>(
        _ call: EngineCall, of worker: String,
        _ event: @Sendable (inout Core, _ now: Duration) throws(DeliveryLeaseLost) -> Result
    ) async throws -> Result {
        try await interceptor?(worker, call, false)
        let now = clock.now
        let result = try change { core throws(DeliveryLeaseLost) in try event(&core, now) }
        try await interceptor?(worker, call, true)
        return result
    }

    /// Applies an event, and wakes the workers that it concerns.
    private func change<Result: Sendable, Failure>(
        _ event: (inout Core) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var released: [Payload] = []
        defer { extendLifetime(released) }
        let (result, woken) = try state.withLock { state throws(Failure) -> (Result, [ProgressListener]) in
            defer { swap(&released, &state.core.released) }
            let nextEnd = state.core.nextEnd
            let result = try event(&state.core)
            return (result, state.takeWoken(since: nextEnd))
        }
        for listener in woken { listener.wake() }
        return result
    }

    fileprivate func pull(for worker: String) async throws -> InMemoryDelivery<Payload>? {
        try await interceptor?(worker, .pull, false)
        let listener = ProgressListener()
        defer { state.withLock { $0.remove(listener) } }
        var due: Duration?
        while await clock.wait(for: listener, until: due) {
            let now = clock.now
            let (pull, released) = state.withLock { state in
                let pull = state.pull(for: listener, at: now)
                return (pull, exchange(&state.core.released, with: []))
            }
            extendLifetime(released)
            switch pull {
            case .delivery(let id, let payload, let attempt, let receipt):
                try await interceptor?(worker, .pull, true)
                return InMemoryDelivery(
                    id: id, payload: payload, attempt: attempt, receipt: receipt, engine: self, worker: worker)
            case .wait(let moment): due = moment
            case .end: return nil
            }
        }
        return nil
    }
}

/// The deliveries of an `InMemoryEngine` to one worker.
public struct InMemoryDeliveries<Payload: Sendable>: AsyncSequence, Sendable {
    fileprivate let engine: InMemoryEngine<Payload>
    fileprivate let worker: String

    /// An iterator over the deliveries.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let deliveries: InMemoryDeliveries

        /// Waits for the next delivery. Returns nil if the task is cancelled. Also returns nil if the engine is closed
        /// and all payloads are acknowledged.
        ///
        /// - Throws: The error that the interceptor throws.
        public mutating func next() async throws -> InMemoryDelivery<Payload>? {
            try await deliveries.engine.pull(for: deliveries.worker)
        }
    }

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(deliveries: self) }
}

/// A delivery of an `InMemoryEngine`.
public struct InMemoryDelivery<Payload: Sendable>: Delivery {
    public let id: Int
    public let payload: Payload
    public let attempt: Int
    fileprivate let receipt: Int
    fileprivate let engine: InMemoryEngine<Payload>
    fileprivate let worker: String

    public func acknowledge() async throws {
        _ = try await engine.call(.acknowledge, of: worker) { core, now throws(DeliveryLeaseLost) in
            try core.acknowledge(id, receipt, at: now)
        }
    }

    public func reject(retryAfter delay: Duration) async throws {
        try await engine.call(.reject, of: worker) { core, now throws(DeliveryLeaseLost) in
            try core.reject(id, receipt, after: delay, at: now)
        }
    }

    public func extendLease(by duration: Duration) async throws {
        try await engine.call(.extendLease, of: worker) { core, now throws(DeliveryLeaseLost) in
            try core.extend(id, receipt, by: duration, at: now)
        }
    }
}
