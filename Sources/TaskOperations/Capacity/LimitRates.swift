/// The rates and pauses of a limit: the tokens in total, and the tokens of each key. It is a pure value.
///
/// A key uses memory only until all its used tokens are replaced and its pause is over.
struct LimitRates: Sendable {
    typealias Key = Int

    /// A time at which something changes for a key.
    private struct Alarm: Sendable, HeapElement {
        let time: Duration
        let key: Key
        /// Whether the first entry of the key then has its tokens. Otherwise, the used tokens of the key may then
        /// be replaced, or its pause may be over.
        let isForEntry: Bool

        func isBefore(_ other: Alarm) -> Bool { time < other.time }
    }

    /// The tokens that a start has used.
    private struct Spending: Hashable, Sendable {
        let key: Key?
        let cost: Int
    }

    private(set) var time = QueueTime()
    /// Whether the clock may show a later time than `time`, because it was not read in this event.
    private var isTimeOld = false
    /// The tokens that were taken at an old time. They count as taken at the next reading of the clock. Otherwise, the
    /// tokens that have been added since the last reading would be given twice.
    private var takenAtOldTime: [Spending] = []
    private(set) var rate: OperationRate?
    private var total: TokenBucket?
    /// The tokens at the last change of the rate in total, which a new rate lacks.
    private var formerTotal: Boxed<TokenBucket>?
    private(set) var ratePerKey: OperationRate?
    /// The time of the last starts that used tokens, and how many of them have not put theirs back.
    private var lastTakes = (time: Duration.zero, count: 0)
    /// The end of the pause in total; nil if it has passed.
    private var pauseEnd: Duration?
    /// The buckets that are not full. They remain without a rate for each key. A key in `buckets` or `pauseEnds` has one
    /// alarm that is not for an entry.
    private var buckets: [Key: TokenBucket] = [:]
    /// The ends of the pauses of keys that have not passed.
    private var pauseEnds: [Key: Duration] = [:]
    private var alarms = Heap<Alarm>()
    /// The keys whose buckets have become full, and whose pauses are over.
    private(set) var fullKeys: [Key] = []

    /// Whether there is a rate or a pause. Stored, because the call of a getter would copy the whole value.
    private(set) var isLimiting = false

    /// Whether tokens of a key are used, or the key is paused.
    func isInUse(_ key: Key) -> Bool { buckets[key] != nil || pauseEnds[key] != nil }

    mutating func takeFullKeys() -> [Key] {
        defer { fullKeys = [] }
        return fullKeys
    }
}

// MARK: - Rates

extension LimitRates {
    /// Changes the rate in total. Used tokens remain used.
    mutating func setTotal(_ rate: OperationRate?) {
        noteChange()
        if let total { formerTotal = Boxed(total) }
        self.rate = rate
        total = rate.map { formerTotal?.value.changed(to: $0, at: time.now) ?? TokenBucket($0) }
        updateIsLimiting()
    }

    /// Changes the rate for each key. Used tokens remain used. Takes linear time in the number of keys.
    mutating func setPerKey(_ rate: OperationRate?) {
        noteChange()
        ratePerKey = rate
        if let rate { for key in buckets.keys { buckets[key] = buckets[key]!.changed(to: rate, at: time.now) } }
        alarms = Heap(Set(buckets.keys).union(pauseEnds.keys).map { alarm(ofUse: $0)! })
        updateIsLimiting()
    }

    private mutating func updateIsLimiting() {
        isLimiting = total != nil || ratePerKey != nil || pauseEnd != nil || !pauseEnds.isEmpty
    }

    /// The alarm at which a key that is in use may no longer be in use; nil if it is not in use.
    private func alarm(ofUse key: Key) -> Alarm? {
        let times = [buckets[key]?.fullTime, pauseEnds[key]].compactMap(\.self)
        return times.min().map { Alarm(time: $0, key: key, isForEntry: false) }
    }

    /// A token that was taken before a change is not put back after it: the last start may have used none.
    private mutating func noteChange() { lastTakes.count = 0 }
}

// MARK: - Tokens

extension LimitRates {
    /// The earliest time at which the rate and the pause in total allow a start of a cost.
    private func nextStart(cost: Int) -> Duration { max(total?.nextStart(cost: cost) ?? .zero, pauseEnd ?? .zero) }

    private func nextStart(for key: Key, cost: Int) -> Duration {
        let ofBucket = ratePerKey == nil ? nil : buckets[key]?.nextStart(cost: cost)
        return max(ofBucket ?? .zero, pauseEnds[key] ?? .zero)
    }

    // The next functions are mutating, because other calls would copy the whole value.

    /// Whether the rate in total has the tokens of a cost, and there is no pause in total.
    mutating func hasTokensInTotal(for cost: Int) -> Bool { nextStart(cost: cost) <= time.now }

    mutating func hasTokens(of key: Key, for cost: Int) -> Bool { nextStart(for: key, cost: cost) <= time.now }

    /// Whether a start of a cost is allowed in total and for a key.
    mutating func hasTokens(for key: Key?, cost: Int) -> Bool {
        if !hasTokensInTotal(for: cost) { return false }
        guard let key else { return true }
        return hasTokens(of: key, for: cost)
    }

    /// Whether a pause in total or of a key is not over.
    func isPaused(_ key: Key?) -> Bool { max(pauseEnd ?? .zero, key.flatMap { pauseEnds[$0] } ?? .zero) > time.now }

