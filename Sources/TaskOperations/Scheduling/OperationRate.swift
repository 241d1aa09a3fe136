/// How fast the operations of a queue start: so many at once after a pause, and then one after each interval.
public struct OperationRate: Hashable, Sendable {
    /// After which time there may be one more start.
    public let interval: Duration
    /// How many may start at once if none has for a while.
    public let burst: Int

    /// So many starts for each second, spread evenly.
    ///
    /// - Parameters:
    ///   - count: How many; more than 0, up to 1,000,000,000. Half a start is one every two seconds.
    ///   - burst: How many may start at once if none has for a while; at least 1.
    public static func perSecond(_ count: Double, burst: Int = 1) -> OperationRate {
        require(
            count > 0 && count <= 1e9,
            "the rate is \(count) for each second; it must be more than 0 and at most 1000000000.")
        return OperationRate(interval: .seconds(1) / count, burst: burst)
    }

    /// One start after each interval.
    ///
    /// - Parameters:
    ///   - interval: The time between two starts; positive.
    ///   - burst: How many may start at once if none has for a while; at least 1.
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

/// The tokens of a rate: each start uses one, and one comes after each interval, up to the burst.
///
/// It is the generic cell rate algorithm, as virtual scheduling (ITU-T Recommendation I.371, annex A), which is a token
/// bucket with one number: when the next token would be used if all came evenly.
struct TokenBucket: Hashable, Sendable {
    let rate: OperationRate
    private var next = Duration.zero

    init(_ rate: OperationRate) {
        self.rate = rate
    }

    /// When there is a token.
    var nextStart: Duration { next - rate.interval * (rate.burst - 1) }

    /// When there is a token if so many more are used at a time.
    func nextStart(after count: Int, at time: Duration) -> Duration {
        let full = rate.interval * (rate.burst - 1)
        return count == 0 ? nextStart : max(next, time) + rate.interval * count - full
    }

    /// Whether the bucket is full: no token comes until one is used.
    func isFull(at time: Duration) -> Bool { next <= time }

    /// How many tokens there are at a time; not more than a number.
    func count(at time: Duration, atMost limit: Int) -> Int {
        let full = rate.interval * rate.burst
        let since = min(time - next + full, full)
        return since < rate.interval ? 0 : min(limit, Int(since.attoseconds / rate.interval.attoseconds))
    }

    mutating func take(at time: Duration) { next = max(next, time) + rate.interval }

    /// Gives a token back that was not used.
    mutating func giveBack() { next -= rate.interval }
}
