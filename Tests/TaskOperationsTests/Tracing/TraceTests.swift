import Foundation
import TaskOperationsDiagnosis
import TaskOperationsExtras
import TestSupport
import Testing

@Suite("Traces that are read", .inTurns)
struct TraceTests {
    private let folder: TraceFolder

    init() throws { folder = try TraceFolder() }

    private static let names = [
        #"{"ph":"M","pid":1,"name":"process_name","args":{"name":"queue","width":2}}"#,
        #"{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":"permit 1"}}"#,
        #"{"ph":"M","pid":1,"tid":3,"name":"thread_name","args":{"name":"permit 2"}}"#,
    ]

    private func trace(_ lines: [String], end: String = "\n]\n") throws -> Trace {
        let url = folder["trace.json"]
        try ("[\n" + (Self.names + lines).joined(separator: ",\n") + end).write(
            to: url, atomically: true, encoding: .utf8)
        return try Trace(contentsOf: url)
    }

    private func slice(
        _ name: String, _ number: Int, thread: Int, _ times: ClosedRange<Double>, added: Double, ready: Double
    ) -> String {
        """
        {"ph":"X","pid":1,"tid":\(thread),"ts":\(times.lowerBound * 1e6),"dur":\
        \((times.upperBound - times.lowerBound) * 1e6),"name":"\(name)","args":{"op":\(number),\
        "added":\(added * 1e6),"ready":\(ready * 1e6)}}
        """
    }

    /// The line of a slice with these JSON numbers.
    private static func x(ts: String = "1", dur: String = "1", added: String = "0", ready: String = "0") -> String {
        #"{"ph":"X","pid":1,"tid":2,"ts":\#(ts),"dur":\#(dur),"args":{"op":1,"added":\#(added),"ready":\#(ready)}}"#
    }

    private func arrow(
        from dependency: Int, to dependent: Int, thread: Int, _ category: String = "dependency"
    ) -> String {
        """
        {"ph":"f","cat":"\(category)","pid":1,"tid":\(thread),"ts":0,"id":9,"bp":"e","name":"\(category)",\
        "args":{"op":\(dependent),"after":[1,\(dependency)]}}
        """
    }

    @Test("the critical path includes operations that bodies await")
    func awaited() throws {
        let trace = try trace([
            #"{"ph":"M","pid":1,"tid":4,"name":"thread_name","args":{"name":"permit 3"}}"#,
            slice("app", 1, thread: 2, 0...9, added: 0, ready: 0),
            slice("library", 2, thread: 3, 0...8, added: 0, ready: 0),
            slice("early", 3, thread: 4, 0...1, added: 0, ready: 0),
            slice("core", 4, thread: 4, 1...6, added: 0, ready: 0),
            arrow(from: 3, to: 1, thread: 2, "wait"), arrow(from: 2, to: 1, thread: 2, "wait"),
            arrow(from: 4, to: 2, thread: 3, "wait"),
        ])
        let path = trace.criticalPath
        #expect(path.map { trace.operations[$0.operation].name } == ["early", "core", "library", "app"])
        #expect(path.map(\.share) == [1, 5, 2, 1])
        #expect(path[3].cause == .wait(path[2].operation) && path[2].cause == .wait(path[1].operation))
        #expect(trace.explanation.contains("library, which its body awaited, finished"))
    }

    @Test("the critical path, the use of the width and the longest waits")
    func analysis() throws {
        let trace = try trace([
            slice("a", 1, thread: 2, 0...3, added: 0, ready: 0), slice("b", 2, thread: 3, 0...1, added: 0, ready: 0),
            slice("c", 3, thread: 3, 1...2, added: 0, ready: 0),
            slice("d", 4, thread: 2, 3...5, added: 0, ready: 3), arrow(from: 1, to: 4, thread: 2),
            arrow(from: 3, to: 4, thread: 2),
            slice("e", 5, thread: 3, 3...4, added: 0, ready: 3), arrow(from: 1, to: 5, thread: 3),
            slice("f", 6, thread: 3, 4...7, added: 0, ready: 1),
        ])
        #expect(trace.duration == 7)
        let path = trace.criticalPath
        #expect(path.map { trace.operations[$0.operation].name } == ["a", "e", "f"])
        #expect(path.map(\.share) == [3, 1, 3])
        #expect(path[1].cause == .dependency(path[0].operation) && path[2].cause == .permit(path[1].operation))
        #expect(path[0].cause == .added(after: nil))
        #expect(abs(trace.utilization(ofQueue: 0) - 11.0 / 14) < 1e-9)
        #expect(trace.longestWaits.map { trace.operations[$0].name } == ["f", "c"])
        let d = try #require(trace.operations.first { $0.name == "d" })
        #expect(d.waitedForDependencies == 3 && d.waitedForPermit == 0 && d.executed == 2)
    }

