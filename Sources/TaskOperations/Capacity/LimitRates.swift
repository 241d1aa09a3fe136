/// The rates of a limit: the tokens in total, and the tokens of each key. It is a pure value.
///
/// A key uses memory only until all its used tokens are replaced.
struct LimitRates: Sendable {
    typealias Key = Int

    /// A time at which something changes for a key.
    private struct Alarm: Sendable, HeapElement {
        let time: Duration
        let key: Key
        /// Whether the first entry of the key then has a token. Otherwise, the used tokens of the key may then
        /// be replaced.
        let isForEntry: Bool

        func isBefore(_ other: Alarm) -> Bool { time < other.time }
    }

    private(set) var time = QueueTime()
    /// Whether the clock may show a later time than `time`, because it was not read in this event.
    private var isTimeOld = false
    /// The keys of the tokens that were taken at an old time. They count as taken at the next reading of the clock.
    /// Otherwise, the tokens that have been added since the last reading would be given twice.
    private var takenAtOldTime: [Key?] = []
    private(set) var total: TokenBucket?
    /// The tokens at the last change of the rate in total, which a new rate lacks.
    private var formerTotal: TokenBucket?
    private(set) var ratePerKey: OperationRate?
    /// The time at which the last token was taken, unless it was put back.
    private var lastTake: Duration?
    /// The buckets that are not full, each with one alarm. They remain without a rate for each key.
    private var buckets: [Key: TokenBucket] = [:]
    private var alarms = Heap<Alarm>()
    /// The keys whose buckets have become full.
    private(set) var fullKeys: [Key] = []

    /// Whether there is a rate.
    var isLimiting: Bool { total != nil || ratePerKey != nil }

    func hasBucket(_ key: Key) -> Bool { buckets[key] != nil }

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
        if let total { formerTotal = total }
        total = rate.map { formerTotal?.changed(to: $0, at: time.now) ?? TokenBucket($0) }
    }

    /// Changes the rate for each key. Used tokens remain used. Takes linear time in the number of keys.
    mutating func setPerKey(_ rate: OperationRate?) {
        noteChange()
        ratePerKey = rate
        if let rate { for key in buckets.keys { buckets[key] = buckets[key]!.changed(to: rate, at: time.now) } }
        alarms = Heap(buckets.map { Alarm(time: $1.fullTime, key: $0, isForEntry: false) })
    }

    /// A token that was taken before a change is not put back after it: the last start may have used none.
    private mutating func noteChange() { lastTake = nil }
}

// MARK: - Tokens

extension LimitRates {
    /// Whether the rate in total has a token.
    var hasTokenInTotal: Bool { total.map { $0.count(at: time.now, atMost: 1) > 0 } ?? true }

    func hasToken(for key: Key) -> Bool {
        if ratePerKey == nil { return true }
        return buckets[key].map { $0.count(at: time.now, atMost: 1) > 0 } ?? true
    }

    /// Uses a token in total and for a key.
    mutating func take(for key: Key?) {
        if isTimeOld { takenAtOldTime.append(key) }
        takeAtPresentTime(for: key)
    }

    private mutating func takeAtPresentTime(for key: Key?) {
        if isLimiting { lastTake = time.now }
        total?.take(at: time.now)
        guard let key, let ratePerKey else { return }
        var bucket = buckets[key] ?? TokenBucket(ratePerKey)
        bucket.take(at: time.now)
        if buckets.updateValue(bucket, forKey: key) == nil {
            alarms.insert(Alarm(time: bucket.fullTime, key: key, isForEntry: false))
        }
    }

    /// Puts an unused token back if it was probably the last one that was taken. Otherwise the token is lost, so that
    /// the rate is never exceeded.
    mutating func giveBack(for key: Key?) {
        guard let taken = lastTake else { return }
        lastTake = nil
        if let index = takenAtOldTime.lastIndex(of: key) { takenAtOldTime.remove(at: index) }
        total?.giveBack(takenAt: taken, now: time.now)
        if let key, ratePerKey != nil { buckets[key]?.giveBack(takenAt: taken, now: time.now) }
    }

    /// Plans an alarm for the time at which a key has a token.
    mutating func watch(_ key: Key) {
        alarms.insert(Alarm(time: buckets[key]!.nextStart, key: key, isForEntry: true))
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
        let keys = takenAtOldTime
        takenAtOldTime = []
        for key in keys {
            total?.giveBack()
            if let key, ratePerKey != nil { buckets[key]?.giveBack() }
        }
        for key in keys { takeAtPresentTime(for: key) }
    }

    /// Removes the alarms up to the current time. Returns the next key whose first entry may have a token; nil if there
    /// is none.
    mutating func nextWatched() -> Key? {
        while let alarm = alarms.first, alarm.time <= time.now {
            alarms.removeFirst()
            if alarm.isForEntry { return alarm.key }
            guard let bucket = buckets[alarm.key] else { continue }
            if bucket.fullTime <= time.now {
                buckets[alarm.key] = nil
                fullKeys.append(alarm.key)
            } else {
                alarms.insert(Alarm(time: bucket.fullTime, key: alarm.key, isForEntry: false))
            }
        }
        return nil
    }

    /// Plans to wake the limit, and returns the wake; nil if no wake is necessary, or if another one is sufficient.
    mutating func nextWake(hasEntries: Bool) -> QueueTime.Wake? {
        var earliest = alarms.first?.time
        if hasEntries, let total, !hasTokenInTotal { earliest = min(earliest ?? total.nextStart, total.nextStart) }
        return earliest.flatMap { time.wake(at: $0, .high) }
    }
}
