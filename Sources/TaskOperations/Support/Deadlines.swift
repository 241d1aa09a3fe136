/// The deadlines of the process. Each clock with pending deadlines has one heap, and one task that sleeps until the
/// earliest deadline. If no deadline is pending, no task sleeps.
enum Deadlines {
    private static let table = Lock(DeadlineTable())

    /// Adds a deadline that passes after `delay`.
    static func add<C: Clock>(
        _ target: any DeadlineTarget, after delay: Duration, on clock: C
    ) -> Bool where C.Duration == Duration {
        add(target, delay, after: clock.now, on: clock)
    }

    /// Adds a deadline.
    ///
    /// - Parameters:
    ///   - target: The object to call when the deadline has passed. It must not have another deadline. It is retained
    ///     until the call.
    ///   - delay: The time from `instant` to the deadline. If the clock already shows that time, the deadline passes at
    ///     once.
    ///   - instant: A moment of the clock.
    ///   - clock: The clock that measures it.
    /// - Returns: False if the maximum number of clocks already have deadlines. In this case, no deadline is added.
    static func add<C: Clock>(
        _ target: any DeadlineTarget, _ delay: Duration, after instant: C.Instant, on clock: C
    ) -> Bool where C.Duration == Duration {
        let key = ClockKey(clock)
        while true {
            let face = table.withLock { $0.face(for: key) } ?? ClockFace(clock, from: instant)
            let deadline = face.moment(delay, after: instant)
            switch table.withLock({ $0.add(target, at: deadline, on: face, key) }) {
            case .added(let sleeper):
                if let sleeper { start(sleeper) }
                return true
            case .faceIsStale: continue
            case .tooManyClocks: return false
            }
        }
    }

    /// Creates a task that sleeps for a deadline that cannot be added.
    static func sleep<C: Clock>(
        for target: any DeadlineTarget, _ delay: C.Duration, after start: C.Instant? = nil, on clock: C
    ) -> Task<Void, Never> {
        let start = start ?? clock.now
        return Task.detached(executorPreference: clock.executorOfSleepers, priority: .high) {
            try? await DeadlineSleep.$isCurrent.withValue(true) { try await clock.sleep(for: delay, from: start) }
            if !Task.isCancelled { target.deadlinePassed() }
        }
    }

    /// The number of pending deadlines.
    static var count: Int { table.withLock { $0.count } }

    /// Removes a target's deadline if it has not passed.
    static func remove(_ target: any DeadlineTarget) {
        let (task, face) = table.withLock { $0.remove(target) }
        task?.cancel()
        // The clock is user code, and this may be the last reference to it.
        extendLifetime(face)
    }

    private static func start(_ sleeper: DeadlineTable.NewSleeper) {
        sleeper.replaced?.cancel()
        let task = Task.detached(executorPreference: sleeper.face.sleepExecutor, priority: .high) {
            await sleep(sleeper)
        }
        if !table.withLock({ $0.setTask(task, of: sleeper) }) { task.cancel() }
    }

    /// Reports deadlines as they pass, until none is left or another sleeper replaces this one.
    private static func sleep(_ sleeper: DeadlineTable.NewSleeper) async {
        let face = sleeper.face
        var now = face.now
        while true {
            switch table.withLock({ $0.next(for: sleeper, at: now) }) {
            case .tell(let targets):
                for target in targets { target.deadlinePassed() }
                // A target may have added a deadline on the same clock, and the clock may show an earlier time than a
                // deadline that counted as passed.
                now = face.now
            case .sleep(let moment):
                await DeadlineSleep.$isCurrent.withValue(true) { await face.sleep(until: moment) }
                now = max(face.now, moment)
            case .end:
                return
            }
        }
    }
}

/// The identity of the clock. Two values of the same type with the same bytes are the same clock, because no code could
/// distinguish them.
struct ClockKey: Hashable, Sendable {
    private let type: ObjectIdentifier
    private let bytes: [UInt8]

    init(_ clock: some Clock) {
        type = ObjectIdentifier(Swift.type(of: clock))
        bytes = withUnsafeBytes(of: clock) { Array($0) }
    }
}

/// A type-erased clock. Its moments are durations since a fixed moment of the clock.
package final class ClockFace: Sendable {
    /// Returns the moment of an instant of the clock; nil stands for the present.
    private let moment: @Sendable (_ instant: (any InstantProtocol)?) -> Duration
    private let sleepUntil: @Sendable (Duration) async throws -> Void
    /// The executor of the task that sleeps; nil for the cooperative pool.
    let sleepExecutor: (any TaskExecutor)?

    init<C: Clock>(_ clock: C, from start: C.Instant) where C.Duration == Duration {
        moment = { instant in start.duration(to: instant as! C.Instant? ?? clock.now).saturated }
        sleepUntil = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
        sleepExecutor = clock.executorOfSleepers
    }

    /// The longest single sleep. If the runtime cannot count a sleep in nanoseconds, it stops the process.
    private static var longestSleep: Duration { .seconds(86_400) }

    package convenience init<C: Clock>(_ clock: C) where C.Duration == Duration {
        self.init(clock, from: clock.now)
    }

    package var now: Duration { moment(nil) }

    /// The moment that is `delay` after the present.
    func moment(after delay: Duration) -> Duration { now + delay.saturated }

    /// The moment that is `delay` after an instant of the clock.
    func moment(_ delay: Duration, after instant: some InstantProtocol) -> Duration {
        moment(instant) + delay.saturated
    }

    /// Sleeps until a moment, or until the task is cancelled.
    ///
    /// If the clock returns early or fails, the sleep is tried once more. If that also returns early, the time counts
    /// as passed, because a waiting task might otherwise never continue.
    package func sleep(until moment: Duration) async {
        var wasEarly = false
        repeat {
            let end = min(moment, now + Self.longestSleep)
            try? await sleepUntil(end)
            if now < end {
                if wasEarly { return }
                wasEarly = true
            }
        } while now < moment && !Task.isCancelled
    }
}

extension Clock {
    /// Sleeps until `delay` after `start`. The first half is a separate sleep, because the clock might not be able to
    /// express the end of a delay that means "forever".
    func sleep(for delay: Duration, from start: Instant) async throws {
        try await sleep(until: start.advanced(by: delay / 2), tolerance: nil)
        try await sleep(until: start.advanced(by: delay), tolerance: nil)
    }
}

extension Duration {
    /// The nearest duration within the range that the library supports, which ends at 2⁴⁰ seconds (about 35,000 years).
    /// Sums of such durations, and products with small numbers, do not overflow.
    package var saturated: Duration {
        let longest = Duration.seconds(1 << 40)
        return min(max(self, .zero - longest), longest)
    }
}
