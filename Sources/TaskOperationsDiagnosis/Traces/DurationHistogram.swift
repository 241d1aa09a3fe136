/// A histogram of durations, with four steps for each power of two. A returned duration exceeds the exact one by at
/// most a quarter.
public struct DurationHistogram: Sendable, Hashable, Codable {
    /// The number of durations in each step. The first step ends at 1 μs.
    private var counts: [Int] = []
    /// The number of durations.
    public private(set) var count = 0
    /// The sum of the durations, in seconds.
    public private(set) var sum = 0.0

    mutating func add(nanoseconds: Int) {
        let step = Self.step(of: nanoseconds)
        while counts.count <= step { counts.append(0) }
        counts[step] += 1
        count += 1
        sum += Double(max(0, nanoseconds)) / 1e9
    }

    mutating func add(_ other: DurationHistogram) {
        while counts.count < other.counts.count { counts.append(0) }
        for (step, number) in other.counts.enumerated() { counts[step] += number }
        count += other.count
        sum += other.sum
    }

    /// The step of a duration. The first step contains durations up to 1 μs.
    private static func step(of nanoseconds: Int) -> Int {
        if nanoseconds <= 1000 { return 0 }
        let power = Int.bitWidth - 1 - (nanoseconds / 1000).leadingZeroBitCount
        // The two bits below the highest.
        let quarter = (((nanoseconds / 1000) << 2) >> power) & 3
        return 1 + power * 4 + quarter
    }

    /// The upper bound of a step, in seconds.
    private static func end(of step: Int) -> Double {
        if step == 0 { return 1e-6 }
        let (power, quarter) = (step - 1).quotientAndRemainder(dividingBy: 4)
        return Double(sign: .plus, exponent: power, significand: 1) * (1 + Double(quarter + 1) / 4) * 1e-6
    }

    /// Returns the duration, in seconds, that a given fraction of all durations does not exceed; 0 if there are none.
    ///
    /// - Parameter part: The fraction, from 0 to 1. A number outside this range counts as the nearer bound.
    public func quantile(_ part: Double) -> Double {
        // NaN counts as 0. A large count may be rounded up to a number that is no integer of the system.
        let rank = max(1, Int(exactly: (min(max(0, part), 1) * Double(count)).rounded(.up)) ?? count)
        var seen = 0
        for (step, number) in counts.enumerated() {
            seen += number
            if seen >= rank { return Self.end(of: step) }
        }
        return 0
    }

    /// The duration, in seconds, that half of the durations do not exceed.
    public var p50: Double { quantile(0.5) }

    /// The duration, in seconds, that 99 % of the durations do not exceed.
    public var p99: Double { quantile(0.99) }

    /// The steps that contain durations, as upper bounds in seconds and numbers of durations.
    public var buckets: [(upTo: Double, count: Int)] {
        counts.indices.filter { counts[$0] > 0 }.map { (Self.end(of: $0), counts[$0]) }
    }
}

extension DurationHistogram {
    /// Decodes a histogram.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if the counts are negative, or if their sum is not the number of
    ///   durations.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        counts = try container.decode([Int].self, forKey: .counts)
        count = try container.decode(Int.self, forKey: .count)
        sum = try container.decode(Double.self, forKey: .sum)
        var rest = count
        for number in counts where rest >= 0 { rest = number < 0 || number > rest ? -1 : rest - number }
        if rest != 0 {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "The counts contradict each other."))
        }
    }
}
