import TaskOperations

extension Trace {
    /// Returns the executions of the ended operations as spans of OpenTelemetry: a request of OTLP 1 in its JSON form,
    /// which a collector accepts at `/v1/traces` with the content type `application/json`.
    ///
    /// A span lasts from the start of the body to the end of the operation. Its parent is the operation whose body
    /// awaited it, if it was added after that body had started. Records do not tell which body added an operation. The
    /// links are the dependencies, and the other operations that the body awaited; these may be in another trace.
    ///
    /// | Attribute | Value |
    /// | --- | --- |
    /// | `error.type` | `timeout`, or `_OTHER` for another failure; missing if the operation has not failed |
    /// | `task_operations.queue.name` | the name of the queue |
    /// | `task_operations.operation.number` | the number of the operation in its queue |
    /// | `task_operations.outcome` | `succeeded`, `failed`, `cancelled`, `timed_out` or `dependency_failed` |
    /// | `task_operations.waited_for_dependencies` | seconds from the addition until all dependencies had finished |
    /// | `task_operations.waited_for_permit` | seconds from then to the start |
    ///
    /// The events `task_operations.lent` and `task_operations.returned` tell when the body had no permit. An operation
    /// without a name has the name `operation`, because names of spans should be few.
    ///
    /// The identifiers depend only on the recording and on the operation. So another trace of the same recorder has the
    /// same ones, and a server can recognize a span that was sent twice. The identifier of an OpenTelemetry trace is that
    /// of the outermost parent, and can therefore change until this parent has begun to await the operation. Takes
    /// linear time.
    ///
    /// - Parameter resource: The attributes of the process, such as `service.name`, which is `unknown_service` if it is
    ///   missing. The attribute `process.pid` is added.
    public func openTelemetrySpans(resource: [String: String] = [:]) -> String {
        let spans = SpanText(self)
        var attributes = resource.merging(["service.name": "unknown_service"]) { given, _ in given }
            .sorted { $0.key < $1.key }.map { JSONText.attribute($0.key, $0.value) }
        if process != 0, resource["process.pid"] == nil {
            attributes.append(JSONText.attribute("process.pid", Int(clamping: process)))
        }
        let ended = operations.indices.filter { operations[$0].outcome != .unfinished }
        return "{\"resourceSpans\":[{\"resource\":{\"attributes\":[\(attributes.joined(separator: ","))]},"
            + "\"scopeSpans\":[{\"scope\":{\"name\":\"TaskOperations\"},\"spans\":["
            + ended.map { "\n" + spans[$0] }.joined(separator: ",") + "\n]}]}]}\n"
    }
}

private struct SpanText {
    private let trace: Trace
    /// The parents of the operations; nil for a root.
    private var parents: [Int?]
    private var roots: [Int]

    init(_ trace: Trace) {
        self.trace = trace
        parents = trace.operations.map { _ in nil }
        roots = Array(trace.operations.indices)
        // Operations are in the order of their starts. A parent is before its children, so that there is no cycle.
        for (parent, operation) in trace.operations.enumerated() {
            for child in operation.awaited
            where child > parent && parents[child] == nil && trace.operations[child].added >= operation.start {
                parents[child] = parent
            }
        }
        for (child, parent) in parents.enumerated() { if let parent { roots[child] = roots[parent] } }
    }

    /// The JSON object of an operation's span.
    subscript(index: Int) -> String {
        let operation = trace.operations[index]
        var fields = [
            identifiers(of: index),
            "\"name\":\(operation.name == "#\(operation.number)" ? "\"operation\"" : operation.name.quotedForJSON)",
            // An internal span: it is neither a request nor a message.
            "\"kind\":1", "\"startTimeUnixNano\":\(time(operation.start))",
            "\"endTimeUnixNano\":\(time(operation.end))",
            "\"attributes\":[\(attributes(of: operation).joined(separator: ","))]",
        ]
        if let parent = parents[index] { fields.append("\"parentSpanId\":\"\(spanIdentifier(parent))\"") }
        let events = zip(operation.slices, operation.slices.dropFirst()).flatMap { last, next in
            [event("lent", at: last.end), event("returned", at: next.start)]
        }
        if !events.isEmpty { fields.append("\"events\":[\(events.joined(separator: ","))]") }
        let links =
            operation.dependencies.map { link($0, "dependency") }
            + operation.awaited.filter { parents[$0] != index }.map { link($0, "awaited") }
        if !links.isEmpty { fields.append("\"links\":[\(links.joined(separator: ","))]") }
        if let status = operation.outcome.spanStatus { fields.append("\"status\":\(status)") }
        return "{" + fields.joined(separator: ",") + "}"
    }

