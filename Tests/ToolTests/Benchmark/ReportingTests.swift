import Foundation
import TestSupport
import Testing

@testable import benchmark

#if canImport(FoundationXML)
    import FoundationXML
#endif

@Suite("Benchmark: reports", .inTurns)
struct ReportingTests {
    private let figures = [
        Self.figure(.taskOperationQueue, size: 1000, ns: 400), Self.figure(.operationQueue, size: 1000, ns: 40_000),
        Self.figure(.taskOperationQueue, size: 10_000, ns: 410),
        Self.figure(.operationQueue, size: 10_000, ns: 410_000),
        Figure(
            caseName: "pending-memory", variant: nil, subject: .task, size: 10, rounds: 5,
            nsPerOperation: Spread([5]), bytesPerOperation: 1500, threads: nil),
    ]

    @Test("The picture of adapted capacities in the documentation shows the present simulation")
    func capacityChart() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let picture = package.appending(
            path: "Sources/TaskOperationsExtras/TaskOperationsExtras.docc/adapting-capacity.svg")
        let isPresent = try String(contentsOf: picture, encoding: .utf8) == CapacityChart.svg() + "\n"
        #expect(isPresent, "swift run benchmark --capacity-chart \(picture.standardizedFileURL.path)")
        guard case .drawCapacity("a.svg") = try Arguments(["--capacity-chart", "a.svg"]).action else {
            Issue.record("The option is not read.")
            return
        }
    }

    @Test("A figure is an object with every key, and null where there is nothing to say")
    func json() throws {
        let objects = try figures.map { figure in
            try #require(JSONSerialization.jsonObject(with: Data(JSON.text(figure).utf8)) as? [String: Any])
        }
        for object in objects {
            #expect(
                Set(object.keys) == [
                    "case", "variant", "subject", "n", "nsPerOperation", "minNs", "maxNs", "bytesPerOperation",
                    "threads",
                ])
        }
        #expect(objects[0]["case"] as? String == "growth")
        #expect(objects[0]["nsPerOperation"] as? Double == 400)
        #expect(objects[0]["minNs"] as? Double == 399)
        #expect(objects[0]["bytesPerOperation"] is NSNull)
        #expect(objects[4]["bytesPerOperation"] as? Double == 1500)
        #expect(objects[4]["threads"] is NSNull)
    }

    @Test("A ratio is taken between figures of one case and size only")
    func ratios() {
        #expect(figures.ratio(to: figures[0]) == nil)
        #expect(figures.ratio(to: figures[1]) == 0.01)
        #expect(figures.ratio(to: figures[3]) == 0.001)
        #expect(figures.ratio(to: figures[4]) == nil)
    }

    @Test("The table has a line for each figure, and the growth")
    func table() {
        let table = Table([.growthOfChain, .pendingMemory])
        let lines = table.lines(figures)
        #expect(lines.count { $0.contains("growth, chain  ") } == 4)
        let columns = table.head.split(separator: "\n").last
        #expect(Set(lines.map(\.count)) == [columns?.count])
        #expect(
            table.foot(figures).contains {
                $0.contains("OperationQueue: with 10,000 operations, each costs 10.25 times")
            })
    }

    @Test("The markdown table has a line for each comparison and as many cells in each")
    func markdown() {
        let markdown = Markdown([.growthOfChain, .pendingMemory], subjects: [.taskOperationQueue, .operationQueue])
        let comparisons = [figures[0...1], figures[2...3], figures[4...4]].map(Array.init)
        let lines =
            markdown.head.split(separator: "\n").filter { $0.hasPrefix("|") }.map(String.init)
            + comparisons.flatMap(markdown.lines)
        #expect(lines.count == 2 + 3)
        #expect(Set(lines.map { $0.count { $0 == "|" } }).count == 1)
        #expect(lines[2].contains("| growth, chain | 1,000 | 400 | 40,000 (0.010) |"))
    }

    @Test("The chart is well-formed and draws a line for each subject of each kind")
    func chart() throws {
        let svg = Chart.svg(figures)
        let parser = XMLParser(data: Data(svg.utf8))
        #expect(parser.parse())
        let lines = svg.split(separator: "\n")
        #expect(lines.contains { $0.hasPrefix("<polyline class=\"OperationQueue\"") })
        #expect(!svg.contains("nan"))
    }

    private static func figure(_ subject: SubjectName, size: Int, ns: Double) -> Figure {
        Figure(
            caseName: "growth", variant: "chain", subject: subject, size: size, rounds: 3,
            nsPerOperation: Spread([ns - 1, ns, ns + 1]), bytesPerOperation: nil, threads: 4)
    }
}
