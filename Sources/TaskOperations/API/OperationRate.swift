/// The rate at which operations of a queue start, or at which a semaphore gives permits. After a pause, `burst`
/// operations may start at once. Then one operation may start after each interval.
///
/// A limit counts the cost of each start: see `OperationOptions.limit(_:key:weight:cost:)`. A queue counts each start as
/// 1. An array literal combines several rates, and a start must then satisfy each of them:
///
/// ```swift
/// let model = AsyncSemaphore(
///     capacity: 64,
///     rate: [
///         .perMinute(90_000, burst: 9_000), .perMinute(500, of: .starts), .perDay(10_000, burst: 5_000, of: .starts),
///     ])
/// ```
///
/// Rates are counted by the generic cell rate algorithm (ITU-T Recommendation I.371, annex A). A start takes constant time
/// for each combined rate.
public struct OperationRate: Hashable, Sendable {
    /// The quantity that a rate counts.
    public enum Unit: Hashable, Sendable {
        /// The cost of each start, which is 1 without the argument `cost:` of a limit.
        case cost
        /// Each start as 1, regardless of its cost.
        case starts
    }

    /// One of the combined rates.
    struct Window: Hashable, Sendable {
        let interval: Duration
        let burst: Int
        /// The largest cost that is available at once if nothing was spent for a long time; at least the burst. A larger
        /// cost needs this much.
        let allowance: Int
        let unit: Unit
    }

    /// The first of the combined rates.
    let first: Window
    private(set) var others: [Window] = []

    /// The time after which one more operation of cost 1 may start. In a combination, the interval of the first rate.
    public var interval: Duration { first.interval }

    /// The cost that may start at once after a pause. In a combination, the burst of the first rate.
    public var burst: Int { first.burst }

    /// Allows a number of starts per second, spread evenly. In one second, at most `count` plus `burst` may start.
    ///
    /// - Parameters:
    ///   - count: The cost per second, greater than 0 and at most 1,000,000,000. The number 0.5 means a cost of 1 every
    ///     two seconds.
    ///   - burst: The cost that may start at once after a pause; at least 1.
    ///   - unit: The quantity that the rate counts.
    public static func perSecond(_ count: Double, burst: Int = 1, of unit: Unit = .cost) -> OperationRate {
        require(
            count > 0 && count <= 1e9,
            "the rate is \(count) for each second; it must be more than 0 and at most 1000000000.")
        // A smaller number would require an interval beyond the range of `Duration`.
        return one(per: .seconds(1) / max(count, 0x1p-40), burst: burst, of: unit)
    }

    /// Allows one start after each interval.
    ///
    /// - Parameters:
    ///   - interval: The time between two starts of cost 1, which must be positive.
    ///   - burst: The cost that may start at once after a pause; at least 1.
    ///   - unit: The quantity that the rate counts.
    public static func one(per interval: Duration, burst: Int = 1, of unit: Unit = .cost) -> OperationRate {
        require(interval > .zero, "the interval of the rate is \(interval); it must be positive.")
        require(burst >= 1, "the burst of the rate is \(burst); it must be at least 1.")
        return OperationRate(first: Window(interval: interval, burst: burst, allowance: burst, unit: unit))
    }

    /// Allows a cost per minute: the starts of any minute cost at most `count`. A system that counts from fixed moments,
    /// counts the last minute, or fills a bucket of `count` therefore accepts all of them.
    ///
    /// After a pause, `burst` may start at once. The rest of the count is spread evenly over the minute. Of 90,000 with a
    /// burst of 30,000, operations that always wait spend 60,001 in each minute. The default burst leaves 96 percent.
    ///
    /// An operation whose cost is above the burst waits for longer, so that no minute costs more than `count`. If its cost
    /// is above `count`, the operation starts after a minute without starts, and leaves a debt. Later starts wait until the
    /// rate has replaced the debt.
    ///
    /// - Parameters:
    ///   - count: The cost per minute, from 1 to 1,000,000,000,000.
    ///   - burst: The cost that may start at once after a pause, from 1 to `count`; nil for a 25th of `count`. Pass at
    ///     least the cost of most operations. An operation that costs *n* more than the burst uses *n* more of the
    ///     count.
    ///   - unit: The quantity that the rate counts.
    public static func perMinute(_ count: Int, burst: Int? = nil, of unit: Unit = .cost) -> OperationRate {
        allowance(count, per: 60, burst, unit)
    }

