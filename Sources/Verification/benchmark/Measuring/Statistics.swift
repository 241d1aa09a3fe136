/// The median, the minimum and the maximum of several measurements.
struct Spread: Hashable, Sendable {
    let median: Double
    let minimum: Double
    let maximum: Double

    /// - Parameter values: At least one.
    init(_ values: [Double]) {
        let sorted = values.sorted()
        let middle = sorted.count / 2
        median = sorted.count.isMultiple(of: 2) ? (sorted[middle - 1] + sorted[middle]) / 2 : sorted[middle]
        minimum = sorted[0]
        maximum = sorted[sorted.count - 1]
    }
}

/// Returns the value that the given fraction of all values does not exceed: 0.5 for the median, 0.99 for the 99th
/// percentile.
func quantile(_ part: Double, of values: [Double]) -> Double {
    let rank = Int((part * Double(values.count)).rounded(.up))
    return values.sorted()[min(max(rank, 1), values.count) - 1]
}
