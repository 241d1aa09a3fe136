import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsDiagnosis

@Suite("Statistics as OpenMetrics text", .inTurns, .endsInTime)
struct OpenMetricsTests {
    private struct WorkFailed: Error {}

    /// Statistics of two queues with hostile names, in known states, while a function reads them.
    private func withStatistics(
        keysOf limit: AsyncSemaphore? = nil, _ read: (OperationStatistics) async throws -> Void
    ) async throws {
        let statistics = limit.map { OperationStatistics(keysOf: $0) } ?? OperationStatistics()
        let gate = Gate()
        let hosts = limit ?? AsyncSemaphore(capacity: 100, perKey: 1)
        hosts.maxQueuedOperationCountPerKey = 2
        let queues = ["a \"b\" \\ c\nd", "µ", "µ", nil].map {
            TaskOperationQueue(.init(name: $0, maxConcurrentOperationCount: 2, maxQueuedOperationCount: 3))
        }
        queues[3].maxConcurrentOperationCount = .max
        for queue in queues { queue.addObserver(statistics) }
        let first = queues[0]
        first.addOperation([.limit(hosts, key: "k\"\n\\"), .retry(.immediately(attempts: 3))]) { throw WorkFailed() }
        for queue in queues[1...] { queue.addOperation(.limit(hosts, key: queue.name ?? "none")) {} }
        for queue in queues { try? await queue.waitUntilAllOperationsAreFinished() }
        first.addOperation(.limit(hosts, key: "x")) { await gate.pass() }
        await gate.waitForArrivals(1)
        first.addOperation(.weight(2)) {}
        // The limit has room for the first two. The queue has room for one operation less than is added at the end.
        for _ in 0..<5 { _ = first.addOperation(.limit(hosts, key: "x")) {} }
        for _ in 0..<2 { first.addOperation {} }
        let expected = limit == nil ? [4, 4, 1] : [3, 2, 1]
        await until {
            let groups = statistics.snapshot
            let counts = [groups.map(\.refused), groups.map(\.queued), groups.map(\.executing)]
            return counts.map { $0.reduce(0, +) } == expected
        }
        try await read(statistics)
        gate.open()
        for queue in queues { try? await queue.waitUntilAllOperationsAreFinished() }
    }

    @Test("the text has every count of each queue, under the names of OpenMetrics")
    func queues() async throws {
        try await withStatistics { statistics in
            let metrics = try OpenMetricsReader(statistics.openMetricsText())
            let name = "a \"b\" \\ c\nd"
            func value(_ metric: String, _ labels: [String: String] = [:], queue: String = name) -> Double? {
                let labels = labels.merging(["queue": queue]) { first, _ in first }
                return metrics.samples["task_operations_" + metric]?[labels]
            }
            #expect(value("added_total") == 9 && value("finished_total", ["outcome": "failed"]) == 1)
            #expect(value("retries_total") == 2 && value("queued") == 4 && value("executing") == 1)
            #expect(value("refused_total", ["by": "limit"]) == 3 && value("refused_total", ["by": "queue"]) == 1)
            #expect(value("width") == 2 && value("width_used_ratio") == 0.5)
            #expect(value("executed_seconds_count") == 1 && value("executed_seconds_bucket", ["le": "+Inf"]) == 1)
            #expect(value("waited_seconds_count") == 2)
            // Queues with the same name are one group. A queue without a limit of its width has none in the text.
            #expect(value("added_total", queue: "µ") == 2 && value("width", queue: "µ") == 4)
            #expect(value("added_total", queue: "unnamed queues") == 1)
            #expect(value("width", queue: "unnamed queues") == nil)
            #expect(metrics.units["task_operations_oldest_age_seconds"] == "seconds")
            let age = try #require(value("oldest_age_seconds"))
            #expect(age > 0 && value("oldest_age_seconds", queue: "µ") == 0)
        }
    }

    @Test("the text has the counts of each key")
    func keys() async throws {
        try await withStatistics(keysOf: AsyncSemaphore(capacity: 100, perKey: 1)) { statistics in
            let metrics = try OpenMetricsReader(statistics.openMetricsText())
            let failed = ["key": "k\"\n\\", "outcome": "failed"]
            #expect(metrics.samples["task_operations_finished_total"]?[failed] == 1)
            #expect(metrics.samples["task_operations_refused_total"]?[["key": "x", "by": "limit"]] == 3)
            #expect(metrics.samples["task_operations_width"] == nil)
        }
    }

