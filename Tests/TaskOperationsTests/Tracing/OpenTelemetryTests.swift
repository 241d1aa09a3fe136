import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsDiagnosis

@Suite("Traces as spans of OpenTelemetry", .inTurns, .endsInTime)
struct OpenTelemetryTests {
    private struct WorkFailed: Error {}

    /// The trace of operations with every outcome, with a dependency, and with bodies that await operations.
    private func recorded() async throws -> (recorder: FlightRecorder, queues: [TaskOperationQueue], gate: Gate) {
        let queue = TaskOperationQueue(name: "a \"b\" \\ \u{1} é", maxConcurrentOperationCount: 2)
        let other = TaskOperationQueue()
        let recorder = FlightRecorder(of: [queue, other])
        let gate = Gate()
        let early = queue.addOperation(name: "early") {}
        try await early.value
        let outer = queue.addOperation(name: "outer", dependencies: [early]) {
            try await early.value
            // An operation that has ended would not be awaited.
            let child = other.addOperation(name: "child") {
                let child = AnyTaskOperation.current!
                await until { child.waiterCount > 0 }
                let inner = other.addOperation {
                    let inner = AnyTaskOperation.current!
                    await until { inner.waiterCount > 0 }
                }
                try await inner.value
            }
            try await child.value
        }
        try await outer.value
        _ = await queue.addOperation(name: "failed") { throw WorkFailed() }.result
        _ = await queue.addOperation(name: "late", .timeout(.milliseconds(1))) {
            try await Task.sleep(for: .seconds(100))
        }.result
        let cancelled = queue.addOperation(name: "cancelled") { try await Task.sleep(for: .seconds(100)) }
        await until { cancelled.state == .executing }
        cancelled.cancel()
        _ = await cancelled.result
        queue.addOperation(name: "unfinished") { await gate.pass() }
        await gate.waitForArrivals(1)
        // An end can be recorded after the task that awaits it continues.
        await until { recorder.trace().operations.count { $0.outcome != .unfinished } == 7 }
        return (recorder, [queue, other], gate)
    }

