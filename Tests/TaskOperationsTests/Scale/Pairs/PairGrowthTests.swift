import TestSupport
import Testing

/// Compares the processor time of two sizes, of which the second is eight times the first. The time grows by a factor
/// of 8 if the cost of each object does not depend on the number of the other kind, and 64 if each object visits all
/// objects of the other kind.
@Suite("Growth: many of these beside many of those", .computing, .endsInTime)
struct PairGrowthTests {
    @Test("Many of both take time in proportion to their number", arguments: GrowthPair.all)
    func manyOfBoth(pair: GrowthPair) throws {
        let ratio = try bestRatio(within: 25, attempts: 4) { isLarge in
            try processorTimeOnOneThread { try await pair.run(pair.smallCount * (isLarge ? 8 : 1), $0) }
        }
        #expect(ratio < 25)
    }
}
