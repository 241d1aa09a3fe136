extension TaskOperationQueue: CustomStringConvertible, CustomDebugStringConvertible {
    /// The name of the queue and the number of operations in each state. An example is `queue "images" (width 4, 3
    /// executing, 2 ready, 5 waiting)`.
    public var description: String {
        let summary = scheduler.summary
        var parts = ["width \(summary.width == .max ? "unlimited" : "\(summary.width)")"]
        if summary.isSuspended { parts.append("suspended") }
        if summary.isShut { parts.append("shut down") }
        parts.append("\(summary.executing) executing")
        if summary.lent > 0 { parts.append("\(summary.lent) awaiting others") }
        parts.append("\(summary.ready) ready")
        parts.append("\(summary.waiting) waiting")
        return "\(scheduler.label) (\(parts.joined(separator: ", ")))"
    }

    /// The description, and a line for each operation. TaskOperationsDiagnosis explains why operations wait.
    public var debugDescription: String {
        ([description] + operations.map { "  " + $0.debugDescription }).joined(separator: "\n")
    }
}

extension Scheduler {
    fileprivate struct Summary: Sendable {
        var width = 0
        var isSuspended = false
        var isShut = false
        var executing = 0
        var lent = 0
        var ready = 0
        var waiting = 0
    }

    fileprivate nonisolated var summary: Summary {
        withCore { core in
            let state = core.state
            var summary = Summary(
                width: state.width.capacity, isSuspended: state.isSuspended, isShut: !state.acceptance.intake.accepts)
            for record in state.records.all {
                switch record.status {
                case .waiting: summary.waiting += 1
                case .ready: summary.ready += 1
                case .executing: summary.executing += 1
                case .lent, .returning: summary.lent += 1
                }
            }
            return summary
        }
    }
}

extension QueueLabel {
    /// Whether this is the label of a queue.
    public func isLabel(of queue: TaskOperationQueue) -> Bool { number == queue.scheduler.queueNumber }
}
