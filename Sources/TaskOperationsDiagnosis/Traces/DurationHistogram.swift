/// A histogram of durations, with four steps for each power of two. A returned duration exceeds the exact one by at
/// most a quarter.
public struct DurationHistogram: Sendable, Hashable {
    /// The number of durations in each step. The first step ends at 1 μs.
    private var counts: [Int] = []
    /// The number of durations.
    public private(set) var count = 0
    /// The sum of the durations.
    public private(set) var sum = Duration.zero

    mutating func add(nanoseconds: Int) {
        let step = Self.step(of: Int64(nanoseconds))
        while counts.count <= step { counts.append(0) }
        counts[step] += 1
        count += 1
        sum += .nanoseconds(max(0, nanoseconds))
    }

    mutating func add(_ other: DurationHistogram) {
        while counts.count < other.counts.count { counts.append(0) }
        for (step, number) in other.counts.enumerated() { counts[step] += number }
        count += other.count
        sum += other.sum
    }

    /// The first step whose end a duration does not exceed.
    private static func step(of nanoseconds: Int64) -> Int {
        if nanoseconds <= 1000 { return 0 }
        // The largest durations are 73 years. The number of quarters of a microsecond, without the last part of one.
        let quarters = (min(nanoseconds, .max / 4) * 4 - 1) / 1000
        let power = Int64.bitWidth - 3 - quarters.leadingZeroBitCount
        return 1 + power * 4 + Int(quarters >> power) & 3
    }

    /// The upper bound of a step, in nanoseconds.
    private static func end(of step: Int) -> Int64 {
        if step == 0 { return 1000 }
        let (power, quarter) = (step - 1).quotientAndRemainder(dividingBy: 4)
        return 250 * Int64(5 + quarter) << power
    }

    private static var maxStepCount: Int { step(of: .max) + 1 }

    /// Returns the duration that a given fraction of all durations does not exceed; zero if there are none.
    ///
    /// - Parameter part: The fraction, from 0 to 1. A number outside this range counts as the nearer bound.
    public func quantile(_ part: Double) -> Duration {
        // NaN counts as 0. A large count may be rounded up to a number that is no integer of the system.
        let rank = max(1, Int(exactly: (min(max(0, part), 1) * Double(count)).rounded(.up)) ?? count)
        var seen = 0
        for (step, number) in counts.enumerated() {
            seen += number
            if seen >= rank { return .nanoseconds(Self.end(of: step)) }
        }
        return .zero
    }

    /// The duration that half of the durations do not exceed.
    public var p50: Duration { quantile(0.5) }

    /// The duration that 99 % of the durations do not exceed.
    public var p99: Duration { quantile(0.99) }

    /// The steps that contain durations, as upper bounds and numbers of durations.
    public var buckets: [(upTo: Duration, count: Int)] {
        counts.indices.filter { counts[$0] > 0 }.map { (.nanoseconds(Self.end(of: $0)), counts[$0]) }
    }

    /// The numbers of durations that do not exceed 16 μs and each further power of two up to 134 s.
    var cumulativeBuckets: [(upTo: Duration, count: Int)] {
        var (count, next) = (0, 0)
        return (4...27).map { power in
            let last = power * 4
            while next < min(last + 1, counts.count) {
                count += counts[next]
                next += 1
            }
            return (.nanoseconds(Self.end(of: last)), count)
        }
    }
}

extension DurationHistogram: Codable {
    private enum CodingKeys: CodingKey {
        case counts, sum
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(counts, forKey: .counts)
        try container.encode(sum, forKey: .sum)
    }

    /// Decodes a histogram.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if a count or the sum is negative, or if there are too many counts.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        counts = try container.decode([Int].self, forKey: .counts)
        sum = try container.decode(Duration.self, forKey: .sum)
        var isValid = sum >= .zero && counts.count <= Self.maxStepCount
        for number in counts {
            let (total, overflows) = count.addingReportingOverflow(number)
            if number < 0 || overflows { isValid = false }
            count = total
        }
        if !isValid {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "The counts contradict each other."))
        }
    }
}