    /// Allows a cost per day, which is 24 hours from any moment. See `perMinute(_:burst:of:)`. Without a burst, only 4
    /// percent may start at once, and the rest is spread evenly over the day.
    ///
    /// - Parameters:
    ///   - count: The cost per day, from 1 to 1,000,000,000,000.
    ///   - burst: The cost that may start at once, from 1 to `count`; nil for a 25th of `count`.
    ///   - unit: The quantity that the rate counts.
    public static func perDay(_ count: Int, burst: Int? = nil, of unit: Unit = .cost) -> OperationRate {
        allowance(count, per: 86_400, burst, unit)
    }

    /// In a time of `seconds`, less than `burst` + `seconds` / `interval` is spent: `count` + 1.
    private static func allowance(_ count: Int, per seconds: Int64, _ burst: Int?, _ unit: Unit) -> OperationRate {
        require(
            (1...1_000_000_000_000).contains(count),
            "the count of the rate is \(count); it must be from 1 to 1000000000000. Pass a rate of nil for no limit.")
        let burst = burst ?? max(1, count / 25)
        require(
            (1...count).contains(burst), "the burst of the rate is \(burst); it must be from 1 to \(count), its count.")
        let time = Duration.seconds(seconds).attoseconds
        let replacedCount = Int128(count - burst + 1)
        // Rounded up, so that the count is never exceeded.
        let interval = Duration(attoseconds: (time + replacedCount - 1) / replacedCount)
        return OperationRate(first: Window(interval: interval, burst: burst, allowance: count, unit: unit))
    }
}

extension OperationRate: ExpressibleByArrayLiteral {
    /// Combines rates, at least one. A start must satisfy each of them.
    public init(arrayLiteral elements: OperationRate...) {
        require(!elements.isEmpty, "the list of rates is empty. Pass nil for no rate.")
        first = elements[0].first
        others = elements[0].others + elements.dropFirst().flatMap { [$0.first] + $0.others }
    }
}

/// The tokens of a rate. Each start uses as many tokens as it costs. Each interval adds one token, up to the burst.
///
/// This is the generic cell rate algorithm in its virtual scheduling form (ITU-T Recommendation I.371, annex A). It
/// stores a token bucket as the time at which the bucket is full again. Tokens may be missing: a cost that becomes known
/// after the start, or a cost above the whole allowance, is used without being available, and later starts wait until the
/// debt is replaced. The `RateLimiter` of Google Guava has the same rule: an expensive request delays the next ones, not
/// itself.
struct TokenBucket: Hashable, Sendable {
    private var first: WindowTokens
    private var others: [WindowTokens]

    init(_ rate: OperationRate) {
        first = WindowTokens(rate.first)
        others = rate.others.isEmpty ? [] : rate.others.map { WindowTokens($0) }
    }

    @inline(__always)
    private func latest(_ time: (WindowTokens) -> Duration) -> Duration {
        others.isEmpty ? time(first) : others.reduce(time(first)) { max($0, time($1)) }
    }

    @inline(__always)
    private mutating func change(_ change: (inout WindowTokens) -> Void) {
        change(&first)
        if others.isEmpty { return }
        for index in others.indices { change(&others[index]) }
    }

    /// The earliest time at which a token is available.
    var nextStart: Duration { nextStart(cost: 1) }

    /// The earliest time at which an operation of a cost may start.
    func nextStart(cost: Int) -> Duration { latest { $0.nextStart(cost: cost) } }

    /// The earliest time at which a token is available if `count` tokens are used at `time`.
    func nextStart(after count: Int, at time: Duration) -> Duration { latest { $0.nextStart(after: count, at: time) } }

    /// The time at which all used tokens are replaced, if no more tokens are used, and at which any cost may start.
    var fullTime: Duration { latest { $0.replacedTime } }

    /// Whether the bucket is full.
    @inline(__always)
    func isFull(at time: Duration) -> Bool { latest { $0.next } <= time }

    /// The number of available tokens at a time, but at most `limit`.
    // Inlined, like the function that it calls, because other calls would copy the bucket.
    @inline(__always)
    func count(at time: Duration, atMost limit: Int) -> Int {
        let count = first.count(at: time, atMost: limit)
        return others.isEmpty ? count : others.reduce(count) { $1.count(at: time, atMost: $0) }
    }

    mutating func take(_ cost: Int = 1, at time: Duration) { change { $0.take($0.tokens(of: cost), at: time) } }

    /// The bucket after a change to another rate. It lacks the used tokens, but at most the burst and the debt. A window
    /// takes over the tokens of the same position and unit.
    func changed(to rate: OperationRate, at time: Duration) -> TokenBucket {
        var bucket = TokenBucket(rate)
        bucket.first = bucket.first.replacing(first, at: time)
        for index in bucket.others.indices where index < others.count {
            bucket.others[index] = bucket.others[index].replacing(others[index], at: time)
        }
        return bucket
    }