    @Test("the text of statistics without groups is valid")
    func empty() throws {
        #expect(try OpenMetricsReader(OperationStatistics().openMetricsText()).samples.isEmpty)
    }

    @Test("a histogram counts a duration in the first bucket whose bound it does not exceed")
    func buckets() throws {
        var histogram = DurationHistogram()
        var exact: [Int] = []
        var generator = SystemRandomNumberGenerator()
        for power in 0..<40 {
            for _ in 0..<50 { exact.append(Int.random(in: 0...(1 << power), using: &generator)) }
            exact += [1000 << (power / 2), 1 + 1000 << (power / 2), 1250 << (power / 2)]
        }
        for nanoseconds in exact { histogram.add(nanoseconds: nanoseconds) }
        for (end, count) in histogram.cumulativeBuckets {
            #expect(count == exact.count { .nanoseconds($0) <= end }, "\(end)")
        }
        exact.sort()
        for rank in stride(from: 1, through: exact.count, by: 7) {
            let (bound, value) = (
                histogram.quantile((Double(rank) - 0.5) / Double(exact.count)), Duration.nanoseconds(exact[rank - 1])
            )
            #expect(value <= bound && bound <= max(.microseconds(1), value * 5 / 4 + .nanoseconds(1)), "\(value)")
        }
        histogram.add(nanoseconds: .max)
        #expect(histogram.p99 > .zero && histogram.buckets.last!.count == 1)
    }

    #if os(Linux) || os(macOS)
        @Test("the parser of Prometheus accepts the text", .enabled(if: PythonParser.exists))
        func prometheus() async throws {
            var counts: [Int] = []
            try await withStatistics { counts.append(try PythonParser.families(in: $0.openMetricsText())) }
            try await withStatistics(keysOf: AsyncSemaphore(capacity: 100, perKey: 1)) {
                counts.append(try PythonParser.families(in: $0.openMetricsText()))
            }
            #expect(counts == [11, 9])
        }
    #endif
}

#if os(Linux) || os(macOS)
    /// The parser of OpenMetrics in Prometheus' Python client, if it is installed.
    private enum PythonParser {
        static var exists: Bool { (try? run("import prometheus_client.openmetrics.parser", "")) != nil }

        /// Returns the number of metric families.
        static func families(in text: String) throws -> Int {
            let code = """
                import sys
                from prometheus_client.openmetrics.parser import text_string_to_metric_families
                text = sys.stdin.buffer.read().decode()
                print(len(list(text_string_to_metric_families(text))))
                """
            return try #require(Int(run(code, text)))
        }

        private static func run(_ code: String, _ input: String) throws -> String {
            let (process, standardInput, output) = (Process(), Pipe(), Pipe())
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["python3", "-c", code]
            (process.standardInput, process.standardOutput, process.standardError) = (standardInput, output, output)
            try process.run()
            standardInput.fileHandleForWriting.write(Data(input.utf8))
            try standardInput.fileHandleForWriting.close()
            let result = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            if process.terminationStatus != 0 { throw PythonError(output: result) }
            return result.trimmingCharacters(in: .whitespacesAndNewlines)
        }

        private struct PythonError: Error {
            let output: String
        }
    }
#endif

/// A strict reader of OpenMetrics 1.0: it accepts only what the specification's grammar and its rules for counters,
/// gauges and histograms allow.
private struct OpenMetricsReader {
    struct Invalid: Error {
        let line: String
        let reason: String
    }

    /// The values of each sample name, by labels.
    private(set) var samples: [String: [[String: String]: Double]] = [:]
    private(set) var units: [String: String] = [:]
    private var types: [String: String] = [:]
    private var family = ""
    /// The labels of the present metric without `le`, and those of the metrics before in the family.
    private var metric: [String: String]?
    private var metrics: Set<[String: String]> = []
    private var buckets: [(le: Double, count: Double)] = []

    init(_ text: String) throws {
        guard text.hasSuffix("# EOF\n") else { throw Invalid(line: "", reason: "the text does not end with # EOF") }
        // By scalars: a character can contain a line feed and a carriage return.
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for line in lines.dropLast(2) {
            if line.hasPrefix("# ") { try readMetadata(line) } else { try readSample(line) }
        }
        try endMetric("# EOF")
    }

