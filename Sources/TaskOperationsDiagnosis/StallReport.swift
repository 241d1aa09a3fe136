import TaskDump
public import TaskOperations

/// A report on the stall of a queue. A queue stalls if it has operations, but no operation has ended for some time. A
/// body of the queue is not reported before it has executed for that time.
public struct StallReport: Sendable {
    /// An operation in the chain of waits. The chain leads from an operation of the queue to the culprit.
    public struct Link: Sendable, Hashable, Codable {
        /// The operation.
        public let operation: OperationLabel
        /// The queue of the operation; nil if the operation has no queue.
        public let queue: QueueLabel?
        /// The reason why the operation does not continue. The operation waits for the next link. The operation of the
        /// last link waits for the culprit.
        public let reason: WaitingReason
    }

    /// The cause of the stall, as far as the library can determine it.
    public enum Culprit: Sendable, Hashable, Codable {
        /// The body of this operation. The body computes, blocks, or waits for an event outside of the library.
        case body(OperationLabel)
        /// A semaphore for which an operation waits. The text describes the semaphore.
        case semaphore(String, awaitedBy: OperationLabel)
        /// A completion handler that was not called, and the operation whose body waits for the call. The text
        /// describes the handler.
        case completionHandler(String, awaitedBy: OperationLabel)
        /// An `AsyncGroup` that the body of an operation awaits. The text describes the group.
        case group(String, awaitedBy: OperationLabel)
        /// The work within `withPermitLent` in the body of an operation.
        case outside(awaitedBy: OperationLabel)
        /// A suspended queue.
        case suspension(QueueLabel)
        /// A queue whose width is 0.
        case width(QueueLabel)
        /// A queue that limits operations of a priority to 0. This operation has the priority.
        case priorityLimit(QueueLabel, awaitedBy: OperationLabel)
        /// A queue without room. This operation waits for room in the queue, and the operations of the queue wait for
        /// this operation.
        case room(QueueLabel, awaitedBy: OperationLabel)
        /// A call that cancels all operations of this queue. A handler that it has called has not returned.
        case cancellation(QueueLabel)
        /// An operation that was not added to a queue.
        case notAdded(OperationLabel)
        /// Work that the library does not run, such as an operation of Foundation.
        case foreign(OperationLabel)
        /// A completion handler of this operation, whose body has already ended.
        case handler(OperationLabel)
        /// The cooperative pool. All its threads are blocked.
        case pool
        /// The executor of this operation, which has not run the operation's task yet.
        case executor(OperationLabel)
    }

    /// The queue that was watched.
    public let queue: QueueLabel
    /// The time for which no operation has ended, measured by the clock of `stalls(longerThan:clock:)`.
    public let duration: Duration
    /// The chain of waits from the oldest unfinished operation that waits for a culprit to that culprit.
    public let chain: [Link]
    /// The cause of the stall.
    public let culprit: Culprit
    /// Whether the cooperative pool ran no new task for a second, at the priority of the last operation in `chain`. If
    /// true, bodies have blocked or used all its threads.
    public let isPoolBlocked: Bool
    /// All operations of the queue, and all operations of other queues for which they wait.
    public let graph: OperationGraph

    /// The operations that execute on the queue and hold its permits, with the waits of their bodies.
    public var holders: [OperationGraph.Operation] {
        graph.operations.filter { $0.state == .executing && $0.queue.map { graph.queues[$0].label } == queue }
    }
}

extension StallReport: CustomStringConvertible {
    /// The report as text, with a line for each link of the chain.
    public var description: String {
        // A name may contain a line break.
        var lines = ["No operation has ended on \(queue) for \(duration): \(culprit).".onOneLine]
        lines += chain.map { "  \($0.operation)\($0.queue.map { " on \($0)" } ?? "") \($0.reason)".onOneLine }
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
        case .priorityLimit(let queue, let operation):
            "\(queue) limits operations of the priority of \(operation) to 0"
        case .room(let queue, let operation):
            "\(operation) waits for room in \(queue), whose operations wait for it"
        case .cancellation(let queue): "the cancellation of all operations of \(queue) has not returned"
        case .notAdded(let operation): "\(operation) was not added to a queue"
        case .foreign(let operation): "\(operation), which runs outside the library, has not ended"
        case .handler(let operation): "a completion handler of \(operation) has not returned"
        case .pool: "all threads of the cooperative pool are blocked"
        case .executor(let operation): "the executor has not run \(operation)"
        }
    }
}