    @Test("each ended operation is a span with its time, parent, links, status and attributes")
    func spans() async throws {
        let begin = Date.now
        let (recorder, queues, gate) = try await recorded()
        let text = recorder.trace().openTelemetrySpans(resource: ["service.name": "shop \"1\""])
        let spans = try SpanReader(text).spans
        #expect(
            spans.map(\.name).sorted() == ["cancelled", "child", "early", "failed", "late", "operation", "outer"])
        func span(_ name: String) throws -> SpanReader.Span { try #require(spans.first { $0.name == name }) }
        let (outer, child, early) = (try span("outer"), try span("child"), try span("early"))
        let inner = try span("operation")
        #expect(outer.parent == nil && child.parent == outer.id && inner.parent == child.id && early.parent == nil)
        #expect(child.trace == outer.trace && inner.trace == outer.trace && early.trace != outer.trace)
        #expect(outer.start <= child.start && child.end <= outer.end)
        // The operation depends on `early`, and awaits it, too. The child is no link.
        #expect(outer.links.map(\.id).allSatisfy { $0 == early.id } && outer.links.first?.trace == early.trace)
        #expect(Set(outer.links.map(\.kind)).isSuperset(of: ["dependency"]))
        #expect(try spans.filter { $0.status == 2 }.map(\.id) == [span("failed").id, span("late").id])
        #expect(try span("late").attributes["error.type"] == "timeout")
        #expect(try span("failed").attributes["error.type"] == "_OTHER" && outer.attributes["error.type"] == nil)
        #expect(try span("cancelled").attributes["task_operations.outcome"] == "cancelled")
        #expect(outer.attributes["task_operations.queue.name"] == "a \"b\" \\ \u{1} é")
        #expect(outer.attributes["task_operations.operation.number"] == "2")
        // The ticks of a short recording are calibrated in half a millisecond.
        let (first, last) = (begin.timeIntervalSince1970 - 0.05, Date.now.timeIntervalSince1970 + 0.05)
        for span in spans { #expect(Double(span.start) / 1e9 > first && Double(span.end) / 1e9 < last, "\(span)") }
        gate.open()
        for queue in queues { try? await queue.waitUntilAllOperationsAreFinished() }
        recorder.stop()
    }

    @Test("a span has the same identifiers in each trace of a recorder")
    func identifiers() async throws {
        let (recorder, queues, gate) = try await recorded()
        let first = try SpanReader(recorder.trace().openTelemetrySpans()).spans
        gate.open()
        for queue in queues { try? await queue.waitUntilAllOperationsAreFinished() }
        recorder.stop()
        let second = try SpanReader(recorder.trace().openTelemetrySpans()).spans
        #expect(second.count == first.count + 1)
        let byName = Dictionary(uniqueKeysWithValues: second.map { ($0.name, $0) })
        for span in first {
            #expect(byName[span.name]?.id == span.id && byName[span.name]?.trace == span.trace)
        }
        // The same operations have other identifiers in another recording.
        let another = try await recorded()
        defer { another.gate.open() }
        let third = try SpanReader(another.recorder.trace().openTelemetrySpans()).spans
        #expect(Set(third.map(\.id)).isDisjoint(with: first.map(\.id)))
        another.recorder.stop()
    }

    @Test("a trace without operations, and one with impossible times, have valid spans")
    func extremes() throws {
        #expect(try SpanReader(Trace().openTelemetrySpans()).spans.isEmpty)
        for (wallTime, times) in [(UInt64.max, (0.0, 1e9)), (0, (-1e9, -1)), (1_700_000_000_000_000_000, (-1e9, 1e9))] {
            var trace = Trace()
            trace.wallTime = wallTime
            trace.queues = [Trace.Queue(name: "", width: nil)]
            let slice = Trace.Slice(start: times.0, end: times.1, lane: 0)
            // Each one claims to have awaited all others, and itself.
            trace.operations = (0..<3).map { number in
                Trace.Operation(
                    name: "\(number)", queue: 0, number: number, added: times.0, ready: times.0, slices: [slice],
                    outcome: .succeeded, dependencies: [0, 1, 2], awaited: [2, 1, 0])
            }
            #expect(try SpanReader(trace.openTelemetrySpans()).spans.map(\.parent).count { $0 == nil } == 1)
        }
    }
}

/// A strict reader of the JSON form of OTLP: it knows the fields of `trace.proto`, and accepts no other ones, no
/// identifiers but those in hexadecimal digits, no enumerations but numbers, and no 64-bit integers but strings.
private struct SpanReader {
    struct Invalid: Error { let reason: String }

    struct Span {
        var id = "", trace = "", name = ""
        var parent: String?
        var start: UInt64 = 0
        var end: UInt64 = 0
        var status = 0
        var attributes: [String: String] = [:]
        var links: [(id: String, trace: String, kind: String)] = []
    }

    private(set) var spans: [Span] = []

    init(_ text: String) throws {
        let request = try JSONSerialization.jsonObject(with: Data(text.utf8))
        for resourceSpans in try Self.list(Self.fields(request, ["resourceSpans"])["resourceSpans"]) {
            let fields = try Self.fields(resourceSpans, ["resource", "scopeSpans", "schemaUrl"])
            let resource = try Self.fields(fields["resource"], ["attributes", "droppedAttributesCount"])
            guard try Self.attributes(resource["attributes"])["service.name"] != nil else {
                throw Invalid(reason: "no service.name")
            }
            for scopeSpans in try Self.list(fields["scopeSpans"]) {
                let fields = try Self.fields(scopeSpans, ["scope", "spans", "schemaUrl"])
                _ = try Self.fields(fields["scope"], ["name", "version", "attributes", "droppedAttributesCount"])
                for span in try Self.list(fields["spans"]) { spans.append(try Self.span(span)) }
            }
        }
        guard Set(spans.map(\.id)).count == spans.count else { throw Invalid(reason: "a span occurs twice") }
    }