    @Test("the critical path continues before operations that were added late")
    func lateAddition() throws {
        let trace = try trace([
            slice("a", 1, thread: 2, 0...3, added: 0, ready: 0), slice("b", 2, thread: 2, 4...5, added: 4, ready: 4),
        ])
        let path = trace.criticalPath
        #expect(path.map(\.share) == [3, 2] && path.last?.cause == .added(after: path[0].operation))
    }

    @Test(
        "what is none of a trace is refused with its line and a reason",
        arguments: [
            (#"{"ph":"X","pid":1,"tid":2,"ts":1,"dur":1,"name":"a","args":{"op":1,"added":0"#, 5, "the line is cut"),
            (
                #"{"ph":"X","pid":9,"tid":2,"ts":1,"dur":1,"args":{"op":1,"added":0,"ready":0}}"#, 5,
                "process 9 has no name"
            ),
            (
                #"{"ph":"X","pid":1,"tid":7,"ts":1,"dur":1,"args":{"op":1,"added":0,"ready":0}}"#, 5,
                "thread 7 of process 1 has no name"
            ),
            (#"{"ph":"X","pid":1,"tid":2,"dur":1,"args":{"op":1,"added":0,"ready":0}}"#, 5, "\"ts\" is missing"),
            (
                #"{"ph":"X","pid":1,"tid":2,"ts":1,"dur":-1,"args":{"op":1,"added":0,"ready":0}}"#, 5,
                "\"dur\" is negative"
            ),
            (x(ts: "1e300"), 5, "\"ts\" is more than 30 years"), (x(ts: "-1"), 5, "\"ts\" is negative"),
            (x(dur: "1e16"), 5, "\"dur\" is more than 30 years"), (x(added: "-1e300"), 5, "\"added\" is negative"),
            (x(ready: "1e300"), 5, "\"ready\" is more than 30 years"),
            (x(added: "1"), 5, "\"ready\" is before \"added\""), (x(ready: "2"), 5, "\"ts\" is before \"ready\""),
            (x(ts: "1") + ",\n" + x(ts: "0"), 6, "\"ts\" is before an earlier slice"),
            (x(dur: "9") + ",\n" + x(dur: "1"), 6, "\"ts\" is before an earlier slice"),
            (x(ts: "1e999"), 5, "no event of a trace"),
            (
                #"{"ph":"M","pid":4,"tid":2,"name":"process_name","args":{"name":"q","width":-1}}"#, 5,
                "\"width\" is negative"
            ),
            (
                #"{"ph":"M","pid":4,"name":"process_name","args":{"name":"q"}},"# + "\n"
                    + #"{"ph":"X","pid":4,"tid":2,"ts":1,"dur":1,"args":{"op":1,"added":0,"ready":0}}"#, 6,
                "thread 2 of process 4 has no name"
            ),
            (#"{"ph":"Q","pid":1}"#, 5, "the phase \"Q\" is none"),
            (#"{"pid":1}"#, 5, "\"ph\" is missing"),
            (#"{"ph":"X","pid":"one"}"#, 5, "\"pid\" is no Int"),
            ("nonsense}", 5, "it is not JSON"),
            ("]\n{\"ph\":\"C\",\"pid\":1}", 6, "there is something after the end"),
        ])
    func wrongLines(line: String, number: Int, reason: String) throws {
        do {
            _ = try trace([line], end: "\n")
            Issue.record("\(line) was read")
        } catch TraceError.line(let found, let path, let text) {
            #expect(found == number && text.contains(reason), "\(text)")
            #expect(path.hasSuffix("trace.json"))
        }
    }

    @Test("a trace with the longest and shortest times is explained and drawn")
    func extremeTimes() throws {
        for times in [["0", "1e15", "0", "0"], ["0", "1e-300", "0", "0"], ["1e15", "0", "1e15", "1e15"]] {
            let line = Self.x(ts: times[0], dur: times[1], added: times[2], ready: times[3])
            let later = line.replacing("\"op\":1", with: "\"op\":2")
            let again = later.replacing("1e-300", with: "0.5")
            let trace = try trace([line, later, again])
            #expect(trace.explanation.hasPrefix("2 operations in ") && trace.timelineSVG().hasSuffix("</svg>\n"))
            #expect((0...1).contains(trace.utilization(ofQueue: 0)))
        }
    }

    @Test("an empty file, one that is no trace and one that is not there are refused")
    func noTrace() throws {
        for text in ["", "hello\n"] {
            try text.write(to: folder["wrong"], atomically: true, encoding: .utf8)
            #expect(throws: TraceError.self) { try Trace(contentsOf: folder["wrong"]) }
        }
        #expect(throws: TraceError.self) { try Trace(contentsOf: folder["missing"]) }
    }

    @Test("a trace without an end, as a crash leaves it, is read and says so")
    func unclosed() throws {
        let trace = try trace([slice("a", 1, thread: 2, 0...1, added: 0, ready: 0)], end: "")
        #expect(trace.operations.count == 1 && !trace.isComplete)
    }
}
