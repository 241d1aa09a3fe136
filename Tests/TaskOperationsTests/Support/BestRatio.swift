/// How many times the cost of a small size that of a large one is, each at its best. Attempts end where the ratio is
/// within the limit: more of them could only tell that the machine was busy.
func bestRatio(
    within limit: Double, attempts: ClosedRange<Int> = 1...20, cost: (_ isLarge: Bool) async throws -> Duration
) async rethrows -> Double {
    var (small, large) = (Duration.seconds(1000), Duration.seconds(1000))
    for attempt in 1...attempts.upperBound {
        small = min(small, try await cost(false))
        large = min(large, try await cost(true))
        if attempt >= attempts.lowerBound, large / small < limit { break }
    }
    return large / small
}
