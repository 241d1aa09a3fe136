import TaskOperations

extension Trace {
    /// The trace in the Trace Event Format, as JSON text that [ui.perfetto.dev](https://ui.perfetto.dev) and
    /// `chrome://tracing` open. Linear in the size of the trace.
    ///
    /// Each queue is a process, and each permit is a thread of the process. One slice shows how long an operation waits,
    /// and another slice how long it holds its permit. Arrows lead from its dependencies, and from what its body awaited,
    /// to the operation.
    public var perfettoJSON: String { PerfettoText(self).text }
}

private struct PerfettoText {
    private let trace: Trace
    private var lines: [String] = []
    private var arrowCount = 0

    init(_ trace: Trace) {
        self.trace = trace
        for (index, queue) in trace.queues.enumerated() { addNames(of: queue, process: index + 1) }
        for index in trace.operations.indices { addOperation(index) }
        for waiting in trace.waiting { addWaiting(waiting) }
        addCounts()
    }

    var text: String { "[\n" + lines.joined(separator: ",\n") + "\n]\n" }

    /// The number of a lane's thread, which is unique in the trace.
    private func thread(_ lane: Int, _ queue: Int) -> Int { 1_000_000 * (queue + 1) + lane + 1 }

    private func nanoseconds(_ seconds: Double) -> Int { Int(max(-1e18, min(1e18, seconds * 1e9)).rounded()) }

    private func microseconds(_ seconds: Double) -> String { microseconds(nanoseconds(seconds)) }

    private func microseconds(_ nanoseconds: Int) -> String {
        let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1000)
        let digits = String(rest.magnitude)
        let sign = nanoseconds < 0 && whole == 0 ? "-" : ""
        return sign + "\(whole)." + String(repeating: "0", count: 3 - digits.count) + digits
    }

    private mutating func addNames(of queue: Trace.Queue, process: Int) {
        let width = queue.width.map { ",\"width\":\($0)" } ?? ""
        lines.append(
            "{\"ph\":\"M\",\"pid\":\(process),\"name\":\"process_name\",\"args\":{\"name\":\(queue.name.quotedForJSON)\(width)}}"
        )
        for lane in 0..<queue.laneCount {
            lines.append(
                "{\"ph\":\"M\",\"pid\":\(process),\"tid\":\(thread(lane, process - 1)),\"name\":\"thread_name\","
                    + "\"args\":{\"name\":\"permit \(lane + 1)\"}}")
        }
    }

    private mutating func addOperation(_ index: Int) {
        let operation = trace.operations[index]
        let (process, name) = (operation.queue + 1, operation.name.quotedForJSON)
        addWait(operation, "\(operation.queue + 1)", name, from: operation.added, to: operation.start)
        let end = operation.outcome == .succeeded ? "" : ",\"end\":\"\(operation.outcome.rawValue)\""
        for slice in operation.slices {
            // Of rounded times, so that the slice ends where the next one of its lane begins.
            let duration = nanoseconds(slice.end) - nanoseconds(slice.start)
            lines.append(
                "{\"ph\":\"X\",\"pid\":\(process),\"tid\":\(thread(slice.lane, operation.queue)),"
                    + "\"ts\":\(microseconds(slice.start)),\"dur\":\(microseconds(duration)),"
                    + "\"name\":\(name),\"args\":{\"op\":\(operation.number),\"added\":\(microseconds(operation.added)),"
                    + "\"ready\":\(microseconds(operation.ready))\(end)}}")
        }
        for dependency in operation.dependencies {
            addArrow("dependency", from: dependency, to: index, operation.slices.first)
        }
        for target in operation.awaited {
            // The body continued in the first slice after the end of the awaited operation.
            let ended = trace.operations[target].end
            addArrow(
                "wait", from: target, to: index, operation.slices.first { $0.end > ended } ?? operation.slices.last)
        }
    }

    private mutating func addWait(
        _ operation: Trace.Operation, _ process: String, _ name: String, from begin: Double, to end: Double
    ) {
        guard end > begin else { return }
        for (phase, time) in [("b", begin), ("e", end)] {
            lines.append(
                "{\"ph\":\"\(phase)\",\"cat\":\"wait\",\"pid\":\(process),\"ts\":\(microseconds(time)),"
                    + "\"id2\":{\"local\":\"\(operation.number)\"},\"name\":\(name)}")
        }
    }

    private mutating func addWaiting(_ operation: Trace.Waiting) {
        lines.append(
            "{\"ph\":\"b\",\"cat\":\"wait\",\"pid\":\(operation.queue + 1),\"ts\":\(microseconds(operation.added)),"
                + "\"id2\":{\"local\":\"\(operation.number)\"},\"name\":\(operation.name.quotedForJSON)}")
    }

    private mutating func addArrow(_ category: String, from: Int, to: Int, _ slice: Trace.Slice?) {
        guard let slice, let first = trace.operations[from].slices.last else { return }
        arrowCount += 1
        let (source, target) = (trace.operations[from], trace.operations[to])
        // The arrow must begin within the slice of the finished operation.
        let begin = max(first.start, first.end - 1e-9)
        let start = category == "wait" ? max(slice.start, min(slice.end, first.end)) : slice.start
        let ends = [
            ("s", source, first.lane, begin, ""),
            (
                "f", target, slice.lane, start,
                ",\"args\":{\"op\":\(target.number),\"after\":[\(source.queue + 1),\(source.number)]}"
            ),
        ]
        for (phase, operation, lane, time, arguments) in ends {
            lines.append(
                "{\"ph\":\"\(phase)\",\"pid\":\(operation.queue + 1),\"tid\":\(thread(lane, operation.queue)),"
                    + "\"ts\":\(microseconds(time)),\"id\":\(arrowCount),\"bp\":\"e\",\"cat\":\"\(category)\","
                    + "\"name\":\"\(category)\"\(arguments)}")
        }
    }

    private typealias CountChange = (time: Double, queued: Int, executing: Int)

    private mutating func addCounts() {
        var changes = [[CountChange]](repeating: [], count: trace.queues.count)
        for operation in trace.operations {
            changes[operation.queue] += [(operation.added, 1, 0), (operation.start, -1, 1), (operation.end, 0, -1)]
        }
        for operation in trace.waiting { changes[operation.queue].append((operation.added, 1, 0)) }
        for (queue, changes) in changes.enumerated() { addCounts(of: queue, changes.sorted { $0.time < $1.time }) }
    }

    /// Adds the numbers of waiting and executing operations, at most once in a millisecond.
    private mutating func addCounts(of queue: Int, _ changes: [CountChange]) {
        var (queued, executing, last) = (0, 0, -Double.infinity)
        for change in changes {
            queued += change.queued
            executing += change.executing
            if change.time < last + 1e-3 { continue }
            last = change.time
            lines.append(
                "{\"ph\":\"C\",\"pid\":\(queue + 1),\"ts\":\(microseconds(change.time)),\"name\":\"operations\","
                    + "\"args\":{\"queued\":\(queued),\"executing\":\(executing)}}")
        }
    }
}

extension String {
    /// The text as a JSON string, with quotation marks. It cannot end a script of a page.
    var quotedForJSON: String {
        var quoted = "\""
        for scalar in unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\" + String(scalar)
            case "\n": quoted += "\\n"
            case "<": quoted += "\\u003c"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
