extension TaskOperationQueue {
    /// The operations of the queue that are not finished, and what waits for what, at one moment.
    ///
    /// The queue stands still while its operations are asked, which takes some 0.2 μs for each; the rest, linear but for
    /// a sort, comes after that.
    public func snapshot() -> OperationGraph { OperationGraph(of: [scheduler]) }

    /// The operations of queues that are not finished, and what waits for what, at one moment. All queues stand still as
    /// for one.
    public static func snapshot(of queues: [TaskOperationQueue]) -> OperationGraph {
        OperationGraph(of: Set(queues).map(\.scheduler).sorted { $0.queueNumber < $1.queueNumber })
    }

    /// Why each operation that is not finished does not execute, or what its body waits for: a line for each, at one
    /// moment. As expensive as `snapshot()`.
    public var explanation: String { "\(snapshot())" }
}

extension OperationGraph: CustomStringConvertible {
    /// A line for each queue, and one for each of its operations that says what that waits for.
    public var description: String {
        var lines: [[String]] = queues.map { ["\($0)"] }
        var others: [String] = []
        for operation in operations {
            if let queue = operation.queue {
                lines[queue].append("  \(operation)")
            } else {
                others.append("\(operation)")
            }
        }
        return (lines.flatMap(\.self) + others).joined(separator: "\n")
    }
}

extension OperationGraph.Queue: CustomStringConvertible {
    /// As in `queue "images" (width 4, 3 permits taken, suspended)`.
    public var description: String {
        let width = maxConcurrentOperationCount == .max ? "unlimited" : "\(maxConcurrentOperationCount)"
        var parts = ["width \(width)", "\(permitsTaken) \(permitsTaken == 1 ? "permit" : "permits") taken"]
        if isSuspended { parts.append("suspended") }
        if isShutDown { parts.append("shut down") }
        return "\(label) (\(parts.joined(separator: ", ")))"
    }
}

extension OperationGraph.Operation: CustomStringConvertible {
    /// As in `"decode" (waiting) waits for "download" on queue "net"`.
    public var description: String {
        let marks = ["\(state)"] + (isBarrier ? ["barrier"] : []) + (isCancelled ? ["cancelled"] : [])
        return "\(label) (\(marks.joined(separator: ", "))) \(reasons.map { "\($0)" }.joined(separator: ", and "))"
    }
}
