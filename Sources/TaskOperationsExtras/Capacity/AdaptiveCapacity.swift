import Synchronization
public import TaskOperations

/// Adapts the width of a queue, or the capacity of a semaphore, to a system that the bodies call.
///
/// The object measures how long bodies take and whether the other system refuses them. From these numbers, a
/// `CapacityRule` computes the number of bodies that may execute at once.
///
/// ```swift
/// searches.adaptCapacity(within: 2...200) { ($0 as? HTTPError)?.status == 503 }
///
/// let backend = AsyncSemaphore(capacity: 10, name: "backend")
/// let capacity = backend.adaptCapacity(within: 2...100)
/// capacity.measureBodies(of: reads)      // the bodies with the option .limit(backend)
/// capacity.measureBodies(of: writes)
/// let page = try await backend.withPermit { try await capacity.measure { try await load(url) } }
/// ```
///
/// A body that ends with an error is a refusal if the predicate returns true for the error. Other errors, such as
/// cancellations, say nothing about the load and are ignored. See <doc:AdaptingCapacity>.
///
/// Each measurement takes constant time, and takes a lock twice.
public final class AdaptiveCapacity: Sendable {
    private struct State: Sendable {
        var meter: CapacityMeter
        /// The last capacity that a thread has applied or is applying.
        var applied: Int
        var isApplying = false

        /// Returns a capacity for the caller to apply; nil if there is none, or if another thread applies it.
        mutating func nextToApply() -> Int? {
            let capacity = meter.control.capacity
            if isApplying || applied == capacity { return nil }
            (isApplying, applied) = (true, capacity)
            return capacity
        }
    }

    private let state: Lock<State>
    private let face: ClockFace
    private let apply: @Sendable (Int) -> Void
    private let isMeasured: @Sendable (AnyTaskOperation) -> Bool
    private let isRefusal: @Sendable (any Error) -> Bool

    fileprivate init(
        from capacity: Int, within bounds: ClosedRange<Int>, by rule: CapacityRule, clock: any Clock<Duration>,
        isRefusal: @escaping @Sendable (any Error) -> Bool,
        isMeasured: @escaping @Sendable (AnyTaskOperation) -> Bool, apply: @escaping @Sendable (Int) -> Void
    ) {
        require(
            bounds.lowerBound >= 1,
            "The lower bound of the capacity is \(bounds.lowerBound); it must be at least 1. With 0, nothing would run."
        )
        state = Lock(State(meter: CapacityMeter(rule, within: bounds, from: capacity), applied: capacity))
        face = ClockFace(clock)
        self.apply = apply
        self.isMeasured = isMeasured
        self.isRefusal = isRefusal
        change { _ in }
    }

    /// The number of bodies that may execute at once. During a measurement of the latency without load, it is the
    /// lowered number.
    public var capacity: Int { state.withLock { $0.meter.control.capacity } }

    /// The measured latency without load; nil if it is not known.
    public var unloadedLatency: Duration? {
        state.withLock { $0.meter.control.baseline }.map { .seconds(min($0, 1e18)) }
    }

    /// Returns true for the errors of timeouts, which are the refusals of a system that is too slow.
    public static func isTimeout(_ error: any Error) -> Bool {
        if case TaskOperationError.timedOut = error { true } else { false }
    }

    /// Measures a call of the other system. Use it in code that is not the body of a measured queue.
    ///
    /// - Parameter call: The call. It holds its permit already.
    /// - Returns: The value that `call` returns.
    /// - Throws: The error that `call` throws.
    public func measure<Value, Failure>(_ call: () async throws(Failure) -> Value) async throws(Failure) -> Value {
        let start = begin()
        do {
            let value = try await call()
            end(start, .completed)
            return value
        } catch {
            end(start, isRefusal(error) ? .refused : .ignored)
            throw error
        }
    }

