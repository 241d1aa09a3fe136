import Synchronization
public import TaskOperations

/// Stops calls of a system that fails, so that callers fail at once and the system can recover.
///
/// ```swift
/// let breaker = CircuitBreaker(name: "search", onChange: { _, former, state in log("search: \(former) → \(state)") })
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
/// A breaker can also have a state for each of several keys, such as hosts:
///
/// ```swift
/// let page = try await breaker.run(key: url.host) { try await fetch(url) }
/// ```
///
/// Calls of a key only affect this key. A key that has had no call for the sum of `window` and `breakDuration` is closed.
/// The breaker then keeps no memory for it.
///
/// Each call takes amortized constant time, and takes a lock twice. Interning a key takes another lock.
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

    /// The key of a call. It keeps the number of the key.
    private struct CallKey: Sendable {
        let use: LimitKey
        /// Returns the key as text. Calls user code.
        let text: @Sendable () -> String
    }

    /// The calls of a key, or the calls without a key.
    private struct Line: Sendable {
        let key: LimitKey?
        var circuit: Circuit
        var runningCount = 0
        /// The time of the last beginning or end of a call.
        var lastUse = Duration.zero

        func isUnused(since time: Duration) -> Bool { runningCount == 0 && lastUse < time }
    }

    private struct Change: Sendable {
        let key: CallKey?
        let former: State
        let state: State
    }

    private struct Guarded: Sendable {
        var line: Line
        /// The lines of keys, by the number of the key.
        var keyed: [Int: Line] = [:]
        /// The number of keys above which unused keys are removed.
        var keyLimit = 64
        /// The changes that are not reported yet.
        var changes = Deque<Change>()
        var isReporting = false

        /// Changes the line of a key; without a key, the line of calls without a key. A key that is unused since a time
        /// gets a new line.
        ///
        /// - Parameter removed: Receives the lines that the caller must release after unlocking.
        mutating func update<Result>(
            _ key: LimitKey?, new: Circuit, unusedSince time: Duration, removed: inout [Line],
            _ change: (inout Line) -> Result
        ) -> Result {
            guard let key else { return change(&line) }
            if keyed[key.number]?.isUnused(since: time) ?? true {
                removed = removeKeys(unusedSince: time)
                let former = keyed.updateValue(Line(key: key, circuit: new), forKey: key.number)
                if let former { removed.append(former) }
            }
            return change(&keyed[key.number]!)
        }

        /// Removes the keys that are unused since a time, if there are many keys. Takes amortized constant time for each key
        /// that is added.
        private mutating func removeKeys(unusedSince time: Duration) -> [Line] {
            if keyed.count <= keyLimit { return [] }
            let removed = keyed.filter { $0.value.isUnused(since: time) }
            for number in removed.keys { keyed[number] = nil }
            keyed.shrink()
            keyLimit = max(64, 2 * keyed.count)
            return Array(removed.values)
        }
    }

    /// The name in errors.
    public let name: String?
    private let guarded: Lock<Guarded>
    /// A circuit without calls.
    private let new: Circuit
    /// The time after which an unused key is closed.
    private let keyLifetime: Duration
    /// This semaphore numbers the keys, so that no function of a key is called under a lock. Its permits are not used.
    private let keys = AsyncSemaphore(capacity: .max)
    private let face: ClockFace
    private let isFailure: @Sendable (any Error) -> Bool?
    private let onChange: (@Sendable (_ key: String?, _ former: State, _ state: State) -> Void)?

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
    ///   - onChange: Receives each change of the state, and the key as text; nil for calls without a key. It is called with
    ///     no lock held, once at a time, in the order of the changes, by one of the tasks that make calls.
    ///   - isFailure: Returns whether an error is a failure of the system. Errors that are not, such as those of a
    ///     client's mistakes, count as successes, because the system has answered. Nil means that the error says nothing
    ///     about the system, for example because the call was not made. Cancellations are ignored before; see
    ///     `run(key:_:)`.
    public init(
        name: String? = nil, failureRatio: Double = 0.1, minCallCount: Int = 100, window: Duration = .seconds(30),
        breakDuration: Duration = .seconds(5), probeCount: Int = 1, clock: any Clock<Duration> = ContinuousClock(),
        onChange: (@Sendable (_ key: String?, _ former: State, _ state: State) -> Void)? = nil,
        isFailure: @escaping @Sendable (any Error) -> Bool? = { _ in true }
    ) {
        require(
            failureRatio > 0 && failureRatio <= 1,
            "failureRatio is \(failureRatio); it must be greater than 0 and at most 1.")
        require(minCallCount >= 1, "minCallCount is \(minCallCount); it must be at least 1.")
        require(window > .zero, "window is \(window); it must be positive.")
        require(breakDuration >= .zero, "breakDuration is \(breakDuration); it must not be negative.")
        require(probeCount >= 1, "probeCount is \(probeCount); it must be at least 1.")
        self.name = name
        new = Circuit(
            failureRatio: failureRatio, minCallCount: minCallCount, window: window.saturated,
            breakDuration: breakDuration.saturated, probeCount: probeCount)
        keyLifetime = window.saturated + breakDuration.saturated
        guarded = Lock(Guarded(line: Line(key: nil, circuit: new)))
        face = ClockFace(clock)
        self.isFailure = isFailure
        self.onChange = onChange
    }

    /// The state of calls without a key. It is half open when `breakDuration` is over, so that a caller that makes no
    /// call in the open state makes the probe.
    public var state: State {
        let now = face.now
        return guarded.withLock { $0.line.circuit.state(at: now) }
    }

    /// The state of calls of a key; for nil, the state of calls without a key. See `state`.
    public func state(for key: (some Hashable & Sendable)?) -> State {
        guard let key = callKey(key) else { return state }
        let now = face.now
        return guarded.withLock { guarded in
            guard let line = guarded.keyed[key.use.number], !line.isUnused(since: now - keyLifetime) else {
                return .closed
            }
            return line.circuit.state(at: now)
        }
    }

    /// The number of keys that use memory.
    package var keyCount: Int { guarded.withLock { $0.keyed.count } }

    /// Makes a call, unless the breaker refuses it.
    ///
    /// In a body, the end of the operation's `timeout(_:)` is a failure of the call. An attempt that `timeout(perAttempt:)`
    /// ends, or a call within `withTimeout`, is cancelled, and is ignored. Call `withTimeout` within `call` instead.
    ///
    /// - Parameters:
    ///   - key: The key whose state counts; nil for no key. Keys of different types are different.
    ///   - call: The call. A probe that never ends keeps the breaker half open, so give calls a timeout.
    /// - Returns: The value that `call` returns.
    /// - Throws: The error that `call` throws; `CircuitOpenError` if the breaker refuses the call.
    public func run<Key: Hashable & Sendable, Value>(
        key: Key? = Int?.none, _ call: () async throws -> Value
    ) async throws -> Value {
        try await run(callKey(key), call)
    }

    private func run<Value>(_ key: CallKey?, _ call: () async throws -> Value) async throws -> Value {
        let permission = try begin(key)
        let wasCancelled = Task.isCancelled
        do {
            let value = try await call()
            end(permission, key, .succeeded)
            return value
        } catch {
            // With no lock held, because the function is user code.
            let isFailure = Self.reason(for: error, wasCancelled).flatMap(isFailure)
            end(permission, key, isFailure.map { $0 ? .failed : .succeeded } ?? .ignored)
            throw error
        }
    }

    /// The error that a call has ended with. Nil if the call was cancelled, unless the timeout of its operation has passed
    /// meanwhile.
    ///
    /// - Parameter wasCancelled: Whether the task was cancelled before the call.
    private static func reason(for error: any Error, _ wasCancelled: Bool) -> (any Error)? {
        if !(error is CancellationError) { return error }
        let cause = AnyTaskOperation.current?.cancellationCause
        if !wasCancelled, case .timedOut? = cause as? TaskOperationError { return cause }
        return nil
    }

    /// Makes the bodies of a queue only if the breaker allows them. An operation whose body is refused fails with
    /// `CircuitOpenError`. Call this before you add operations. Several queues can share the breaker.
    ///
    /// A body with all its attempts is one call. To count attempts, call `run(key:_:)` in the body instead.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - key: The key whose state counts; nil for no key.
    public func guardBodies<Key: Hashable & Sendable>(of queue: TaskOperationQueue, key: Key? = Int?.none) {
        let key = callKey(key)
        queue.addBodyInterceptor { _, body in try await self.run(key, body) }
    }

    private func callKey(_ key: (some Hashable & Sendable)?) -> CallKey? {
        key.map { key in CallKey(use: keys.interned(key), text: { "\(key)" }) }
    }

    // The clock may be user code, so it is read with no lock held.

    private func begin(_ key: CallKey?) throws(CircuitOpenError) -> Circuit.Permission {
        let now = face.now
        let result = change(key, at: now) { line in
            let result = line.circuit.begin(at: now)
            if case .success = result { line.runningCount += 1 }
            return result
        }
        switch result {
        case .success(let permission): return permission
        case .failure(let refusal):
            throw CircuitOpenError(breakerName: name, key: key?.text(), retryAfter: refusal.retryAfter)
        }
    }

    private func end(_ permission: Circuit.Permission, _ key: CallKey?, _ outcome: Circuit.Outcome) {
        let now = face.now
        change(key, at: now) { line in
            line.runningCount -= 1
            line.circuit.end(permission, at: now, outcome)
        }
    }

    /// Changes the circuit of a key, and reports its changes with no lock held. If several threads do so, one of them
    /// reports all changes, so that they are reported in order.
    private func change<Result: Sendable>(
        _ key: CallKey?, at now: Duration, _ event: (inout Line) -> Result
    ) -> Result {
        let (result, isReporter, removed) = guarded.withLock { guarded in
            var removed: [Line] = []
            let (result, former, state) = guarded.update(
                key?.use, new: new, unusedSince: now - keyLifetime, removed: &removed
            ) { line in
                line.lastUse = max(line.lastUse, now)
                let former = line.circuit.state
                return (event(&line), former, line.circuit.state)
            }
            if state == former || onChange == nil { return (result, false, removed) }
            guarded.changes.append(Change(key: key, former: former, state: state))
            defer { guarded.isReporting = true }
            return (result, !guarded.isReporting, removed)
        }
        extendLifetime(removed)
        if isReporter { report() }
        return result
    }

    private func report() {
        while let change = guarded.withLock({ guarded in
            let change = guarded.changes.popFirst()
            if change == nil { guarded.isReporting = false }
            return change
        }) {
            onChange?(change.key?.text(), change.former, change.state)
        }
    }
}

/// The error of a call that a circuit breaker has refused.
public struct CircuitOpenError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name of the breaker.
    public let breakerName: String?
    /// The key of the call as text; nil if it had none.
    public let key: String?
    /// The time until the breaker makes a probe; nil if other calls are probes now.
    public let retryAfter: Duration?

    public var description: String {
        let breaker = breakerName.map { "Circuit breaker \"\($0)\"" } ?? "A circuit breaker"
        let call = key.map { "the call of key \($0)" } ?? "the call"
        let time = retryAfter.map { "allows a probe in \($0)" } ?? "waits for its probes"
        return "\(breaker) refused \(call), because too many calls had failed. It \(time)."
    }
}
