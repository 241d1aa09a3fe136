import Foundation
import TestSupport
import Testing

@testable import TaskOperationsDiagnosis

@Suite("Traces that are read", .inTurns)
struct TraceTests {
    private let folder: TraceFolder

    init() throws { folder = try TraceFolder() }

    @Test("the critical path includes operations that bodies await")
    func awaited() throws {
        let trace = Trace([
            TraceOperation(name: "app", lane: 0, times: 0...9, awaited: ["early", "library"]),
            TraceOperation(name: "library", lane: 1, times: 0...8, awaited: ["core"]),
            TraceOperation(name: "early", lane: 2, times: 0...1),
            TraceOperation(name: "core", lane: 2, times: 1...6),
        ])
        let path = trace.criticalPath
        #expect(path.map { trace.operations[$0.operation].name } == ["early", "core", "library", "app"])
        #expect(path.map(\.share) == [1, 5, 2, 1])
        #expect(path[3].cause == .wait(path[2].operation) && path[2].cause == .wait(path[1].operation))
        #expect(trace.longestChain.map { trace.operations[$0].name } == ["core", "library", "app"])
        #expect(trace.explanation.contains("library, which its body awaited, finished"))
        #expect(trace.textFaults == [])
    }

    @Test("the critical path, the longest chain, the use of the width and the longest waits")
    func analysis() throws {
        let trace = Trace([
            TraceOperation(name: "a", lane: 0, times: 0...3), TraceOperation(name: "b", lane: 1, times: 0...1),
            TraceOperation(name: "c", lane: 1, times: 1...2),
            TraceOperation(name: "d", lane: 0, times: 3...5, ready: 3, dependencies: ["a", "c"]),
            TraceOperation(name: "e", lane: 1, times: 3...4, ready: 3, dependencies: ["a"]),
            TraceOperation(name: "f", lane: 1, times: 4...7, ready: 1),
        ])
        #expect(trace.duration == 7)
        let path = trace.criticalPath
        #expect(path.map { trace.operations[$0.operation].name } == ["a", "e", "f"])
        #expect(path.map(\.share) == [3, 1, 3])
        #expect(path[1].cause == .dependency(path[0].operation) && path[2].cause == .permit(path[1].operation))
        #expect(path[0].cause == .added(after: nil))
        #expect(trace.longestChain.map { trace.operations[$0].name } == ["a", "d"])
        #expect(trace.explanation.contains("\nLongest chain of dependencies (2 operations, 5 s): a → d\n"))
        #expect(abs(trace.utilization(ofQueue: 0) - 11.0 / 14) < 1e-9)
        #expect(trace.longestWaits.map { trace.operations[$0].name } == ["f", "c"])
        let d = try #require(trace.operations.first { $0.name == "d" })
        #expect(d.waitedForDependencies == 3 && d.waitedForPermit == 0 && d.executed == 2)
        #expect(trace.textFaults == [])
    }

    @Test("the critical path continues before operations that were added late")
    func lateAddition() {
        let trace = Trace([
            TraceOperation(name: "a", times: 0...3), TraceOperation(name: "b", times: 4...5, added: 4, ready: 4),
        ])
        let path = trace.criticalPath
        #expect(path.map(\.share) == [3, 2] && path.last?.cause == .added(after: path[0].operation))
    }

    @Test("a trace with the longest and shortest times is explained and drawn")
    func extremeTimes() throws {
        for (times, added) in [(0...1e9, 0), (0...1e-306, 0), (1e9...1e9, 1e9), (-1e9...1e9, -1e9)] {
            let trace = Trace(
                ["a", "b", "c"].map { TraceOperation(name: $0, times: times, added: added, ready: added) })
            #expect(trace.explanation.hasPrefix("3 operations in ") && trace.timelineSVG().hasSuffix("</svg>\n"))
            #expect(trace.perfettoJSON.hasSuffix("]\n"))
            #expect((0...1).contains(trace.utilization(ofQueue: 0)))
        }
    }

    @Test("a trace without operations is explained, drawn and written")
    func empty() throws {
        #expect(Trace().explanation == "The trace contains no operation.\n")
        #expect(Trace().timelineSVG().hasSuffix("</svg>\n") && Trace().criticalPath.isEmpty)
        #expect(Trace().longestChain.isEmpty)
        #expect(Trace().textFaults == [])
    }

    @Test("an empty file, a file that is no recording, a folder and a file that is not there are refused with the path")
    func noTrace() throws {
        for text in ["", "hello\n", String(repeating: "text ", count: 2000)] {
            try text.write(toFile: folder["wrong"], atomically: true, encoding: .utf8)
            check("is no recording", at: folder["wrong"])
        }
        check("cannot be read: No such file", at: folder["missing"])
        check("cannot be read", at: folder.url.path)
    }

    private func check(_ reason: String, at path: String) {
        do {
            _ = try Trace(contentsOf: path)
            Issue.record("\(path) was read")
        } catch {
            #expect("\(error)".hasPrefix(path) && "\(error)".contains(reason), "\(error)")
        }
    }
}
