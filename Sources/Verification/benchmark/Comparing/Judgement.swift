/// The judgement of a change by the figures of paired runs: for each case, size and subject, the ratio of the cost after
/// the change to the cost before it.
struct Judgement: Sendable {
    /// The figures of one run before the change and one run after it.
    struct Pair: Sendable {
        let old: [RecordedFigure]
        let new: [RecordedFigure]
    }

    struct Row: Sendable {
        let figure: RecordedFigure
        let ratio: MedianInterval

        /// The verdict in words. Memory is not faster.
        var verdict: String {
            switch Verdict(ratio) {
            case .faster: figure.bytesPerOperation == nil ? "faster" : "smaller"
            case .slower: figure.bytesPerOperation == nil ? "slower" : "larger"
            case .noDifference: "no difference"
            }
        }
    }

    let rows: [Row]
    private let leftOut: Int

    /// Matches the figures of the pairs. Figures without a positive cost in every run are left out. So is the subject
    /// `ideal`, which executes nothing.
    ///
    /// - Parameter pairs: At least `MedianInterval.smallestCount`.
    /// - Throws: If no figure is in all runs.
    init(_ pairs: [Pair]) throws(ComparisonError) {
        let common = try Self.commonFigures(pairs)
        let runs = pairs.map { (old: Self.costs($0.old), new: Self.costs($0.new)) }
        rows = common.map { figure in
            Row(figure: figure, ratio: MedianInterval(runs.map { $0.new[figure.key]! / $0.old[figure.key]! }))
        }
        leftOut = Set(pairs.flatMap { ($0.old + $0.new).filter { !$0.isIdeal }.map(\.key) }).count - common.count
    }

    /// The figures of the first run that are in all runs, in the same order.
    ///
    /// - Throws: If there are none.
    static func commonFigures(_ pairs: [Pair]) throws(ComparisonError) -> [RecordedFigure] {
        let keys = pairs.flatMap { [$0.old, $0.new] }.map { Set(Self.costs($0).keys) }
        let common = pairs.first?.new.filter { figure in keys.allSatisfy { $0.contains(figure.key) } } ?? []
        if common.isEmpty { throw ComparisonError("the two executables have no case, size and subject in common") }
        return common
    }

    private static func costs(_ figures: [RecordedFigure]) -> [RecordedFigure.Key: Double] {
        let judged = figures.filter { !$0.isIdeal && $0.cost > 0 }
        return Dictionary(judged.map { ($0.key, $0.cost) }, uniquingKeysWith: { $1 })
    }

    /// The table, with a line for each row, and its explanation.
    var lines: [String] {
        let cells =
            [["case", "subject", "n", "new/old", "interval", "verdict"]]
            + rows.map { row in
                let bounds = row.ratio.bounds
                return [
                    row.figure.title, row.figure.subject, row.figure.n.grouped, row.ratio.median.rounded(to: 3),
                    "\(bounds.lowerBound.rounded(to: 3)) to \(bounds.upperBound.rounded(to: 3))", row.verdict,
                ]
            }
        let widths = cells[0].indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
        let table = cells.map { line in
            zip(line, widths).enumerated().map { column, cell in
                column == cells[0].count - 1 ? cell.0 : cell.0.padded(to: cell.1, onLeft: (2...4).contains(column))
            }
            .joined(separator: "  ")
        }
        return table + [""] + explanation
    }

    private var explanation: [String] {
        guard let ratio = rows.first?.ratio else { return [] }
        let chance = (1 - ratio.coverage) * Double(rows.count)
        return [
            """
            new/old is the median of the ratios of \(ratio.count) pairs. The interval is from ratio \(ratio.rank) to \
            ratio \(ratio.count + 1 - ratio.rank) in ascending order, and contains the median of all such ratios with a \
            probability of \((100 * ratio.coverage).rounded(to: 1)) %. If the executables were equal, at most about \
            \(chance.rounded(to: 1)) of the \(rows.count) rows would differ by chance.
            """
        ] + (leftOut > 0 ? ["Left out because some run has no figure for them: \(leftOut) rows."] : [])
    }
}

/// A figure of a run, as any version of the benchmark writes it.
struct RecordedFigure: Decodable, Sendable {
    struct Key: Hashable, Sendable {
        let title: String
        let subject: String
        let n: Int
    }

    let `case`: String
    let variant: String?
    let subject: String
    let n: Int
    let nsPerOperation: Double
    let bytesPerOperation: Double?

    var key: Key { Key(title: title, subject: subject, n: n) }
    var title: String { variant.map { "\(self.case), \($0)" } ?? self.case }
    var cost: Double { bytesPerOperation ?? nsPerOperation }
    var isIdeal: Bool { subject == SubjectName.ideal.rawValue }
}

/// The median of several values, and the confidence interval of the median of all such values.
///
/// The bounds are the values with a rank from either end. The interval misses the median if fewer values than the rank
/// are below the median, or above it. The number of values below the median has the binomial distribution with
/// probability 1/2. The rank is the largest with which the interval contains the median with a probability of at least
/// 95 %. The distribution of the values does not matter. Source: W. J. Conover, Practical Nonparametric Statistics,
/// 1999, section 3.2.
struct MedianInterval: Sendable {
    /// Fewer values have no such interval.
    static let smallestCount = 6

    let count: Int
    let rank: Int
    let coverage: Double
    let median: Double
    let bounds: ClosedRange<Double>

    /// - Parameter values: At least `smallestCount`.
    init(_ values: [Double]) {
        precondition(values.count >= Self.smallestCount, "\(values.count) values have no interval")
        let sorted = values.sorted()
        count = values.count
        (rank, coverage) = Self.rank(of: count)
        median = Spread(values).median
        bounds = sorted[rank - 1]...sorted[count - rank]
    }

    /// Returns the rank and the coverage for a number of values. The cost is linear in the rank.
    private static func rank(of count: Int) -> (rank: Int, coverage: Double) {
        var result = (rank: 0, coverage: 0.0)
        // The probabilities of `rank` values, and of at most `rank` values, below the median.
        var probability = Double(sign: .plus, exponent: -count, significand: 1)
        var tail = probability
        while 2 * tail <= 0.05 {
            result = (result.rank + 1, 1 - 2 * tail)
            probability *= Double(count - result.rank + 1) / Double(result.rank)
            tail += probability
        }
        return result
    }
}

enum Verdict: Sendable {
    case faster
    case slower
    case noDifference

    /// The least difference that matters. Smaller differences depend on the layout of the code in memory.
    private static let leastDifference = 0.01

    /// - Parameter ratio: The cost after a change divided by the cost before it.
    init(_ ratio: MedianInterval) {
        if ratio.bounds.contains(1) || abs(ratio.median - 1) < Self.leastDifference {
            self = .noDifference
        } else {
            self = ratio.median < 1 ? .faster : .slower
        }
    }
}
