public import TaskOperations

/// The unfinished operations of queues, and the waits between them, at one moment.
///
/// The graph also contains the operations on other queues, or on no queue, for which these operations wait. It is
/// `Codable`, so you can store or send it. `mermaid` and `dot` draw it.
public struct OperationGraph: Sendable, Equatable, Codable {
    /// A queue of the graph.
    public struct Queue: Sendable, Hashable, Codable {
        /// The label of the queue.
        public let label: QueueLabel
        /// The width.
        public let maxConcurrentOperationCount: Int
        /// The number of permits that operations hold.
        public let permitsTaken: Int
        /// Whether the queue is suspended.
        public let isSuspended: Bool
        /// Whether the queue refuses new operations.
        public let isShutDown: Bool
    }

    /// An operation of the graph.
    public struct Operation: Sendable, Equatable, Codable {
        /// The label of the operation.
        public let label: OperationLabel
        /// The index of the operation's queue; nil if the operation is on none of the captured queues.
        public let queue: Int?
        /// The number of the operation in its queue, from 1; nil if the operation is on none of the captured queues.
        public let number: UInt64?
        /// The state of the operation.
        public let state: State
        /// The priority by which its queue orders the operation.
        public let priority: TaskPriority
        /// The number of permits that its body takes.
        public let weight: Int
        /// Whether the operation is a barrier.
        public let isBarrier: Bool
        /// Whether the operation was cancelled.
        public let isCancelled: Bool
        /// The reasons why the operation does not execute, or the waits of its body. An operation that waits for its
        /// turn has no other reason.
        public let reasons: [WaitingReason]
    }

    /// The state of an operation.
    public enum State: String, Sendable, Hashable, Codable {
        /// Not added to a queue, and not finished.
        case created
        /// A dependency is unfinished.
        case waiting
        /// Every dependency is finished. The body has not started.
        case ready
        /// The body is executing and holds its permit.
        case executing
        /// The body is waiting and has lent its permit.
        case lent
        /// The wait of the body has ended, and the body waits to get its permit back.
        case returning
        /// The operation has an outcome.
        case finished
    }

    /// A wait of one operation for another.
    public struct Edge: Sendable, Hashable, Codable {
        /// The reason for which one operation waits for another.
        public enum Kind: String, Sendable, Hashable, Codable {
            /// The waiting operation depends on the other.
            case dependency
            /// One of the two operations is a barrier. The target was added before the waiting operation.
            case barrier
            /// The body of the waiting operation awaits the target.
            case wait
        }

        /// The index of the waiting operation.
        public let waiter: Int
        /// The index of the operation for which it waits.
        public let target: Int
        /// The reason for the wait.
        public let kind: Kind
    }

    /// The time of the capture.
    public let instant: ContinuousClock.Instant
    /// The captured queues.
    public internal(set) var queues: [Queue] = []
    /// The operations, in the order of the queues and of arrival, followed by the operations outside of the queues.
    public internal(set) var operations: [Operation] = []
    /// The waits between the operations.
    public internal(set) var edges: [Edge] = []
}
