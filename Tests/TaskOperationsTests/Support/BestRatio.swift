/// How many times the cost of a small size that of a large one is, each at its best. Attempts end where the ratio is
/// within the limit: more of them could only tell that the machine was busy.
func bestRatio(
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
