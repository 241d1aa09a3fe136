import TaskDump
import TaskOperations

extension Trace {
    /// Returns a chart of the trace, as an SVG image. Each permit of a queue has a row with the operations that held
    /// the permit. A graph above the rows shows the number of operations that waited for a permit. The critical path is
    /// highlighted. The chart adapts to light and dark pages.
    ///
    /// - Parameter width: The width in pixels, from 400 to 100,000. A number outside this range is replaced by the
    ///   nearer bound.
    public func timelineSVG(width: Int = 1200) -> String {
        Timeline(self, width: min(100_000, max(400, width))).text
    }
}

private struct Timeline {
    private let trace: Trace
    private let width: Double
    private let left = 150.0
    private let right = 20.0
    private let top = 58.0
    private var lines: [String] = []
    private var y = 0.0
    private let critical: Set<Int>
    private let scale: Double

    init(_ trace: Trace, width: Int) {
        self.trace = trace
        self.width = Double(width)
        critical = Set(trace.criticalPath.map(\.operation))
        scale = (self.width - left - right) / max(trace.duration, 1e-9)
        y = top
        for (queue, members) in trace.membersOfQueues.enumerated() where trace.queues[queue].laneCount > 0 {
            draw(queue, members)
        }
    }

    // MARK: The whole

    var text: String {
        let height = y + 44
        let head = """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(number(width)) \(number(height))" width="\(number(width))" \
            height="\(number(height))" font-family="system-ui, sans-serif" font-size="11">
            <style>
            .page { fill: #ffffff } text { fill: #24292f } .faint { fill: #57606a } .grid { stroke: #d0d7de }
            .row { fill: #f6f8fa } .wait { fill: #d4a72c; fill-opacity: .55 } .succeeded { fill: #54aeff }
            .failed { fill: #fa4549 } .cancelled { fill: #8c959f } .unfinished { fill: #c297ff }
            .critical { fill: #0a0c10 } .bar { fill: #0a3069 }
            @media (prefers-color-scheme: dark) {
            .page { fill: #0d1117 } text { fill: #e6edf3 } .faint { fill: #8b949e } .grid { stroke: #30363d }
            .row { fill: #161b22 } .wait { fill: #d29922 } .succeeded { fill: #1f6feb } .failed { fill: #da3633 }
            .cancelled { fill: #6e7681 } .unfinished { fill: #8957e5 } .critical { fill: #f0f6fc } .bar { fill: #ffffff }
            }
            </style>
            <rect class="page" width="100%" height="100%"/>
            """
        return ([head] + title + axis + lines + legend + ["</svg>"]).joined(separator: "\n") + "\n"
    }

    private var title: [String] {
        let count = trace.operations.count
        let text = "\(count) \(count == 1 ? "operation" : "operations") in \(duration(trace.duration))"
        return ["<text x=\"\(number(left))\" y=\"20\" font-size=\"14\" font-weight=\"600\">\(text)</text>"]
    }

    private var axis: [String] {
        let step = tick
        var ticks: [String] = []
        var time = 0.0
        while time <= trace.duration * 1.0001 {
            let x = number(left + time * scale)
            ticks.append("<line class=\"grid\" x1=\"\(x)\" y1=\"\(number(top - 8))\" x2=\"\(x)\" y2=\"\(number(y))\"/>")
            ticks.append(
                "<text class=\"faint\" x=\"\(x)\" y=\"\(number(top - 14))\" text-anchor=\"middle\">\(duration(time))</text>"
            )
            time += step
        }
        return ticks
    }

    /// The time between two lines of the grid, in seconds. It is a round number, and gives up to eight lines.
    private var tick: Double {
        let rough = max(trace.duration, 1e-9) / 8
        var power = 1e-9
        while power * 10 <= rough { power *= 10 }
        return [1.0, 2, 5, 10].map { $0 * power }.first { $0 >= rough } ?? power * 10
    }

    private var legend: [String] {
        var x = left
        var parts: [String] = []
        let entries = [
            ("succeeded", "succeeded"), ("failed", "failed"), ("cancelled", "cancelled"), ("unfinished", "unfinished"),
            ("wait", "waiting for a permit"), ("critical", "on the critical path"),
        ]
        for (style, label) in entries {
            parts.append(
                "<rect class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y + 17))\" width=\"12\" height=\"12\" rx=\"2\"/>"
            )
            parts.append("<text x=\"\(number(x + 17))\" y=\"\(number(y + 27))\">\(label)</text>")
            x += 40 + 6.2 * Double(label.count)
        }
        return parts
    }

    // MARK: A queue

    private mutating func draw(_ queue: Int, _ members: [Int]) {
        let lanes = trace.queues[queue].laneCount
        let height = lanes <= 12 ? 20.0 : lanes <= 32 ? 12.0 : 6.0
        let use = trace.utilization(of: members, onQueue: queue)
        y += 6
        label(trace.queues[queue].name, y + 12, isBold: true)
        label("\(Int((use * 100).rounded())) % of \(trace.queues[queue].width ?? lanes) permits", y + 26, isBold: false)
        drawWaiting(members, height: 28)
        y += 30
        for lane in 0..<lanes {
            let row = y + Double(lane) * height
            lines.append(
                "<rect class=\"row\" x=\"\(number(left))\" y=\"\(number(row))\" width=\"\(number(width - left - right))\" height=\"\(number(height - 2))\"/>"
            )
        }
        let drawn = members.filter { !critical.contains($0) } + members.filter { critical.contains($0) }
        for index in drawn { draw(index, height: height) }
        y += Double(lanes) * height + 8
    }

