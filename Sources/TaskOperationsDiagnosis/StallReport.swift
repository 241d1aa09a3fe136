public import TaskOperations

/// A report on a queue that has operations, but in which no operation has ended for some time.
public struct StallReport: Sendable {
    /// An operation on the chain of waits from the oldest operation of the queue to the culprit.
    public struct Link: Sendable, Hashable, Codable {
        /// The operation.
        public let operation: OperationLabel
        /// The queue of the operation; nil without a queue.
        public let queue: QueueLabel?
        /// The reason why the operation does not continue. It waits for the next link; in the last link, for the
        /// culprit.
        public let reason: WaitingReason
    }

    /// The cause of the stall, as far as the library can determine it.
    public enum Culprit: Sendable, Hashable, Codable {
        /// The body of this operation, which executes its own code: it waits for an event outside of the library,
        /// computes, or blocks.
        case body(OperationLabel)
        /// A semaphore that the body of this operation awaits, with its description.
        case semaphore(String, awaitedBy: OperationLabel)
        /// A completion handler that was not called, and the operation whose body waits for the call.
        case completionHandler(String, awaitedBy: OperationLabel)
        /// An `AsyncGroup` that the body of this operation awaits.
        case group(String, awaitedBy: OperationLabel)
        /// The work inside `withPermitLent` in the body of this operation.
        case outside(awaitedBy: OperationLabel)
        /// A suspended queue.
        case suspension(QueueLabel)
        /// A queue whose width is 0.
        case width(QueueLabel)
        /// An operation that was not added to a queue.
        case notAdded(OperationLabel)
        /// Work that the library does not run, such as an operation of Foundation.
        case foreign(OperationLabel)
        /// A completion handler of this operation. The body has already ended.
        case handler(OperationLabel)
        /// The cooperative pool, all of whose threads are blocked.
        case pool
        /// An executor that has not run the task for this operation.
        case executor(OperationLabel)
    }

    /// The queue that was watched.
    public let queue: QueueLabel
    /// The time for which no operation has ended, on the clock of the watch.
    public let duration: Duration
    /// The chain of waits from the oldest unfinished operation to the culprit.
    public let chain: [Link]
    /// The cause of the stall.
    public let culprit: Culprit
    /// Whether no thread of the cooperative pool was free for a second, at the priority of the culprit. Then bodies
    /// block all threads, or compute for that long.
    public let isPoolBlocked: Bool
    /// All operations of the queue, and of the queues for whose operations it waits.
    public let graph: OperationGraph

    /// The operations that hold permits of the queue, with their waits.
    public var holders: [OperationGraph.Operation] {
        graph.operations.filter { $0.state == .executing && $0.queue.map { graph.queues[$0].label } == queue }
    }
}

extension StallReport: CustomStringConvertible {
    /// The report, with a line for each link of the chain.
    public var description: String {
        var lines = ["No operation has ended on \(queue) for \(duration): \(culprit)."]
        lines += chain.map { "  \($0.operation)\($0.queue.map { " on \($0)" } ?? "") \($0.reason)" }
        if isPoolBlocked {
            lines.append("  No thread of the cooperative pool is free. Run blocking code on a BlockingExecutor.")
        }
        return lines.joined(separator: "\n")
    }
}

extension StallReport.Culprit: CustomStringConvertible {
    public var description: String {
        switch self {
        case .body(let operation): "the body of \(operation) has not returned"
        case .semaphore(let text, let operation), .completionHandler(let text, let operation),
            .group(let text, let operation):
            "\(operation) awaits \(text)"
        case .outside(let operation): "\(operation) awaits something outside the library"
        case .suspension(let queue): "\(queue) is suspended"
        case .width(let queue): "\(queue) has the width 0"
        case .notAdded(let operation): "\(operation) was not added to a queue"
        case .foreign(let operation): "\(operation), which runs outside the library, has not ended"
        case .handler(let operation): "a completion handler of \(operation) has not returned"
        case .pool: "all threads of the cooperative pool are blocked"
        case .executor(let operation): "the executor has not run \(operation)"
        }
    }
}
