import TaskOperations

/// The rules of a circuit breaker. The caller passes the time, and holds the lock.
struct Circuit: Sendable {
    enum Outcome: Sendable {
        case succeeded
        case failed
        /// The call says nothing about the system.
        case ignored
    }

    /// The permission to make a call. It is outdated after a change of the state.
    struct Permission: Sendable {
        fileprivate let changeCount: Int
    }

    struct Refusal: Error {
        let retryAfter: Duration?
    }

    private enum Phase: Sendable {
        case closed
        case open(until: Duration)
        /// The numbers of probes that are running and that have succeeded.
        case halfOpen(running: Int, succeeded: Int)
    }

    private let failureRatio: Double
    private let minCallCount: Int
    private let window: Duration
    private let breakDuration: Duration
    private let probeCount: Int
    private var phase = Phase.closed
    /// The calls that ended while the circuit was closed. A property, so that a call copies no array.
    private var counts: CallCounts
    private var changeCount = 0

    init(failureRatio: Double, minCallCount: Int, window: Duration, breakDuration: Duration, probeCount: Int) {
        self.failureRatio = failureRatio
        self.minCallCount = minCallCount
        self.window = window
        self.breakDuration = breakDuration
        self.probeCount = probeCount
        counts = CallCounts(window: window)
    }

    /// The state after the last event.
    var state: CircuitBreaker.State {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    /// The state that the next call finds.
    func state(at now: Duration) -> CircuitBreaker.State {
        if case .open(let end) = phase, now >= end { return .halfOpen }
        return state
    }

    mutating func begin(at now: Duration) -> Result<Permission, Refusal> {
        switch phase {
        case .closed: break
        case .open(let end):
            if now < end { return .failure(Refusal(retryAfter: end - now)) }
            enter(.halfOpen(running: 1, succeeded: 0))
        case .halfOpen(let running, let succeeded):
            if running + succeeded >= probeCount { return .failure(Refusal(retryAfter: nil)) }
            phase = .halfOpen(running: running + 1, succeeded: succeeded)
        }
        return .success(Permission(changeCount: changeCount))
    }

    mutating func end(_ permission: Permission, at now: Duration, _ outcome: Outcome) {
        if permission.changeCount != changeCount { return }
        switch (phase, outcome) {
        case (.closed, .ignored): break
        case (.closed, _):
            counts.add(isFailure: outcome == .failed, at: now)
            let (calls, failures) = counts.total
            if outcome == .failed, calls >= minCallCount, Double(failures) >= failureRatio * Double(calls) {
                enter(.open(until: now + breakDuration))
            }
        case (.halfOpen(let running, let succeeded), .ignored):
            phase = .halfOpen(running: running - 1, succeeded: succeeded)
        case (.halfOpen(let running, let succeeded), .succeeded):
            phase = .halfOpen(running: running - 1, succeeded: succeeded + 1)
            if succeeded + 1 < probeCount { return }
            counts = CallCounts(window: window)
            enter(.closed)
        case (.halfOpen, .failed):
            enter(.open(until: now + breakDuration))
        case (.open, _): break
        }
    }

    private mutating func enter(_ new: Phase) {
        phase = new
        changeCount += 1
    }
}

/// The numbers of calls and failures in a window of time. The window consists of parts, which end one after the other.
private struct CallCounts: Sendable {
    private struct Part: Sendable {
        var calls = 0
        var failures = 0
    }

    private static let partCount = 10

    private let partLength: Duration
    private var parts = [Part](repeating: Part(), count: partCount)
    /// The number of the current part since the beginning of time; nil before the first call.
    private var current: Int128?
    private(set) var total = (calls: 0, failures: 0)

    init(window: Duration) {
        partLength = max(window / Self.partCount, Duration(attoseconds: 1))
    }

    mutating func add(isFailure: Bool, at now: Duration) {
        advance(to: now.attoseconds / partLength.attoseconds)
        let index = Self.index(current!)
        parts[index].calls += 1
        total.calls += 1
        if !isFailure { return }
        parts[index].failures += 1
        total.failures += 1
    }

    /// Removes the parts that have left the window. Times of other threads can be a little older, and count in the
    /// current part.
    private mutating func advance(to part: Int128) {
        guard let former = current else { return current = part }
        if part <= former { return }
        current = part
        for passed in 0..<min(part - former, Int128(Self.partCount)) {
            let index = Self.index(part - passed)
            total.calls -= parts[index].calls
            total.failures -= parts[index].failures
            parts[index] = Part()
        }
    }

    private static func index(_ part: Int128) -> Int {
        let remainder = Int(part % Int128(partCount))
        return remainder < 0 ? remainder + partCount : remainder
    }
}
