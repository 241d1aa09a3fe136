/// The state of a queue's rate, which depends on time.
struct QueuePace: Sendable {
    var time = QueueTime()
    private(set) var rate: TokenBucket?
    /// The tokens at the last change of the rate, which a new rate lacks.
    private var formerRate: TokenBucket?

    init(rate: OperationRate?) { self.rate = rate.map { TokenBucket($0) } }

    /// Changes the rate. Used tokens remain used.
    mutating func setRate(_ newRate: OperationRate?) {
        if let rate { formerRate = rate }
        rate = newRate.map { formerRate?.changed(to: $0, at: time.now) ?? TokenBucket($0) }
    }

    /// The number of operations that the rate lets start now, but at most `count`.
    @inline(__always)
    func startableCount(atMost count: Int) -> Int { rate.map { $0.count(at: time.now, atMost: count) } ?? count }

    mutating func noteStart() { rate?.take(at: time.now) }

    /// Uses a token for another attempt of an operation that has started. Returns the clock's reading at the time at
    /// which the token is available; nil without a rate.
    mutating func reserveStart() -> Duration? {
        defer { rate?.take(at: time.now) }
        return (rate?.nextStart).map { time.reading(at: $0) }
    }

    /// Puts back the token of an operation that has started.
    mutating func giveBackStart() { rate?.giveBack() }

    /// Plans to wake the queue when the next token is available, and returns the wake. Returns nil if all `count`
    /// operations have tokens, or if another wake is sufficient.
    ///
    /// Also returns nil if the bucket is full, because no operation then waits for the rate. A later event computes the
    /// effects again.
    ///
    /// - Parameter level: The level of the next operation.
    mutating func nextWake(for count: Int, at level: PriorityLevel) -> QueueTime.Wake? {
        guard let rate, !rate.isFull(at: time.now) else { return nil }
        let tokenCount = rate.count(at: time.now, atMost: count)
        return tokenCount == count ? nil : time.wake(at: rate.nextStart(after: tokenCount, at: time.now), level)
    }
}

/// The time of the user of a clock, such as a queue or a semaphore, and the wakes that it has planned.
struct QueueTime: Hashable, Sendable {
    private var time = SteadyTime()
    /// The planned wakes, in the order of planning. No wake makes a later one unnecessary.
    private(set) var wakes: [Wake] = []

    struct Wake: Hashable, Sendable {
        /// The reading of the clock at which it wakes the user.
        let reading: Duration
        /// The level of the task that wakes the user.
        let level: PriorityLevel
    }

    var now: Duration { time.now }

    /// The last reading of the clock.
    var told: Duration { time.told }

    /// Reports a reading of the clock. See `SteadyTime.advance(to:mayBeOld:)`.
    mutating func advance(to reading: Duration, mayBeOld: Bool = false) {
        time.advance(to: reading, mayBeOld: mayBeOld)
    }

    /// The clock's reading at a time, unless the clock is set to another time.
    func reading(at time: Duration) -> Duration { self.time.reading(at: time) }

    /// Plans to wake the user at a time. Returns the wake; nil if a wake of this or a higher level is planned for that
    /// time or before.
    mutating func wake(at time: Duration, _ level: PriorityLevel) -> Wake? {
        // The longest duration is the last reading. A deadline would then pass at once, and the user would request the
        // next one, forever.
        if told >= .longest { return nil }
        let reading = reading(at: time)
        // The last wake is usually sufficient.
        if wakes.reversed().contains(where: { $0.reading <= reading && $0.level >= level }) { return nil }
        wakes.append(Wake(reading: reading, level: level))
        return wakes.last
    }

    /// Records that the clock has woken the user. The clock may have returned before the reading.
    mutating func noteWake(_ wake: Wake) {
        if let index = wakes.lastIndex(of: wake) { wakes.remove(at: index) }
    }
}
