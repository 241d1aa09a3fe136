import Synchronization
public import TaskOperations

/// Stops calls of a system that fails, so that callers fail at once and the system can recover.
///
/// ```swift
/// let breaker = CircuitBreaker(name: "search", onChange: { former, state in log("search: \(former) → \(state)") })
/// breaker.guardBodies(of: reads)
/// breaker.guardBodies(of: writes)
/// let page = try await breaker.run { try await fetch(url) }   // a call outside these queues
/// ```
///
/// The breaker is closed at first. It opens if the calls of the last `window` contain too many failures. While it is
/// open, calls fail with `CircuitOpenError` without being made. After `breakDuration`, the next calls are probes: at
/// most `probeCount` of them are made. If all succeed, the breaker closes. If one fails, it opens again.
///
/// This is the circuit breaker of M. Nygard, "Release It!", with the rules and the default values of Polly 8. The window
/// consists of ten parts, which end one after the other. A result of a call that began before the last change of the
/// state is ignored. See <doc:FailingSystems>.
///
/// Each call takes constant time, and takes a lock twice.
public final class CircuitBreaker: Sendable {
    /// The state of a breaker.
    public enum State: Hashable, Sendable {
        /// All calls are made.
        case closed
        /// No calls are made.
        case open
        /// A few calls are made, to learn whether the system has recovered.
        case halfOpen
    }

    /// A function that receives each change of the state. It is called with no lock held, once at a time, in the order
    /// of the changes, by one of the tasks that make calls.
    public typealias ChangeHandler = @Sendable (_ former: State, _ state: State) -> Void

    private struct Guarded: Sendable {
        var circuit: Circuit
        /// The changes that are not reported yet.
        var changes = Deque<(former: State, state: State)>()
        var isReporting = false
    }

    /// The name in errors.
    public let name: String?
    private let guarded: Lock<Guarded>
    private let face: ClockFace
    private let isFailure: @Sendable (any Error) -> Bool
    private let onChange: ChangeHandler?

    /// Creates a closed breaker.
    ///
    /// - Parameters:
    ///   - name: The name in errors.
    ///   - failureRatio: The ratio of failures at which the breaker opens, greater than 0 and at most 1.
    ///   - minCallCount: The number of calls in the window below which the breaker does not open; at least 1.
    ///   - window: The time over which calls are counted; positive.
    ///   - breakDuration: The time for which the breaker stays open before it makes probes; not negative.
    ///   - probeCount: The number of probes that must succeed; at least 1.
    ///   - clock: The clock that measures times.
    ///   - isFailure: Returns whether an error is a failure of the system. Errors that are not, such as those of a
    ///     client's mistakes, count as successes, because the system has answered. Cancellations are ignored before.
    ///   - onChange: Receives each change of the state.
    public init(
        name: String? = nil, failureRatio: Double = 0.1, minCallCount: Int = 100, window: Duration = .seconds(30),
        breakDuration: Duration = .seconds(5), probeCount: Int = 1, clock: any Clock<Duration> = ContinuousClock(),
        isFailure: @escaping @Sendable (any Error) -> Bool = { _ in true }, onChange: ChangeHandler? = nil
    ) {
        require(
            failureRatio > 0 && failureRatio <= 1,
            "failureRatio is \(failureRatio); it must be greater than 0 and at most 1.")
        require(minCallCount >= 1, "minCallCount is \(minCallCount); it must be at least 1.")
        require(window > .zero, "window is \(window); it must be positive.")
        require(breakDuration >= .zero, "breakDuration is \(breakDuration); it must not be negative.")
        require(probeCount >= 1, "probeCount is \(probeCount); it must be at least 1.")
        self.name = name
        guarded = Lock(
            Guarded(
                circuit: Circuit(
                    failureRatio: failureRatio, minCallCount: minCallCount, window: window.saturated,
                    breakDuration: breakDuration.saturated, probeCount: probeCount)))
        face = ClockFace(clock)
        self.isFailure = isFailure
        self.onChange = onChange
    }

    /// The state. An open breaker becomes half open when a call arrives after `breakDuration`.
    public var state: State { guarded.withLock { $0.circuit.state } }

    /// Makes a call, unless the breaker refuses it.
    ///
    /// - Parameter call: The call. A probe that never ends keeps the breaker half open, so give calls a timeout.
    /// - Returns: The value that `call` returns.
    /// - Throws: The error that `call` throws; `CircuitOpenError` if the breaker refuses the call.
    public func run<Value>(_ call: () async throws -> Value) async throws -> Value {
        let permission = try begin()
        do {
            let value = try await call()
            end(permission, .succeeded)
            return value
        } catch {
            // With no lock held, because the function is user code.
            let outcome: Circuit.Outcome =
                if error is CancellationError { .ignored } else { isFailure(error) ? .failed : .succeeded }
            end(permission, outcome)
            throw error
        }
    }

    /// Makes the bodies of a queue only if the breaker allows them. An operation whose body is refused fails with
    /// `CircuitOpenError`. Call this before you add operations. Several queues can share the breaker.
    ///
    /// A body with all its attempts is one call. To count attempts, call `run(_:)` in the body instead.
    public func guardBodies(of queue: TaskOperationQueue) {
        queue.addBodyInterceptor { _, body in try await self.run(body) }
    }

    // The clock may be user code, so it is read with no lock held.

    private func begin() throws(CircuitOpenError) -> Circuit.Permission {
        let now = face.now
        switch change({ $0.begin(at: now) }) {
        case .success(let permission): return permission
        case .failure(let refusal): throw CircuitOpenError(breakerName: name, retryAfter: refusal.retryAfter)
        }
    }

    private func end(_ permission: Circuit.Permission, _ outcome: Circuit.Outcome) {
        let now = face.now
        change { $0.end(permission, at: now, outcome) }
    }

    /// Changes the circuit, and reports its changes with no lock held. If several threads do so, one of them reports all
    /// changes, so that they are reported in order.
    private func change<Result: Sendable>(_ event: (inout Circuit) -> Result) -> Result {
        let (result, isReporter) = guarded.withLock { guarded in
            let former = guarded.circuit.state
            let result = event(&guarded.circuit)
            let state = guarded.circuit.state
            if state == former || onChange == nil { return (result, false) }
            guarded.changes.append((former, state))
            defer { guarded.isReporting = true }
            return (result, !guarded.isReporting)
        }
        if isReporter { report() }
        return result
    }

    private func report() {
        while let change = guarded.withLock({ guarded in
            let change = guarded.changes.popFirst()
            if change == nil { guarded.isReporting = false }
            return change
        }) {
            onChange?(change.former, change.state)
        }
    }
}

/// The error of a call that a circuit breaker has refused.
public struct CircuitOpenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the breaker.
    public let breakerName: String?
    /// The time until the breaker makes a probe; nil if other calls are probes now.
    public let retryAfter: Duration?

    public var description: String {
        let breaker = breakerName.map { "Circuit breaker \"\($0)\"" } ?? "A circuit breaker"
        let time = retryAfter.map { "allows a probe in \($0)" } ?? "waits for its probes"
        return "\(breaker) refused the call, because too many calls had failed. It \(time)."
    }
}
