/// The times of a queue: of the starts that its rate allows, and of the ageing of waiting operations.
struct QueuePace: Sendable {
    private(set) var time = QueueTime()
    private(set) var rate: TokenBucket?
    private(set) var ages: Ages?

    init(rate: OperationRate?, ageing: OperationAgeing?) {
        self.rate = rate.map { TokenBucket($0) }
        ages = ageing.map { Ages($0) }
    }

    mutating func advance(to now: Duration, mayBeOld: Bool) { time.advance(to: now, mayBeOld: mayBeOld) }

    mutating func noteWake() { time.noteWake() }
}

// MARK: - Rate

extension QueuePace {
    /// Changes the rate. Tokens that were used stay used.
    mutating func setRate(_ newRate: OperationRate?) {
        rate = newRate.map { rate?.changed(to: $0, at: time.now) ?? TokenBucket($0) }
    }

    /// How many operations the rate lets start now; not more than a number.
    @inline(__always)
    func startableCount(atMost count: Int) -> Int { rate.map { $0.count(at: time.now, atMost: count) } ?? count }

    /// An operation starts.
    mutating func noteStart() { rate?.take(at: time.now) }

    /// Uses a token for another attempt of an operation that has started. Returns when there is one; nil without a rate.
    mutating func reserveStart() -> Duration? {
        defer { noteStart() }
        return rate?.nextStart
    }

    /// An operation that was to start does not.
    mutating func undoStart() { rate?.giveBack() }

    /// The reading of the clock at the next token, if one of a number of operations could use it and the queue is not woken
    /// by then.
    ///
    /// Nil also while the bucket is full: operations then wait for a worker, or for something other than the rate, and both
    /// settle the queue again.
    mutating func nextWake(for count: Int) -> Duration? {
        guard let rate, !rate.isFull(at: time.now) else { return nil }
        let tokenCount = rate.count(at: time.now, atMost: count)
        return tokenCount == count ? nil : time.wake(at: rate.nextStart(after: tokenCount, at: time.now))
    }
}

// MARK: - Ageing

extension QueuePace {
    /// Whether operations come before more urgent ones in the end.
    var hasAgeing: Bool { ages != nil }

    mutating func arrive(_ slot: Int) { ages?.arrive(slot, at: time.now) }

    mutating func leave(_ slot: Int) { ages?.leave(slot) }

    /// The level by which an operation of a level is ordered.
    func orderLevel(of slot: Int, _ level: PriorityLevel) -> PriorityLevel {
        ages?.level(of: slot, level, at: time.now) ?? level
    }
}

/// The time of a queue that has a rate or ageing: how much has passed since it was made, as it was told.
///
/// A clock that goes back does not take time away, and one that leaps on is followed.
struct QueueTime: Hashable, Sendable {
    /// How much has passed.
    private(set) var now = Duration.zero
    /// The last reading of the clock.
    private(set) var told = Duration.zero
    /// When the queue is woken; nil if it need not be.
    private(set) var wakeTime: Duration?

    /// The clock shows another time.
    ///
    /// - Parameter mayBeOld: Whether another thread may have reported a later reading in the meantime.
    mutating func advance(to time: Duration, mayBeOld: Bool = false) {
        if mayBeOld, time < told { return }
        // The scale of deadlines has changed.
        if time < told { wakeTime = nil }
        now += max(.zero, time - told)
        told = time
    }

    /// Plans to wake the queue at a time. Returns the reading of the clock at that time; nil if the queue is woken before.
    mutating func wake(at time: Duration) -> Duration? {
        if let wakeTime, wakeTime <= time { return nil }
        wakeTime = time
        return told + (time - now)
    }

    /// The queue was woken.
    mutating func noteWake() { wakeTime = nil }
}