    /// Puts the unused tokens of a start back.
    mutating func giveBack(_ cost: Int = 1, at time: Duration) {
        change { $0.giveBack($0.tokens(of: cost), at: time) }
    }

    /// Puts the unused tokens of a start back if others have not replaced them since they were taken. Otherwise, the bucket
    /// would exceed its burst.
    mutating func giveBack(_ cost: Int, takenAt taken: Duration, now: Duration) {
        change { window in
            let tokens = window.tokens(of: cost)
            if now - taken < window.time(of: tokens) { window.giveBack(tokens, at: now) }
        }
    }

    /// Uses more or fewer tokens for a start, after the start.
    mutating func correct(by difference: Int, at time: Duration) {
        change { window in
            if window.unit == .starts { return }
            if difference > 0 { window.take(difference, at: time) } else { window.giveBack(-difference, at: time) }
        }
    }
}

/// The tokens of one of the combined rates.
private struct WindowTokens: Hashable, Sendable {
    let unit: OperationRate.Unit
    private let burst: Int
    private let interval: Duration
    /// The highest cost for which a start waits.
    private let allowance: Int
    /// The time in which an empty bucket fills. The value is bounded, so that no sum or product of times overflows.
    private let fillTime: Duration
    /// The time for which a bucket remains full until the whole allowance is available.
    private let savingTime: Duration
    /// The time at which the bucket is full again.
    private(set) var next: Duration
    /// The time at which all used tokens are replaced. It is later than `next` if the burst was lowered below the number
    /// of used tokens. Otherwise, each higher burst after a lower one would give these tokens again.
    private var usedUntil: Duration

    init(_ window: OperationRate.Window) {
        unit = window.unit
        burst = window.burst
        allowance = window.allowance
        interval = window.interval.saturated
        fillTime = Self.time(of: burst, interval)
        savingTime = burst == allowance ? .zero : Self.time(of: allowance, interval) - fillTime
        next = .zero - savingTime
        usedUntil = .zero - savingTime
    }

    /// The latest time at which a bucket is full. It is more than 10¹² years away.
    private static var latest: Duration { Duration(attoseconds: Int128.max / 2) }

    private static func highestCount(_ interval: Duration) -> Int128 { Int128.max / 4 / interval.attoseconds }

    private static func time(of tokens: Int, _ interval: Duration) -> Duration {
        // The product with the longest interval does not overflow. A division of `Int128` takes hundreds of instructions.
        let count = tokens <= 1 << 20 ? Int128(tokens) : min(Int128(tokens), highestCount(interval))
        return Duration(attoseconds: interval.attoseconds * count)
    }

    /// The time in which a number of tokens is added.
    @inline(__always)
    func time(of tokens: Int) -> Duration { tokens == 1 ? interval : Self.time(of: tokens, interval) }

    /// The number of tokens that a start of a cost uses.
    func tokens(of cost: Int) -> Int { unit == .starts ? 1 : cost }

    func nextStart(cost: Int) -> Duration { next + time(of: min(tokens(of: cost), allowance)) - fillTime }

    func nextStart(after count: Int, at time: Duration) -> Duration {
        count == 0 ? nextStart(cost: 1) : max(next, time) + interval * (count + 1) - fillTime
    }

    var replacedTime: Duration { max(usedUntil, next) + savingTime }

    @inline(__always)
    func count(at time: Duration, atMost limit: Int) -> Int {
        let since = min(time - next + fillTime, fillTime)
        return since < interval ? 0 : min(limit, Int(clamping: since.attoseconds / interval.attoseconds))
    }

    mutating func take(_ tokens: Int, at time: Duration) {
        if tokens == 0 { return }
        let added = self.time(of: tokens)
        next = min(max(next, time) + added, Self.latest)
        usedUntil = min(max(usedUntil, time) + added, Self.latest)
    }

    /// A bucket is never fuller than full at this time.
    mutating func giveBack(_ tokens: Int, at time: Duration) {
        let removed = self.time(of: tokens)
        next = max(next - removed, min(next, time))
        usedUntil = max(usedUntil - removed, min(usedUntil, time))
    }

    func replacing(_ former: WindowTokens, at time: Duration) -> WindowTokens {
        if unit != former.unit { return self }
        var window = self
        let used = max(0, (former.usedUntil - time) / former.interval)
        let debt = max(0, (former.next - time) / former.interval - Double(former.burst))
        let highest = Double(Self.highestCount(interval))
        window.next = time + interval * min(used, Double(burst) + debt, highest)
        window.usedUntil = max(window.next, time + interval * min(used, highest))
        return window
    }
}