    private mutating func label(_ text: String, _ baseline: Double, isBold: Bool) {
        let style = isBold ? "font-weight=\"600\"" : "class=\"faint\""
        let short = text.count > 22 ? text.prefix(21) + "…" : text[...]
        lines.append(
            "<text \(style) x=\"\(number(left - 8))\" y=\"\(number(baseline))\" text-anchor=\"end\">\(String(short).escapedForMarkup)</text>"
        )
    }

    /// Draws a graph of the number of ready operations without a permit.
    private mutating func drawWaiting(_ members: [Int], height: Double) {
        let columns = Int(width - left - right)
        var changes = [Int](repeating: 0, count: columns + 1)
        for index in members {
            let operation = trace.operations[index]
            if operation.waitedForPermit <= 0 { continue }
            changes[column(operation.ready, columns)] += 1
            changes[column(operation.start, columns)] -= 1
        }
        var (counts, count) = ([Int](), 0)
        for change in changes {
            count += change
            counts.append(count)
        }
        guard let most = counts.max(), most > 0 else { return }
        var path = "M\(number(left)) \(number(y + height))"
        var last = 0
        for (column, count) in counts.enumerated() where count != last || column == columns {
            let x = number(left + Double(column))
            path += "H\(x)V\(number(y + height - Double(count) / Double(most) * (height - 4)))"
            last = count
        }
        lines.append("<path class=\"wait\" d=\"\(path)V\(number(y + height))Z\"><title>\(most) at most</title></path>")
    }

    private func column(_ time: Double, _ columns: Int) -> Int {
        min(columns, max(0, Int((time - trace.beginning) * scale)))
    }

    private mutating func draw(_ index: Int, height: Double) {
        let operation = trace.operations[index]
        let style = operation.outcome.style
        let executed = duration(operation.executed)
        for (part, slice) in operation.slices.enumerated() {
            let x = left + (slice.start - trace.beginning) * scale
            let length = max(0.75, (slice.end - slice.start) * scale)
            let row = y + Double(slice.lane) * height
            lines.append(
                """
                <rect class="\(style)" x="\(number(x))" y="\(number(row))" width="\(number(length))" \
                height="\(number(height - 2))"\(length > 6 ? " rx=\"2\"" : "")><title>\(operation.name.escapedForMarkup): waited \
                \(duration(operation.waitedForDependencies)) for dependencies, \(duration(operation.waitedForPermit)) for a \
                permit, executed \(executed)</title></rect>
                """)
            if critical.contains(index) {
                let mark = min(4, (height - 2) / 2)
                lines.append(
                    "<rect class=\"critical\" x=\"\(number(x))\" y=\"\(number(row + height - 2 - mark))\" "
                        + "width=\"\(number(length))\" height=\"\(number(mark))\"/>")
            }
            let space = Int((length - 8) / 6.4)
            if part == 0, height >= 16, space >= 3 {
                let name = operation.name.count > space ? operation.name.prefix(space - 1) + "…" : operation.name[...]
                lines.append(
                    "<text class=\"bar\" x=\"\(number(x + 4))\" y=\"\(number(row + 13))\" pointer-events=\"none\">\(String(name).escapedForMarkup)</text>"
                )
            }
        }
    }

    // MARK: Text

    private func number(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        if rest == 0 { return "\(whole)" }
        return "\(whole)." + (abs(rest) < 10 ? "0" : "") + "\(abs(rest))"
    }

    private func duration(_ seconds: Double) -> String { TimeText.text(seconds) }
}

enum TimeText {
    /// Formats a time in seconds as `1.25 s`, `340 ms` or `12 μs`.
    static func text(_ seconds: Double) -> String {
        for (unit, size) in [("s", 1.0), ("ms", 1e-3), ("μs", 1e-6)] where seconds >= size * 0.9995 {
            return rounded(seconds / size) + " " + unit
        }
        return seconds <= 0 ? "0 s" : rounded(seconds * 1e9) + " ns"
    }

    /// Rounds to three significant digits.
    private static func rounded(_ value: Double) -> String {
        let decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
        let factor = [1, 10, 100][decimals]
        let scaled = Int((value * Double(factor)).rounded())
        let (whole, rest) = scaled.quotientAndRemainder(dividingBy: factor)
        if rest == 0 { return "\(whole)" }
        var digits = "\(rest)"
        while digits.count < decimals { digits = "0" + digits }
        while digits.last == "0" { digits.removeLast() }
        return "\(whole).\(digits)"
    }
}

extension Trace.Outcome {
    /// The class of a bar in the style sheet.
    fileprivate var style: String {
        switch self {
        case .timedOut, .dependencyFailed: Self.failed.rawValue
        case .succeeded, .failed, .cancelled, .unfinished: rawValue
        }
    }
}
