import Foundation
import TaskOperations
import TaskOperationsDiagnosis
import TestSupport
import Testing

@Suite("Traces that are drawn and explained", .inTurns, .endsInTime)
struct TimelineTests {
    private func trace(operations count: Int, widths: [Int]) async throws -> Trace {
        let queues = widths.map { TaskOperationQueue(name: "queue <\($0)>", maxConcurrentOperationCount: $0) }
        let recorder = FlightRecorder(of: queues)
        var last: TaskOperation<Void>?
        for number in 0..<count {
            let dependencies = number.isMultiple(of: 5) ? last.map { [$0] } ?? [] : []
            let length = Duration.microseconds(200 + number * 7919 % 3000)
            last = queues[number % queues.count].addOperation(name: "step & \(number)", dependencies: dependencies) {
                try await Task.sleep(for: length)
                if number % 9 == 4 { throw CocoaError(.fileNoSuchFile) }
            }
        }
        for queue in queues { try? await queue.waitUntilAllOperationsAreFinished() }
        recorder.stop()
        return recorder.trace()
    }

    @Test(
        "a chart is an XML document with a bar for each operation, in light and dark",
        arguments: [(20, [3, 1]), (2000, [4, 40])])
    func timeline(count: Int, widths: [Int]) async throws {
        let trace = try await trace(operations: count, widths: widths)
        let svg = trace.timelineSVG()
        let parser = XMLChecker(svg)
        #expect(parser.problem == nil)
        #expect(parser.elements["title", default: 0] >= count)
        #expect(svg.contains("prefers-color-scheme: dark") && svg.contains("class=\"critical\" x="))
        #expect(svg.utf8.count < 1_000_000)
        if let folder = ProcessInfo.processInfo.environment["TIMELINES"] {
            try svg.write(toFile: "\(folder)/\(count).svg", atomically: true, encoding: .utf8)
        }
    }

    /// Names with all scalars that XML gives a meaning to or forbids, also before a combining mark.
    private static let hostileNames = [
        "<\u{301}b", "&\u{301}", "\"\u{338}>\u{338}", "\u{FFFE}\u{FFFF}\u{1}", "a\r\nb\u{85}c",
    ]

    private func hostileTrace() async throws -> Trace {
        try await trace(operations: Self.hostileNames, queues: ["<\u{338}queue\n>"])
    }

    /// Returns the trace of queues of width 1, each with an operation of each name.
    private func trace(operations names: [String], queues queueNames: [String]) async throws -> Trace {
        let queues = queueNames.map { TaskOperationQueue(name: $0, maxConcurrentOperationCount: 1) }
        let recorder = FlightRecorder(of: queues)
        for queue in queues {
            for name in names { queue.addOperation(name: name) { try await Task.sleep(for: .milliseconds(2)) } }
            try await queue.waitUntilAllOperationsAreFinished()
        }
        recorder.stop()
        let trace = recorder.trace()
        // A name is kept up to 256 bytes.
        #expect(trace.queues.map(\.name) == queueNames.map { String($0.prefix(256)) })
        return trace
    }

    @Test("a chart with names of any scalars is an XML document")
    func hostileCharts() async throws {
        let svg = try await hostileTrace().timelineSVG()
        let parser = XMLChecker(svg)
        #expect(parser.problem == nil)
        #expect(svg.contains("&lt;\u{301}b") && svg.contains("&lt;\u{338}queue &gt;"))
    }

    @Test("an explanation has a line for each name, even if the name has several lines")
    func hostileExplanations() async throws {
        let text = try await hostileTrace().explanation
        #expect(!text.unicodeScalars.contains { $0 != "\n" && $0.properties.generalCategory == .control }, "\(text)")
        #expect(text.contains("<\u{338}queue >  5 ") && text.contains("  a  b c"), "\(text)")
    }

    @Test("a width outside the range is replaced")
    func widths() async throws {
        await #expect(processExitsWith: .success) {
            let queue = TaskOperationQueue(name: "work")
            let recorder = FlightRecorder(of: [queue])
            try await queue.addOperation {}.value
            try await queue.waitUntilAllOperationsAreFinished()
            recorder.stop()
            let trace = recorder.trace()
            for (width, drawn) in [(Int.max, 100_000), (.min, 400), (399, 400), (1000, 1000)] {
                #expect(trace.timelineSVG(width: width).contains("width=\"\(drawn)\""))
            }
        }
    }

    @Test("an explanation has queues, the critical path and the longest waits")
    func explanation() async throws {
        let trace = try await trace(operations: 30, widths: [2])
        let text = trace.explanation
        #expect(text.hasPrefix("30 operations in "))
        for part in ["queue <2>", "Critical path", "returned its permit", "Longest waits"] {
            #expect(text.contains(part), "\(text)")
        }
    }

    @Test("An explanation shortens long names, so that a long name does not widen the rows of other names")
    func longNames() async throws {
        let long = String(repeating: "long ", count: 2000)
        let text = try await trace(operations: [long, "brief"], queues: [long, "short"]).explanation
        let lines = text.split(separator: "\n")
        #expect(lines.allSatisfy { $0.count < 300 }, "\(lines.map(\.count))")
        for row in ["  long long", "  short ", "  brief "] { #expect(text.contains(row), "\(text)") }
        #expect(text.contains("long…  2 "), "\(text)")
    }
}

/// Checks that text is a well-formed document, and counts its elements by name. It supports only the part of XML that
/// the charts use.
private struct XMLChecker {
    private(set) var problem: String?
    private(set) var elements: [String: Int] = [:]

    init(_ text: String) {
        var open: [String] = []
        // A combining mark after a scalar does not change its meaning, so the text is split at scalars.
        for piece in text.unicodeScalars.split(separator: "<").map({ String($0) }) {
            guard let end = piece.unicodeScalars.firstIndex(of: ">") else {
                problem = "a tag is not closed: \(piece)"
                return
            }
            let tag = piece.unicodeScalars[..<end]
            if tag.first == "/" {
                if open.popLast() != String(tag.dropFirst()) { problem = "</\(tag.dropFirst())> closes another" }
            } else {
                let name = String(tag.prefix { $0.properties.isAlphabetic })
                elements[name, default: 0] += 1
                if tag.last != "/" { open.append(name) }
                if !tag.count(where: { $0 == "\"" }).isMultiple(of: 2) {
                    problem = "a quotation mark is missing: \(tag)"
                }
            }
            let content = piece.unicodeScalars[end...].dropFirst()
            if content.contains(">") || content.contains("\"") { problem = "a scalar is not escaped: \(content)" }
            for entity in content.split(separator: "&", omittingEmptySubsequences: false).dropFirst()
            where !["amp;", "lt;", "gt;", "quot;"].contains(where: { entity.starts(with: $0.unicodeScalars) }) {
                problem = "an ampersand is not escaped: \(content)"
            }
        }
        if !open.isEmpty { problem = "\(open) are not closed" }
        let forbidden = text.unicodeScalars.first {
            $0.value < 32 && $0 != "\n" || [0xFFFE, 0xFFFF].contains($0.value)
        }
        if let forbidden { problem = "a document may not contain U+\(String(forbidden.value, radix: 16))" }
    }
}
