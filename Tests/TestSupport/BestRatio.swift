/// Returns the lowest cost of a large size divided by the lowest cost of a small one. The attempts end once the ratio
/// is within the limit, because a higher ratio of further attempts would only show that the machine is busy.
package func bestRatio(
    within limit: Double, attempts: Int = 20, cost: (_ isLarge: Bool) throws -> Duration
) rethrows -> Double {
    var (small, large) = (Duration.seconds(1000), Duration.seconds(1000))
    for _ in 0..<attempts {
        small = min(small, try cost(false))
        large = min(large, try cost(true))
        if large / small < limit { break }
    }
    return large / small
}