    private static func span(_ value: Any) throws -> Span {
        let fields = try fields(
            value,
            [
                "traceId", "spanId", "traceState", "parentSpanId", "flags", "name", "kind", "startTimeUnixNano",
                "endTimeUnixNano", "attributes", "droppedAttributesCount", "events", "droppedEventsCount", "links",
                "droppedLinksCount", "status",
            ])
        var span = Span()
        (span.trace, span.id) = (try identifier(fields["traceId"], 32), try identifier(fields["spanId"], 16))
        if fields["parentSpanId"] != nil { span.parent = try identifier(fields["parentSpanId"], 16) }
        span.name = try string(fields["name"])
        guard let kind = fields["kind"] as? Int, (0...5).contains(kind) else { throw Invalid(reason: "bad kind") }
        (span.start, span.end) = (try time(fields["startTimeUnixNano"]), try time(fields["endTimeUnixNano"]))
        if span.start > span.end { throw Invalid(reason: "the end is before the start") }
        span.attributes = try attributes(fields["attributes"])
        for event in try list(fields["events"] ?? []) {
            let fields = try Self.fields(event, ["timeUnixNano", "name", "attributes", "droppedAttributesCount"])
            let moment = try time(fields["timeUnixNano"])
            guard try !string(fields["name"]).isEmpty, moment >= span.start, moment <= span.end else {
                throw Invalid(reason: "an event without a name, or outside of the span")
            }
        }
        for link in try list(fields["links"] ?? []) {
            let fields = try Self.fields(
                link, ["traceId", "spanId", "traceState", "attributes", "droppedAttributesCount", "flags"])
            let kind = try attributes(fields["attributes"])["task_operations.link"]
            span.links.append(
                (try identifier(fields["spanId"], 16), try identifier(fields["traceId"], 32), kind ?? ""))
        }
        if let value = fields["status"] {
            let status = try Self.fields(value, ["code", "message"])
            guard let code = status["code"] as? Int, (0...2).contains(code) else { throw Invalid(reason: "bad status") }
            span.status = code
        }
        return span
    }

    private static func fields(_ value: Any?, _ names: Set<String>) throws -> [String: Any] {
        guard let fields = value as? [String: Any] else { throw Invalid(reason: "no object with \(names)") }
        if let other = fields.keys.first(where: { !names.contains($0) }) {
            throw Invalid(reason: "unknown field \(other)")
        }
        return fields
    }

    private static func list(_ value: Any?) throws -> [Any] {
        guard let list = value as? [Any] else { throw Invalid(reason: "no list") }
        return list
    }

    private static func string(_ value: Any?) throws -> String {
        guard let string = value as? String else { throw Invalid(reason: "no string") }
        return string
    }

    private static func identifier(_ value: Any?, _ count: Int) throws -> String {
        let digits = try string(value)
        guard digits.count == count, digits.allSatisfy(\.isHexDigit), digits.contains(where: { $0 != "0" }) else {
            throw Invalid(reason: "bad identifier \(digits)")
        }
        return digits
    }

    private static func time(_ value: Any?) throws -> UInt64 {
        guard let time = UInt64(try string(value)) else { throw Invalid(reason: "bad time") }
        return time
    }

    /// The attributes with their values as text.
    private static func attributes(_ value: Any?) throws -> [String: String] {
        var attributes: [String: String] = [:]
        for attribute in try list(value ?? []) {
            let fields = try fields(attribute, ["key", "value"])
            let key = try string(fields["key"])
            guard let value = fields["value"] as? [String: Any], value.count == 1, attributes[key] == nil else {
                throw Invalid(reason: "bad attribute \(key)")
            }
            if let text = value["stringValue"] as? String {
                attributes[key] = text
            } else if let digits = value["intValue"] as? String, Int64(digits) != nil {
                attributes[key] = digits
            } else if let number = value["doubleValue"] as? Double, number.isFinite {
                attributes[key] = "\(number)"
            } else {
                throw Invalid(reason: "bad value of \(key)")
            }
        }
        return attributes
    }
}
