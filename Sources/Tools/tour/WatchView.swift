import TaskOperationsDiagnosis

/// The text of `tour watch`: the queues of a recording, and the details of one of them.
struct WatchView {
    enum Order: String, CaseIterable {
        case name, queued, executing, rate, oldest
    }

    /// The time before the end from which rates and percentiles are computed, in seconds.
    static let window = 10.0

    var order = Order.queued
    /// The index of the selected row; nil if no queue is selected.
    var selected: Int?

    /// What one queue does at the end of a trace.
    private struct Row {
        let name: String
        let width: Int?
        var executing: [Trace.Operation] = []
        var waiting: [Trace.Waiting] = []
        var ended: [Trace.Operation] = []

        var oldest: Double? { waiting.first?.added }
        var failed: Int { ended.count { $0.outcome != .succeeded } }
    }

    /// The text for a terminal of a size; all rows if there is no size.
    func text(of trace: Trace, height: Int = .max) -> String {
        let rows = rows(of: trace)
        let begin = max(trace.end - Self.window, 0)
        let length = max(0.001, trace.end - begin)
        var lines = [
            "\(trace.isComplete ? "recorded" : "running") for \(duration(trace.end)): \(rows.count) queues, "
                + "\(rows.reduce(0) { $0 + $1.executing.count }) executing, "
                + "\(rows.reduce(0) { $0 + $1.waiting.count }) waiting"
        ]
        let titles = [
            "queue", "used", "queued", "oldest", "ends/s", "failed", "wait p50", "wait p99", "body p50", "body p99",
        ]
        let shown = rows.prefix(max(1, height == .max ? rows.count : height / 2))
        let table = shown.map { row in
            let (waits, bodies) = (row.ended.map(\.waitedForPermit).sorted(), row.ended.map(\.executed).sorted())
            return [
                row.name.shortened(to: 30),
                "\(row.executing.count { $0.slices.last?.end == trace.end })/\(row.width.map(String.init) ?? "-")",
                "\(row.waiting.count)", row.oldest.map { duration(trace.end - $0) } ?? "-",
                rate(Double(row.ended.count) / length), "\(row.failed)",
                quantile(waits, 0.5), quantile(waits, 0.99), quantile(bodies, 0.5), quantile(bodies, 0.99),
            ]
        }
        let aligned = Table.aligned([titles] + table)
        lines += ["", "  " + aligned[0]]
        for (index, line) in aligned.dropFirst().enumerated() {
            lines.append((index == selected ? "> " : "  ") + line)
        }
        let detailed = selected.flatMap { rows.indices.contains($0) ? [rows[$0]] : nil } ?? Array(shown)
        lines += details(detailed, trace, limit: max(3, height == .max ? 20 : height - lines.count - 4))
        return lines.prefix(height).joined(separator: "\n") + "\n"
    }

    func rowCount(of trace: Trace) -> Int { rows(of: trace).count }

    private func rows(of trace: Trace) -> [Row] {
        var rows = trace.queues.map { Row(name: $0.name, width: $0.width) }
        for operation in trace.operations {
            if operation.outcome == .unfinished {
                rows[operation.queue].executing.append(operation)
            } else if operation.end >= trace.end - Self.window {
                rows[operation.queue].ended.append(operation)
            }
        }
        for operation in trace.waiting { rows[operation.queue].waiting.append(operation) }
        rows.removeAll { $0.executing.isEmpty && $0.waiting.isEmpty && $0.ended.isEmpty }
        return rows.sorted { left, right in
            switch order {
            case .name: left.name < right.name
            case .queued: (left.waiting.count, left.executing.count) > (right.waiting.count, right.executing.count)
            case .executing: left.executing.count > right.executing.count
            case .rate: left.ended.count > right.ended.count
            case .oldest: left.oldest ?? .infinity < right.oldest ?? .infinity
            }
        }
    }

    private func details(_ rows: [Row], _ trace: Trace, limit: Int) -> [String] {
        var executing = [["executing", "queue", "for", "awaits"]]
        var waiting = [["waiting", "queue", "for", "because"]]
        for row in rows {
            executing += row.executing.map { operation in
                [
                    operation.name.shortened(to: 40), row.name.shortened(to: 30), duration(trace.end - operation.start),
                    operation.awaits.map { $0?.shortened(to: 40) ?? "something else" }.joined(separator: ", "),
                ]
            }
            waiting += row.waiting.map { operation in
                [
                    operation.name.shortened(to: 40), row.name.shortened(to: 30), duration(trace.end - operation.added),
                    operation.reasons.prefix(3).map(\.description).joined(separator: ", "),
                ]
            }
        }
        return [executing, waiting].flatMap { table -> [String] in
            if table.count == 1 { return [] }
            let rest = table.count - 1 - limit / 2
            return [""] + Table.aligned(Array(table.prefix(1 + limit / 2))).map { "  " + $0 }
                + (rest > 0 ? ["  and \(rest) more"] : [])
        }
    }

    private func quantile(_ sorted: [Double], _ part: Double) -> String {
        if sorted.isEmpty { return "-" }
        return duration(sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))])
    }

    private func rate(_ value: Double) -> String { value >= 10 ? "\(Int(value))" : "\((value * 10).rounded() / 10)" }

    private func duration(_ seconds: Double) -> String {
        switch seconds {
        case 3600...: "\(Int(seconds / 3600)) h \(Int(seconds / 60) % 60) min"
        case 100...: "\(Int(seconds / 60)) min \(Int(seconds) % 60) s"
        case 1...: "\((seconds * 10).rounded() / 10) s"
        case 1e-3...: "\((seconds * 1e4).rounded() / 10) ms"
        default: "\(Int(max(0, seconds) * 1e6)) μs"
        }
    }
}

extension String {
    /// The text on one line, without control characters, and at most `count` characters long.
    fileprivate func shortened(to count: Int) -> String {
        let visible = String(
            String.UnicodeScalarView(
                unicodeScalars.prefix(4 * count).map { $0.properties.generalCategory == .control ? " " : $0 }))
        return visible.count > count ? visible.prefix(count - 1) + "…" : visible
    }
}
