import TestSupport
import Testing

@Suite("Graphs over both worlds, on three queues of random kinds, with random cancellations", .inTurns)
struct MixedGraphTests {
    @Test(
        "in random graphs every order holds, each body runs at most once, all finish, and none is added twice",
        .endsInTime, arguments: 0..<10)
    func randomGraphs(part: UInt64) async throws {
        let count = UInt64(size(50, deep: 300))
        for seed in part * count..<(part + 1) * count {
            let graph = MixedGraph(seed: seed)
            try await graph.run()
            let faults = graph.faults()
            #expect(faults.isEmpty, "seed \(seed)")
        }
    }
}