    private func check(_ condition: Bool, _ line: String, _ reason: String) throws {
        if !condition { throw Invalid(line: line, reason: reason) }
    }

    private mutating func readMetadata(_ line: String) throws {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        try check(words.count == 4, line, "has no text")
        let (kind, name, text) = (words[1], words[2], words[3])
        try check(name.wholeMatch(of: /[a-zA-Z_:][a-zA-Z0-9_:]*/) != nil, line, "bad name")
        switch kind {
        case "TYPE":
            try endMetric(line)
            try check(types[name] == nil, line, "the family occurs twice")
            try check(["counter", "gauge", "histogram"].contains(text), line, "unknown type")
            (types[name], family, metrics) = (text, name, [])
            try check(!name.hasSuffix("_total") && !name.hasSuffix("_bucket"), line, "reserved suffix")
        case "UNIT":
            try check(name == family && name.hasSuffix("_" + text), line, "the unit is no suffix of the name")
            units[name] = text
        case "HELP": try check(name == family, line, "another family")
        default: throw Invalid(line: line, reason: "unknown kind of metadata")
        }
    }

    private mutating func readSample(_ line: String) throws {
        var rest = line[...]
        let name = String(rest.prefix { $0 != "{" })
        rest = rest.dropFirst(name.count + 1)
        var labels: [String: String] = [:]
        while !rest.hasPrefix("}") {
            guard let equals = rest.firstIndex(of: "=") else { throw Invalid(line: line, reason: "label without =") }
            let label = String(rest[..<equals])
            try check(label.wholeMatch(of: /[a-zA-Z_][a-zA-Z0-9_]*/) != nil, line, "bad label")
            rest = rest[equals...].dropFirst()
            try check(labels[label] == nil && rest.hasPrefix("\""), line, "bad label value")
            labels[label] = try quoted(&rest, line)
            if rest.hasPrefix(",") { rest = rest.dropFirst() }
        }
        rest = rest.dropFirst()
        try check(rest.hasPrefix(" "), line, "no value")
        let text = rest.dropFirst()
        try check(text.wholeMatch(of: /[-+]?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?/) != nil, line, "bad number")
        try check(samples[name]?[labels] == nil, line, "the sample occurs twice")
        samples[name, default: [:]][labels] = Double(text)!
        try read(name, labels, Double(text)!, line)
    }

    private func quoted(_ rest: inout Substring, _ line: String) throws -> String {
        var scalars = rest.unicodeScalars.dropFirst()
        var value = String.UnicodeScalarView()
        while let scalar = scalars.popFirst(), scalar != "\"" {
            if scalar != "\\" {
                value.append(scalar)
                continue
            }
            switch scalars.popFirst() {
            case "n": value.append("\n")
            case "\\": value.append("\\")
            case "\"": value.append("\"")
            default: throw Invalid(line: line, reason: "bad escape")
            }
        }
        rest = Substring(scalars)
        return String(value)
    }

    private mutating func read(_ name: String, _ labels: [String: String], _ value: Double, _ line: String) throws {
        var own = labels
        own["le"] = nil
        // Outcomes and causes are metrics of their own.
        if own != metric {
            try endMetric(line)
            try check(metrics.insert(own).inserted, line, "the samples of a metric are not together")
            metric = own
        }
        switch types[family] {
        case "counter": try check(name == family + "_total" && value >= 0, line, "no counter")
        case "gauge": try check(name == family, line, "no gauge")
        default:
            switch name {
            case family + "_bucket":
                let bound = labels["le"] == "+Inf" ? Double.infinity : labels["le"].flatMap(Double.init)
                guard let bound else { throw Invalid(line: line, reason: "bad bound") }
                try check(bound > buckets.last?.le ?? -1 && value >= buckets.last?.count ?? 0, line, "not cumulative")
                buckets.append((bound, value))
            case family + "_count":
                try check(buckets.last?.le == .infinity && buckets.last?.count == value, line, "not the last bucket")
            case family + "_sum": try check(value >= 0, line, "negative")
            default: throw Invalid(line: line, reason: "no sample of a histogram")
            }
        }
    }

    private mutating func endMetric(_ line: String) throws {
        if types[family] == "histogram", let metric {
            let parts = ["_count", "_sum"].filter { samples[family + $0]?[metric] != nil }
            try check(parts.count == 2 && buckets.last?.le == .infinity, line, "an incomplete histogram")
        }
        (metric, buckets) = (nil, [])
    }
}
