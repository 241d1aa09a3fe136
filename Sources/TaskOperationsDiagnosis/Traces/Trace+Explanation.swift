import TaskDump
import TaskOperations

extension Trace {
    /// The analysis of the trace as text. It describes what was unfinished at the end, the activity of each queue, the
    /// critical path, the longest chain of dependencies and the longest waits. Each list has at most ten entries: of the
    /// critical path, those with the largest shares, and of the longest chain, the last ones. `criticalPath` and
    /// `longestChain` have all. Names of more than 60 Unicode scalars are shortened.
    public var explanation: String {
        if operations.isEmpty, waiting.isEmpty { return "The trace contains no operation.\n" }
        let withoutInput = operations.count { $0.outcome == .dependencyFailed }
        var lines = [
            "\(operations.count) operations in \(TimeText.text(duration))"
                + (withoutInput > 0 ? ", of which \(withoutInput) ended because an input had failed" : "")
        ]
        let unfinished = operations.indices.filter { operations[$0].outcome == .unfinished }
        if !unfinished.isEmpty {
            lines += ["", "Executing at the end (\(unfinished.count)):"] + table(unfinishedRows(unfinished.prefix(10)))
        }
        if !waiting.isEmpty {
            lines += ["", "Waiting at the end (\(waiting.count)):"] + table(waitingRows(waiting.prefix(10)))
        }
        if operations.isEmpty { return lines.joined(separator: "\n") + "\n" }
        let (path, waits) = (criticalPath, longestWaits)
        lines += ["", "Queues:"] + table(queueRows)
        let shown = path.count > 10 ? ", the 10 with the largest shares" : ""
        lines += ["", "Critical path (\(path.count) operations\(shown)):"]
        lines += table(pathRows(path))
        lines += ["", chainRow]
        if !waits.isEmpty { lines += ["", "Longest waits for a permit:"] + table(waitRows(waits)) }
        return lines.joined(separator: "\n") + "\n"
    }

    private var queueRows: [[String]] {
        [["queue", "operations", "permits", "used", "waited", "executed"]]
            + membersOfQueues.enumerated().map { queue, members in
                [
                    queues[queue].name.shortened, "\(members.count)", queues[queue].width.map { "\($0)" } ?? "-",
                    "\(Int((utilization(of: members, onQueue: queue) * 100).rounded())) %",
                    TimeText.text(members.reduce(0) { $0 + operations[$1].waitedForPermit }),
                    TimeText.text(members.reduce(0) { $0 + operations[$1].executed }),
                ]
            }
    }

    private func unfinishedRows(_ indices: some Sequence<Int>) -> [[String]] {
        [["operation", "queue", "executed", "awaits"]]
            + indices.map { index in
                let operation = operations[index]
                return [
                    operation.name.shortened, queues[operation.queue].name.shortened, TimeText.text(operation.executed),
                    operation.awaits.map { $0?.shortened ?? "something else" }.joined(separator: ", "),
                ]
            }
    }

    private func waitingRows(_ waiting: some Sequence<Waiting>) -> [[String]] {
        [["operation", "queue", "because"]]
            + waiting.map { operation in
                [
                    operation.name.shortened, queues[operation.queue].name.shortened,
                    operation.reasons.prefix(3).map(\.description).joined(separator: ", "),
                ]
            }
    }

    /// The rows of the steps with the largest shares, in the order of the path.
    private func pathRows(_ path: [Step]) -> [[String]] {
        let largest = path.indices.sorted { path[$0].share > path[$1].share }.prefix(10).sorted()
        return [["operation", "share", "executed", "started or continued when"]]
            + largest.map { place in
                let step = path[place]
                let operation = operations[step.operation]
                let cause =
                    switch step.cause {
                    case .added(nil): "it was added"
                    case .added(let other?): "it was added, after \(operations[other].name.shortened) ended"
                    case .dependency(let other): "\(operations[other].name.shortened), which it depends on, finished"
                    case .wait(let other): "\(operations[other].name.shortened), which its body awaited, finished"
                    case .permit(let other): "\(operations[other].name.shortened) returned its permit"
                    }
                return [operation.name.shortened, TimeText.text(step.share), TimeText.text(operation.executed), cause]
            }
    }

    private var chainRow: String {
        let chain = longestChain
        let time = TimeText.text(chain.reduce(0) { $0 + operations[$1].executed })
        let names = (chain.count > 10 ? ["…"] : []) + chain.suffix(10).map { operations[$0].name.shortened }
        let text = "Longest chain of dependencies (\(chain.count) operations, \(time)): "
        return (text + names.joined(separator: " → ")).onOneLine
    }

    private func waitRows(_ waits: [Int]) -> [[String]] {
        [["operation", "queue", "waited", "executed"]]
            + waits.map { index in
                let operation = operations[index]
                return [
                    operation.name.shortened, queues[operation.queue].name.shortened,
                    TimeText.text(operation.waitedForPermit), TimeText.text(operation.executed),
                ]
            }
    }

    private func table(_ rows: [[String]]) -> [String] {
        // A name may contain a line break.
        let rows = rows.map { $0.map(\.onOneLine) }
        let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            let line = "  " + cells.joined(separator: "  ")
            return String(line.prefix(line.count - line.reversed().prefix { $0 == " " }.count))
        }
    }
}

extension String {
    /// The name with an ellipsis after 59 scalars if it is longer than 60. A table pads all rows to the longest cell.
    fileprivate var shortened: String {
        // Scalars, because one character may have any number of them.
        let scalars = unicodeScalars.prefix(61)
        return scalars.count > 60 ? String(scalars.prefix(59)) + "…" : self
    }
}

extension Trace.Waiting.Reason: CustomStringConvertible {
    public var description: String {
        switch self {
        case .dependency(let name): "\(name.shortened) has not ended"
        case .delay: "its delay is not over"
        case .suspension: "the queue is suspended"
        case .permit: "all permits are in use"
        case .limit(let name): name.isEmpty ? "it needs a permit of a limit" : "it needs a permit of \(name.shortened)"
        case .barrier(let name): "\(name.shortened) must end first"
        }
    }
}
