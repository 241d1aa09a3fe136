import TaskOperationsExpectations
import Testing

@testable import SourceAudit

@Suite("The order", .inTurns)
struct WavesTests {
    @Test("What nothing uses is the first wave, and what uses nothing the first layer")
    func chain() {
        let waves = Waves(edges: [[1: 1], [2: 1], [:]], counts: [true, true, true])
        #expect(waves.wave == [1, 2, 3])
        #expect(waves.layer == [3, 2, 1])
        #expect(waves.rings.isEmpty)
    }

    @Test("What has nothing to move passes on who uses whom, and has no wave")
    func through() {
        let waves = Waves(edges: [[1: 1], [2: 1], [:]], counts: [true, false, true])
        #expect(waves.wave == [1, 0, 2])
        #expect(waves.layer == [2, 0, 1])
    }

    @Test("A ring has one wave, and is cut at its rarest use")
    func ring() {
        let waves = Waves(edges: [[1: 5], [2: 1, 3: 9], [0: 7], [:]], counts: [true, true, true, true])
        #expect(waves.wave == [1, 1, 1, 2])
        #expect(waves.rings.map(\.members) == [[0, 1, 2]])
        #expect(waves.rings.first?.cut == Waves.Edge(from: 1, to: 2, count: 1))
    }

    @Test("A chain of 100,000 files is put into order")
    func longChain() {
        let count = 100_000
        let edges = (0..<count).map { $0 + 1 < count ? [$0 + 1: 1] : [:] }
        let waves = Waves(edges: edges, counts: [Bool](repeating: true, count: count))
        #expect(waves.wave.last == count)
    }
}
