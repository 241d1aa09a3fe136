/// The rate at which operations of a queue start, or at which a semaphore gives permits. After a pause, `burst`
/// operations may start at once. Then one operation may start after each interval.
public struct OperationRate: Hashable, Sendable {
    /// The time after which one more operation may start.
    public let interval: Duration
    /// The number of operations that may start at once after a pause.
    public let burst: Int

    /// Allows a number of starts per second, spread evenly.
    ///
    /// - Parameters:
    ///   - count: The number of starts per second, greater than 0 and at most 1,000,000,000. The number 0.5 means one
    ///     start every two seconds.
    ///   - burst: The number of operations that may start at once after a pause; at least 1.
    public static func perSecond(_ count: Double, burst: Int = 1) -> OperationRate {
        require(
            count > 0 && count <= 1e9,
            "the rate is \(count) for each second; it must be more than 0 and at most 1000000000.")
        // A smaller number would require an interval beyond the range of `Duration`.
        return OperationRate(interval: .seconds(1) / max(count, 0x1p-40), burst: burst)
    }

    /// Allows one start after each interval.
    ///
    /// - Parameters:
    ///   - interval: The time between two starts, which must be positive.
    ///   - burst: The number of operations that may start at once after a pause; at least 1.
    public static func one(per interval: Duration, burst: Int = 1) -> OperationRate {
        OperationRate(interval: interval, burst: burst)
    }

    private init(interval: Duration, burst: Int) {
        require(interval > .zero, "the interval of the rate is \(interval); it must be positive.")
        require(burst >= 1, "the burst of the rate is \(burst); it must be at least 1.")
        self.interval = interval
        self.burst = burst
    }
}

/// The tokens of a rate. Each start uses one token. Each interval adds one token, up to the burst.
///
/// This is the generic cell rate algorithm in its virtual scheduling form (ITU-T Recommendation I.371, annex A). It
/// stores a token bucket as the time at which the bucket is full again.
struct TokenBucket: Hashable, Sendable {
    let rate: OperationRate
    private let interval: Duration
    /// The time in which an empty bucket fills. The value is bounded, so that no sum or product of times overflows.
    private let fillTime: Duration
    /// The time at which the bucket is full again.
    private var next = Duration.zero
    /// The time at which all used tokens are replaced. It is later than `next` if the burst was lowered below the number
    /// of used tokens. Otherwise, each higher burst after a lower one would give these tokens again.
    private var replacedTime = Duration.zero

    init(_ rate: OperationRate) {
        self.rate = rate
        interval = rate.interval.saturated
        fillTime = interval * min(Int128(rate.burst), Self.highestBurst(interval))
    }

    private static func highestBurst(_ interval: Duration) -> Int128 { Int128.max / 4 / interval.attoseconds }

    /// The earliest time at which a token is available.
    var nextStart: Duration { next + interval - fillTime }

    /// The earliest time at which a token is available if `count` tokens are used at `time`.
    func nextStart(after count: Int, at time: Duration) -> Duration {
        count == 0 ? nextStart : max(next, time) + interval * (count + 1) - fillTime
    }

    /// The time at which the bucket is full and all used tokens are replaced, if no more tokens are used.
    var fullTime: Duration { replacedTime }

    /// Whether the bucket is full.
    func isFull(at time: Duration) -> Bool { next <= time }

    /// The number of available tokens at a time, but at most `limit`.
    func count(at time: Duration, atMost limit: Int) -> Int {
        let since = min(time - next + fillTime, fillTime)
        return since < interval ? 0 : min(limit, Int(clamping: since.attoseconds / interval.attoseconds))
    }

    mutating func take(at time: Duration) {
        next = max(next, time) + interval
        replacedTime = max(replacedTime, time) + interval
    }

    /// The bucket after a change to another rate. It lacks the used tokens, but at most `rate.burst`.
    func changed(to rate: OperationRate, at time: Duration) -> TokenBucket {
        var bucket = TokenBucket(rate)
        let used = max(0, (replacedTime - time) / interval)
        bucket.next = time + bucket.fillTime * min(1, used / Double(rate.burst))
        bucket.replacedTime = max(
            bucket.next, time + bucket.interval * min(used, Double(Self.highestBurst(bucket.interval))))
        return bucket
    }

    /// Puts an unused token back.
    mutating func giveBack() {
        next -= interval
        replacedTime -= interval
    }

    /// Puts an unused token back if it was taken less than one interval ago. After an interval, another token has
    /// replaced it, so that the bucket would exceed its burst.
    mutating func giveBack(takenAt time: Duration, now: Duration) {
        if now - time < interval { giveBack() }
    }
}
