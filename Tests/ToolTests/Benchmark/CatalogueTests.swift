import Foundation
import TestSupport
import Testing

@testable import benchmark

@Suite("Benchmark: cases", .inTurns)
struct CatalogueTests {
    @Test("The catalogue contains every claimed case, in order")
    func names() {
        #expect(
            Catalogue.names == [
                "independent", "independent-batch", "adding", "serial", "contended-add", "suspending", "io", "scope",
                "chain",
                "fan-out",
                "fan-in", "layers", "random-dag", "after", "pending-memory", "delayed", "cancel-all",
                "priority-change", "width-change", "suspend-resume", "growth", "semaphore", "keyed", "newest-first",
                "bounded-add", "shared-limit", "start-rate", "options", "lending", "latency",
                "latency-under-load", "bridge", "observed", "fib", "skynet", "nqueens", "matmul", "audit",
            ])
    }

    @Test("The cases without arguments include most cases of README, and exclude cases that take minutes")
    func quickCases() {
        let names = Set(Catalogue.quickCases.map(\.name))
        #expect(names.isSuperset(of: ["independent", "chain", "contended-add", "pending-memory", "latency", "bridge"]))
        #expect(names.isDisjoint(with: ["growth", "fan-out", "layers", "random-dag", "fib"]))
    }

    @Test("No two cases have the same title, and none has a subject twice")
    func titles() {
        #expect(Set(Catalogue.cases.map(\.title)).count == Catalogue.cases.count)
        for item in Catalogue.cases {
            #expect(Set(item.subjects.map(\.name)).count == item.subjects.count, "\(item.title)")
        }
    }

    @Test("Every subject of a case can do its work", arguments: Catalogue.cases.map(\.title))
    func work(title: String) async throws {
        MainThreadStandIn.start()
        let item = try #require(Catalogue.cases.first { $0.title == title })
        // The subjects in C++ start processes: see `ProcessTests`.
        for subject in item.subjects where ![.taskflow, .tbb].contains(subject.name) {
            let measurement = try await subject.measure(40)
            // A busy machine delays starts without a limit, so that no upper bound is tested.
            let time = measurement.nsPerOperation
            // A lateness is counted from the first start. If the first start is late, others are earlier than planned.
            #expect(time.isFinite && (time > 0 || title == "start-rate"), "\(subject.name)")
            if let bytes = measurement.bytesPerOperation { #expect(bytes.isFinite, "\(subject.name)") }
        }
    }

    @Test("A graph has the edges of its shape, all of them from earlier to later", arguments: [16, 100, 1000])
    func graphs(count: Int) {
        for graph in [Graph.chain, Graph.fanOut, Graph.fanIn, Graph.layers, Graph.random].map({ $0(count) }) {
            #expect(graph.count == count)
            #expect((0..<count).allSatisfy { node in graph.predecessors(of: node).allSatisfy { $0 < node } })
        }
        #expect(edges(of: Graph.chain(count)) == count - 1)
        #expect(edges(of: Graph.fanOut(count)) == count - 1)
        #expect(edges(of: Graph.fanIn(count)) == count - 1)
        #expect(Graph.fanIn(count).predecessors(of: count - 1).count == count - 1)
        #expect(Set(Graph.layers(count).predecessors(of: count - 1)).count == 8)
        #expect(edges(of: Graph.random(count)) == edges(of: Graph.random(count)))
    }

    private func edges(of graph: Graph) -> Int {
        (0..<graph.count).reduce(0) { $0 + graph.predecessors(of: $1).count }
    }
}

/// A thread that plays the role of the executable's main thread. Tests must not block their own main thread.
private enum MainThreadStandIn {
    static func start() { _ = started }

    private static let started: Void = Thread.detachNewThread { mainThread.serve() }
}