    /// Uses the tokens of a cost in total and for a key.
    mutating func take(_ cost: Int, for key: Key?) {
        if !isLimiting { return }
        let spending = Spending(key: key, cost: cost)
        if isTimeOld { takenAtOldTime.append(spending) }
        takeAtPresentTime(spending)
    }

    private mutating func takeAtPresentTime(_ spending: Spending) {
        lastTakes = (time.now, lastTakes.time == time.now ? lastTakes.count + 1 : 1)
        total?.take(spending.cost, at: time.now)
        changeBucket(of: spending.key) { $0.take(spending.cost, at: $1) }
    }

    private mutating func changeBucket(of key: Key?, _ change: (inout TokenBucket, _ now: Duration) -> Void) {
        guard let key, let ratePerKey else { return }
        let wasInUse = isInUse(key)
        change(&buckets[key, default: TokenBucket(ratePerKey)], time.now)
        if !wasInUse { alarms.insert(alarm(ofUse: key)!) }
    }

    /// Puts the unused tokens of a start back if it was probably one of the last ones. Otherwise the tokens are lost, so
    /// that the rate is never exceeded. Claims of different costs that are served at once are given back at once if their
    /// queue is full.
    mutating func giveBack(_ cost: Int, for key: Key?) {
        if lastTakes.count == 0 { return }
        lastTakes.count -= 1
        let taken = lastTakes.time
        let spending = Spending(key: key, cost: cost)
        if let index = takenAtOldTime.lastIndex(of: spending) { takenAtOldTime.remove(at: index) }
        total?.giveBack(cost, takenAt: taken, now: time.now)
        if let key, ratePerKey != nil { buckets[key]?.giveBack(cost, takenAt: taken, now: time.now) }
    }

    /// Uses more tokens for a start in total and for a key, or fewer, from now on.
    mutating func correct(by difference: Int, for key: Key?) {
        total?.correct(by: difference, at: time.now)
        changeBucket(of: key) { $0.correct(by: difference, at: $1) }
    }

    /// Plans an alarm for the time at which a key has the tokens of a cost, unless one is planned for that time or
    /// before. Returns the time of the alarm.
    ///
    /// - Parameter planned: The time of the planned alarm; nil if there is none.
    mutating func watch(_ key: Key, cost: Int, planned: Duration?) -> Duration {
        let time = nextStart(for: key, cost: cost)
        if let planned, planned <= time { return planned }
        alarms.insert(Alarm(time: time, key: key, isForEntry: true))
        return time
    }
}

// MARK: - Pauses

extension LimitRates {
    /// Allows no start in total, or of a key, for a duration from now on. Does not shorten a pause.
    mutating func pause(for duration: Duration, _ key: Key?) {
        if duration <= .zero { return }
        let end = time.now + duration.saturated
        isLimiting = true
        guard let key else {
            pauseEnd = max(pauseEnd ?? .zero, end)
            return
        }
        let wasInUse = isInUse(key)
        pauseEnds[key] = max(pauseEnds[key] ?? .zero, end)
        if !wasInUse { alarms.insert(alarm(ofUse: key)!) }
    }
}

// MARK: - Time

extension LimitRates {
    /// Reports that the clock is not read in this event.
    mutating func noteOldTime() { isTimeOld = true }

    mutating func noteWake(_ wake: QueueTime.Wake) { time.noteWake(wake) }

    /// Reports a reading of the clock. The tokens that were taken at an old time then count as taken now.
    mutating func advance(to now: Duration, mayBeOld: Bool) {
        time.advance(to: now, mayBeOld: mayBeOld)
        isTimeOld = false
        if let end = pauseEnd, end <= time.now {
            pauseEnd = nil
            updateIsLimiting()
        }
        if takenAtOldTime.isEmpty { return }
        let spendings = takenAtOldTime
        takenAtOldTime = []
        lastTakes.count = 0
        for spending in spendings {
            total?.giveBack(spending.cost, at: time.now)
            if let key = spending.key, ratePerKey != nil { buckets[key]?.giveBack(spending.cost, at: time.now) }
        }
        for spending in spendings { takeAtPresentTime(spending) }
    }

    /// Removes the alarms up to the current time. Returns the next key whose first entry may have its tokens; nil if
    /// there is none.
    mutating func nextWatched() -> Key? {
        while let alarm = alarms.first, alarm.time <= time.now {
            alarms.removeFirst()
            let key = alarm.key
            if alarm.isForEntry { return key }
            if let bucket = buckets[key], bucket.fullTime <= time.now { buckets[key] = nil }
            if let end = pauseEnds[key], end <= time.now {
                pauseEnds[key] = nil
                updateIsLimiting()
            }
            if let next = self.alarm(ofUse: key) { alarms.insert(next) } else { fullKeys.append(key) }
        }
        return nil
    }

    /// Plans to wake the limit, and returns the wake; nil if no wake is necessary, or if another one is sufficient.
    ///
    /// - Parameter cost: The cost of the entry that is served next, if nothing but tokens in total may be lacking; nil if
    ///   there is none.
    mutating func nextWake(forEntryOf cost: Int?) -> QueueTime.Wake? {
        var earliest = alarms.first?.time
        if let cost, !hasTokensInTotal(for: cost) {
            let start = nextStart(cost: cost)
            earliest = min(earliest ?? start, start)
        }
        return earliest.flatMap { time.wake(at: $0, .high) }
    }
}
