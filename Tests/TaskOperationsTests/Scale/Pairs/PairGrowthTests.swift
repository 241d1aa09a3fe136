import TaskOperationsExpectations
import Testing

/// Compares the processor time for so many of both with that for eight times as many: about 8 times as long where each
/// costs the same however many there are of the other, and 64 times where each has to look at them.
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