    /// Measures the bodies of a queue that have the semaphore as a limit. Call it before you add operations.
    ///
    /// The latency of a body includes all its attempts and the pauses between them. If operations are retried, call
    /// `measure(_:)` in their bodies instead.
    public func measureBodies(of queue: TaskOperationQueue) {
        queue.addBodyInterceptor { operation, body in
            if self.isMeasured(operation) { try await self.measure(body) } else { try await body() }
        }
    }

    // The clock may be user code, so it is read with no lock held.

    private func begin() -> CapacityMeter.Start {
        let now = face.now.inSeconds
        return state.withLock { $0.meter.start(at: now) }
    }

    private func end(_ start: CapacityMeter.Start, _ outcome: CapacityMeter.Outcome) {
        let now = face.now.inSeconds
        change { $0.end(start, at: now, outcome) }
    }

    /// Changes the state, and applies its capacity with no lock held. If several threads do so, one of them applies all
    /// changes, so that the last capacity is effective.
    private func change(_ event: (inout CapacityMeter) -> Void) {
        var next = state.withLock { state in
            event(&state.meter)
            return state.nextToApply()
        }
        while let capacity = next {
            apply(capacity)
            next = state.withLock { state in
                state.isApplying = false
                return state.nextToApply()
            }
        }
    }
}

extension TaskOperationQueue {
    /// Adapts the width of the queue to a system that all its bodies call, and measures each body. Call it before you
    /// add operations.
    ///
    /// The latency of a body includes all its attempts and its waits for other operations. If operations are retried, or
    /// if a body does more than one call, adapt an `AsyncSemaphore` and call `AdaptiveCapacity.measure(_:)` in the body.
    ///
    /// - Parameters:
    ///   - bounds: The lowest and the highest width; at least 1. The present width, moved into the bounds, is the first
    ///     one.
    ///   - rule: The rule that computes the width.
    ///   - clock: The clock that measures latencies and windows.
    ///   - isRefusal: Returns whether an error of a body means that the other system is overloaded. By default, only
    ///     timeouts do.
    /// - Returns: The object that adapts the width. The queue keeps it.
    @discardableResult
    public func adaptCapacity(
        within bounds: ClosedRange<Int>, by rule: CapacityRule = CapacityRule(),
        clock: any Clock<Duration> = ContinuousClock(),
        isRefusal: @escaping @Sendable (any Error) -> Bool = AdaptiveCapacity.isTimeout
    ) -> AdaptiveCapacity {
        let capacity = AdaptiveCapacity(
            from: maxConcurrentOperationCount, within: bounds, by: rule, clock: clock, isRefusal: isRefusal,
            isMeasured: { _ in true }, apply: { [weak self] in self?.maxConcurrentOperationCount = $0 })
        capacity.measureBodies(of: self)
        return capacity
    }
}

extension AsyncSemaphore {
    /// Adapts the capacity of the semaphore to a system that its holders call.
    ///
    /// The result measures nothing by itself. Pass it the queues whose operations have the semaphore as a limit
    /// (`AdaptiveCapacity.measureBodies(of:)`), or the calls (`AdaptiveCapacity.measure(_:)`).
    ///
    /// - Parameters:
    ///   - bounds: The lowest and the highest capacity; at least 1. The present capacity, moved into the bounds, is the
    ///     first one.
    ///   - rule: The rule that computes the capacity.
    ///   - clock: The clock that measures latencies and windows.
    ///   - isRefusal: Returns whether an error means that the other system is overloaded. By default, only timeouts
    ///     do.
    /// - Returns: The object that adapts the capacity.
    public func adaptCapacity(
        within bounds: ClosedRange<Int>, by rule: CapacityRule = CapacityRule(),
        clock: any Clock<Duration> = ContinuousClock(),
        isRefusal: @escaping @Sendable (any Error) -> Bool = AdaptiveCapacity.isTimeout
    ) -> AdaptiveCapacity {
        AdaptiveCapacity(
            from: capacity, within: bounds, by: rule, clock: clock, isRefusal: isRefusal,
            isMeasured: { operation in operation.limits.contains { $0 === self } },
            apply: { self.capacity = $0 })
    }
}
