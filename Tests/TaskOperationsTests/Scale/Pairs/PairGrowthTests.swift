import TaskOperationsExpectations
import Testing

/// Compares the processor time for two sizes, the second eight times the first. It is about 8 times as long if the
/// cost of each object does not depend on the number of the other kind, and 64 times if each object visits all of the
/// other kind.
@Suite("Growth: many of these beside many of those", .computing, .timeLimit(.minutes(10)))
struct PairGrowthTests {
    @Test("Many of both take time in proportion to their number", arguments: GrowthPair.all)
    func manyOfBoth(pair: GrowthPair) throws {
        let ratio = try bestRatio(within: 25, attempts: 4) { isLarge in
            try processorTimeOnOneThread { try await pair.run(pair.smallCount * (isLarge ? 8 : 1), $0) }
        }
        #expect(ratio < 25)
    }
}
