import Testing

@Suite("Graphs over both worlds, on three queues of random kinds, with random cancellations")
struct MixedGraphTests {
    @Test(
        "in 1,000 random graphs every order holds, each body runs at most once, and all finish",
        .timeLimit(.minutes(10)), arguments: 0..<10)
    func randomGraphs(hundred: UInt64) async throws {
        for seed in hundred * 100..<(hundred + 1) * 100 {
            let graph = MixedGraph(seed: seed)
            try await graph.run()
            let faults = graph.faults()
            #expect(faults.isEmpty, "seed \(seed)")
        }
    }
}