    private func attributes(of operation: Trace.Operation) -> [String] {
        var attributes = [
            JSONText.attribute("task_operations.queue.name", trace.queues[operation.queue].name),
            JSONText.attribute("task_operations.operation.number", operation.number),
            JSONText.attribute("task_operations.outcome", operation.outcome.attribute),
            JSONText.attribute("task_operations.waited_for_dependencies", operation.waitedForDependencies),
            JSONText.attribute("task_operations.waited_for_permit", operation.waitedForPermit),
        ]
        if let type = operation.outcome.errorType { attributes.append(JSONText.attribute("error.type", type)) }
        return attributes
    }

    private func event(_ name: String, at seconds: Double) -> String {
        "{\"timeUnixNano\":\(time(seconds)),\"name\":\"task_operations.\(name)\"}"
    }

    private func link(_ index: Int, _ kind: String) -> String {
        "{\(identifiers(of: index)),\"attributes\":[\(JSONText.attribute("task_operations.link", kind))]}"
    }

    // MARK: Identifiers and times

    private func identifiers(of index: Int) -> String {
        let trace = identifier(of: roots[index], 1) + identifier(of: roots[index], 2)
        return "\"traceId\":\"\(trace)\",\"spanId\":\"\(spanIdentifier(index))\""
    }

    private func spanIdentifier(_ index: Int) -> String { identifier(of: index, 3) }

    /// Returns eight bytes as hexadecimal digits. They depend on the recording, the operation and their purpose.
    private func identifier(of index: Int, _ purpose: UInt64) -> String {
        let operation = trace.operations[index]
        var value: UInt64 = 0
        let parts = [
            trace.wallTime, trace.process, trace.queues[operation.queue].number,
            UInt64(truncatingIfNeeded: operation.number), purpose,
        ]
        for part in parts { value = Self.mixed(value ^ part) }
        // Zero is not an identifier.
        let digits = String(value == 0 ? 1 : value, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// A step of SplitMix64 (Steele, Lea and Flood, 2014).
    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }

    /// The time in nanoseconds since 1970, as a JSON string.
    private func time(_ seconds: Double) -> String {
        let offset = Int64((seconds * 1e9).rounded())
        let (sum, overflows) =
            offset < 0
            ? trace.wallTime.subtractingReportingOverflow(offset.magnitude)
            : trace.wallTime.addingReportingOverflow(offset.magnitude)
        return "\"\(overflows ? offset < 0 ? 0 : .max : sum)\""
    }
}

extension Trace.Outcome {
    fileprivate var attribute: String {
        switch self {
        case .timedOut: "timed_out"
        case .dependencyFailed: "dependency_failed"
        case .succeeded, .failed, .cancelled, .unfinished: rawValue
        }
    }

    /// The value of `error.type`: `_OTHER` if the type is not known.
    fileprivate var errorType: String? {
        switch self {
        case .failed, .dependencyFailed: "_OTHER"
        case .timedOut: "timeout"
        case .succeeded, .cancelled, .unfinished: nil
        }
    }

    /// The status of a failure. Other spans have none, as the conventions require.
    fileprivate var spanStatus: String? {
        switch self {
        case .failed, .dependencyFailed: "{\"code\":2}"
        case .timedOut: "{\"code\":2,\"message\":\"timed out\"}"
        case .succeeded, .cancelled, .unfinished: nil
        }
    }
}

/// Attributes in the JSON form of OTLP.
private enum JSONText {
    static func attribute(_ key: String, _ value: String) -> String {
        "{\"key\":\(key.quotedForJSON),\"value\":{\"stringValue\":\(value.quotedForJSON)}}"
    }

    /// Integers of 64 bits are strings.
    static func attribute(_ key: String, _ value: Int) -> String {
        "{\"key\":\(key.quotedForJSON),\"value\":{\"intValue\":\"\(value)\"}}"
    }

    static func attribute(_ key: String, _ value: Double) -> String {
        "{\"key\":\(key.quotedForJSON),\"value\":{\"doubleValue\":\(value)}}"
    }
}
