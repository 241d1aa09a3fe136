extension OperationStatistics {
    /// The current statistics in the text format of OpenMetrics 1.0, which Prometheus reads.
    ///
    /// Serve the text with the content type `application/openmetrics-text; version=1.0.0; charset=utf-8`. Each object
    /// needs an address of its own. The text has about 65 lines for each group. The label `queue` or `key` has the name of
    /// the group. Groups with the same name are added up, and so are all queues without a name.
    ///
    /// | Metric | Value |
    /// | --- | --- |
    /// | `task_operations_added_total` | added operations, with those that were withdrawn |
    /// | `task_operations_finished_total` | ends, with the label `outcome`: `succeeded`, `failed`, `cancelled` or `dropped` |
    /// | `task_operations_refused_total` | refusals, with the label `by`: `limit` or, for queues, `queue` |
    /// | `task_operations_retries_total` | attempts after the first ones |
    /// | `task_operations_queued` | operations that have not started |
    /// | `task_operations_executing` | operations that have started and not finished |
    /// | `task_operations_oldest_age_seconds` | time since the addition of the oldest operation that has not started; 0 if there is none |
    /// | `task_operations_width` | permits of the queue |
    /// | `task_operations_width_used_ratio` | part of these permits that is in use |
    /// | `task_operations_waited_seconds` | histogram of the times for which operations were ready before they started |
    /// | `task_operations_executed_seconds` | histogram of the times from start to end |
    ///
    /// The width and its use are missing for keys, and for queues without a width. Takes time in proportion to the length of the text.
    public func openMetricsText() -> String {
        var text = OpenMetricsText(label: limit == nil ? "queue" : "key", groups: metricGroups)
        text.addCounts()
        if limit == nil { text.addWidths() }
        text.addHistogram("waited", "Times for which operations were ready before they started.", \.waited)
        text.addHistogram("executed", "Times from the start of operations to their end.", \.executed)
        return text.lines.joined(separator: "\n") + "\n# EOF\n"
    }

    /// The groups in their order, with the sum of groups that have the same name.
    private var metricGroups: [MetricGroup] {
        var sums: [MetricGroup] = []
        var places: [String: Int] = [:]
        for group in snapshot {
            let name = group.isUnnamed ? Self.unnamedQueues : group.name
            if places[name] == nil {
                places[name] = sums.count
                sums.append(MetricGroup(name: name))
            }
            sums[places[name]!].add(group)
        }
        return sums
    }
}

/// The sum of the groups with the same name.
private struct MetricGroup {
    var counts: OperationStatistics.Group
    /// The sum of the widths; nil if there is no queue, or one without a width.
    var width: Int? { isUnlimited ? nil : widths }
    var used = 0
    private var widths: Int?
    private var isUnlimited = false

    init(name: String) {
        counts = OperationStatistics.Group(name: name)
    }

    mutating func add(_ group: OperationStatistics.Group) {
        counts.add(group)
        counts.queued += group.queued
        counts.executing += group.executing
        counts.oldestAge = [counts.oldestAge, group.oldestAge].compactMap(\.self).max()
        guard let width = group.width else { return }
        used += group.usedPermits
        let (sum, overflows) = (widths ?? 0).addingReportingOverflow(width)
        if overflows || width == .max { isUnlimited = true } else { widths = sum }
    }
}

private struct OpenMetricsText {
    let label: String
    let groups: [MetricGroup]
    private(set) var lines: [String] = []

    init(label: String, groups: [MetricGroup]) {
        (self.label, self.groups) = (label, groups)
    }

    private func name(_ name: String) -> String { "task_operations_" + name }

    private mutating func begin(_ name: String, _ type: String, unit: String? = nil, _ help: String) {
        lines.append("# TYPE \(self.name(name)) \(type)")
        if let unit { lines.append("# UNIT \(self.name(name)) \(unit)") }
        lines.append("# HELP \(self.name(name)) \(help)")
    }

    private mutating func add(_ name: String, _ group: MetricGroup, _ value: some Any, _ more: (String, String)? = nil)
    {
        let second = more.map { ",\($0.0)=\"\($0.1)\"" } ?? ""
        lines.append("\(self.name(name)){\(label)=\"\(group.counts.name.escapedForOpenMetrics)\"\(second)} \(value)")
    }

    mutating func addCounts() {
        begin("added", "counter", "Operations that were added.")
        for group in groups { add("added_total", group, group.counts.added + group.counts.withdrawn) }
        begin("finished", "counter", "Operations that have ended, by outcome.")
        for group in groups {
            let outcomes = [
                ("succeeded", group.counts.succeeded), ("failed", group.counts.failed),
                ("cancelled", group.counts.cancelled), ("dropped", group.counts.dropped),
            ]
            for (outcome, count) in outcomes { add("finished_total", group, count, ("outcome", outcome)) }
        }
        begin("refused", "counter", "Operations that were refused because a queue or a limit had no room.")
        for group in groups {
            add("refused_total", group, group.counts.refusedByLimit, ("by", "limit"))
            if label == "queue" { add("refused_total", group, group.counts.refusedByQueue, ("by", "queue")) }
        }
        begin("retries", "counter", "Attempts after the first attempts of operations.")
        for group in groups { add("retries_total", group, group.counts.retries) }
        begin("queued", "gauge", "Operations that have not started.")
        for group in groups { add("queued", group, group.counts.queued) }
        begin("executing", "gauge", "Operations that have started and not finished.")
        for group in groups { add("executing", group, group.counts.executing) }
        begin(
            "oldest_age_seconds", "gauge", unit: "seconds",
            "Time since the addition of the oldest operation that has not started.")
        for group in groups { add("oldest_age_seconds", group, (group.counts.oldestAge ?? .zero).seconds) }
    }

    mutating func addWidths() {
        begin("width", "gauge", "Permits of the queue.")
        for group in groups { if let width = group.width { add("width", group, width) } }
        begin("width_used_ratio", "gauge", unit: "ratio", "Part of the permits of the queue that is in use.")
        for group in groups {
            guard let width = group.width, width > 0 else { continue }
            add("width_used_ratio", group, Double(group.used) / Double(width))
        }
    }

    mutating func addHistogram(
        _ part: String, _ help: String, _ histogram: KeyPath<OperationStatistics.Group, DurationHistogram>
    ) {
        let name = part + "_seconds"
        begin(name, "histogram", unit: "seconds", help)
        for group in groups {
            let durations = group.counts[keyPath: histogram]
            for (end, count) in durations.cumulativeBuckets {
                add(name + "_bucket", group, count, ("le", "\(end.seconds)"))
            }
            add(name + "_bucket", group, durations.count, ("le", "+Inf"))
            add(name + "_count", group, durations.count)
            add(name + "_sum", group, durations.sum.seconds)
        }
    }
}

extension Duration {
    fileprivate var seconds: Double { self / .seconds(1) }
}

extension String {
    /// The text as the value of a label, without quotation marks.
    fileprivate var escapedForOpenMetrics: String {
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": escaped += "\\" + String(scalar)
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
