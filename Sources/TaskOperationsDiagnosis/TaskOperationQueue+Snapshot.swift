import TaskDump
public import TaskOperations

extension TaskOperationQueue {
    /// Returns the unfinished operations of the queue at one moment, and the waits between these operations.
    ///
    /// The queue is locked while its operations are read. This takes about 0.2 μs for each operation. Afterwards the
    /// call sorts the operations. All other work takes linear time.
    public func snapshot() -> OperationGraph { OperationGraph(of: [scheduler]) }

    /// Returns the unfinished operations of several queues at one moment, and the waits between these operations. All
    /// these queues are locked while their operations are read.
    ///
    /// - Parameter queues: The queues.
    public static func snapshot(of queues: [TaskOperationQueue]) -> OperationGraph {
        OperationGraph(of: Set(queues).map(\.scheduler).sorted { $0.queueNumber < $1.queueNumber })
    }

    /// A text with a line for each unfinished operation. The line gives the reasons why the operation does not execute,
    /// or the waits of its body. The property takes as long as `snapshot()`.
    public var explanation: String { "\(snapshot())" }
}

extension OperationGraph: CustomStringConvertible {
    /// A text with a line for each queue and each operation. The line of an operation has the reasons why the operation
    /// does not execute, or the waits of its body.
    public var description: String {
        var lines: [[String]] = queues.map { ["\($0)".onOneLine] }
        var others: [String] = []
        for operation in operations {
            // A name may contain a line break.
            if let queue = operation.queue {
                lines[queue].append("  \(operation)".onOneLine)
            } else {
                others.append("\(operation)".onOneLine)
            }
        }
        return (lines.flatMap(\.self) + others).joined(separator: "\n")
    }
}

extension OperationGraph.Queue: CustomStringConvertible {
    /// The label and the state of the queue. An example is `queue "images" (width 4, 3 permits taken, suspended)`.
    public var description: String {
        let width = maxConcurrentOperationCount == .max ? "unlimited" : "\(maxConcurrentOperationCount)"
        var parts = ["width \(width)", "\(permitsTaken) \(permitsTaken == 1 ? "permit" : "permits") taken"]
        if isSuspended { parts.append("suspended") }
        if isShutDown { parts.append("shut down") }
        return "\(label) (\(parts.joined(separator: ", ")))"
    }
}

extension OperationGraph.Operation: CustomStringConvertible {
    /// The label, the state, the keys and the reasons. An example is
    /// `"decode" (waiting) waits for "download" on queue "net"`.
    public var description: String {
        let keys = limits.compactMap(\.key).map { "key \($0)" }
        let marks = ["\(state)"] + (isBarrier ? ["barrier"] : []) + (isCancelled ? ["cancelled"] : []) + keys
        return "\(label) (\(marks.joined(separator: ", "))) \(reasons.map { "\($0)" }.joined(separator: ", and "))"
    }
}
