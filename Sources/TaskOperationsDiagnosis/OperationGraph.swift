public import TaskOperations

/// The unfinished operations of queues at one moment, and the waits between these operations.
///
/// If these operations wait for operations outside of the captured queues, the graph contains those, too. You can
/// encode the graph to store or send it. Decoding throws `DecodingError.dataCorrupted` if an index is outside of the
/// decoded arrays. `mermaid` draws the graph.
public struct OperationGraph: Sendable, Equatable, Codable {
    /// A queue of the graph.
    public struct Queue: Sendable, Hashable, Codable {
        /// The label of the queue.
        public let label: QueueLabel
        /// The width of the queue.
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
        /// The priority that the queue uses to order the operation.
        public let priority: TaskPriority
        /// The number of permits that the body takes.
        public let weight: Int
        /// Whether the operation is a barrier.
        public let isBarrier: Bool
        /// Whether the operation was cancelled.
        public let isCancelled: Bool
        /// The reasons why the operation has not started. For an operation that executes, the waits of its body. If the
        /// operation waits for its turn, the reasons `permits` and `executor` are omitted.
        public let reasons: [WaitingReason]
        /// The semaphores that limit the operation, in the order in which they were created. Empty if the operation has
        /// ended.
        public internal(set) var limits: [Limit] = []
    }

    /// A semaphore that limits an operation.
    public struct Limit: Sendable, Hashable, Codable {
        /// The name of the semaphore; nil if it has no name.
        public let name: String?
        /// The key of the permits as text; nil if the operation takes the permits without a key.
        public let key: String?
        /// The number of permits that the operation takes.
        public let weight: Int
    }

    /// The state of an operation.
    public enum State: String, Sendable, Hashable, Codable {
        /// The operation was not added to a queue and is not finished.
        case created
        /// The operation waits for a dependency or a delay.
        case waiting
        /// All dependencies are finished, the delay is over, and the body has not started.
        case ready
        /// The body is executing and holds its permit.
        case executing
        /// The body is waiting and has lent its permit.
        case lent
        /// The wait of the body has ended. The body waits for the return of its permit.
        case returning
        /// The operation has an outcome.
        case finished
    }

    /// A wait of one operation for another.
    public struct Edge: Sendable, Hashable, Codable {
        /// The reason why one operation waits for another.
        public enum Kind: String, Sendable, Hashable, Codable {
            /// The waiting operation depends on the target.
            case dependency
            /// One of the two operations is a barrier. The target was added before the waiting operation.
            case barrier
            /// The body of the waiting operation awaits the target.
            case wait
        }

        /// The index of the waiting operation.
        public let waiter: Int
        /// The index of the awaited operation.
        public let target: Int
        /// The reason for the wait.
        public let kind: Kind
    }

    /// The time of the capture.
    public let instant: ContinuousClock.Instant
    /// The captured queues.
    public internal(set) var queues: [Queue] = []
    /// The operations. They are ordered by queue, then by arrival. Operations outside of the queues are last.
    public internal(set) var operations: [Operation] = []
    /// The waits between the operations.
    public internal(set) var edges: [Edge] = []
}

extension OperationGraph {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        instant = try container.decode(ContinuousClock.Instant.self, forKey: .instant)
        queues = try container.decode([Queue].self, forKey: .queues)
        operations = try container.decode([Operation].self, forKey: .operations)
        edges = try container.decode([Edge].self, forKey: .edges)
        let isValid =
            operations.allSatisfy { $0.queue.map(queues.indices.contains) ?? true }
            && edges.allSatisfy { operations.indices.contains($0.waiter) && operations.indices.contains($0.target) }
        if !isValid {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "An index is outside of its array."))
        }
    }
}
