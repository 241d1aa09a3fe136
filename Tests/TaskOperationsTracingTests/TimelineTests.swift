import Foundation
import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsExpectations
import TaskOperationsTracing
import Testing

@Suite("Traces that are drawn and explained", .inTurns, .timeLimit(.minutes(10)))
struct TimelineTests {
    private let folder: TraceFolder

    init() throws { folder = try TraceFolder() }

    private func trace(operations count: Int, widths: [Int]) async throws -> Trace {
        let url = folder["trace.json"]
        let recorder = try TraceRecorder(writingTo: url)
        let queues = widths.map { TaskOperationQueue(name: "queue <\($0)>", maxConcurrentOperationCount: $0) }
        for queue in queues { queue.addObserver(recorder) }
        var last: TaskOperation<Void>?
        for number in 0..<count {
            let dependencies = number.isMultiple(of: 5) ? last.map { [$0] } ?? [] : []
            let length = Duration.microseconds(200 + number * 7919 % 3000)
            last = queues[number % queues.count].addOperation(name: "step & \(number)", dependencies: dependencies) {
                try await Task.sleep(for: length)
                if number % 9 == 4 { throw CocoaError(.fileNoSuchFile) }
            }
        }
        for queue in queues {
            try await queue.waitUntilAllOperationsAreFinished()
            queue.removeObserver(recorder)
        }
        try await Task.sleep(for: .milliseconds(20))
        try recorder.finish()
        return try Trace(contentsOf: url)
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

    @Test("an explanation has queues, the critical path and the longest waits")
    func explanation() async throws {
        let trace = try await trace(operations: 30, widths: [2])
        let text = trace.explanation
        #expect(text.hasPrefix("30 operations in "))
        for part in ["queue <2>", "Critical path", "returned its permit", "Longest waits"] {
            #expect(text.contains(part), "\(text)")
        }
    }
}

/// Checks that text is a well-formed document, and counts its elements by name. It supports only the part of XML that
/// the charts use.
private struct XMLChecker {
    private(set) var problem: String?
    private(set) var elements: [String: Int] = [:]

    init(_ text: String) {
        var open: [String] = []
        for piece in text.split(separator: "<").dropFirst(text.hasPrefix("<") ? 0 : 1) {
            guard let end = piece.firstIndex(of: ">") else {
                problem = "a tag is not closed: \(piece)"
                return
            }
            let tag = piece[..<end]
            if tag.hasPrefix("/") {
                if open.popLast() != String(tag.dropFirst()) { problem = "</\(tag.dropFirst())> closes another" }
            } else {
                let name = String(tag.prefix { $0.isLetter })
                elements[name, default: 0] += 1
                if !tag.hasSuffix("/") { open.append(name) }
                if !tag.count(where: { $0 == "\"" }).isMultiple(of: 2) {
                    problem = "a quotation mark is missing: \(tag)"
                }
            }
            let content = piece[piece.index(after: end)...]
            for entity in content.split(separator: "&", omittingEmptySubsequences: false).dropFirst()
            where !["amp;", "lt;", "gt;", "quot;"].contains(where: entity.hasPrefix) {
                problem = "an ampersand is not escaped: \(content)"
            }
        }
        if !open.isEmpty { problem = "\(open) are not closed" }
    }
}
