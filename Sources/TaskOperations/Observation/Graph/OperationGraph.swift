/// The operations of queues that are not finished, and what waits for what, at one moment.
///
/// It also has the operations that these wait for and that are on other queues, or on none. `Codable`, to be stored or
/// sent; `mermaid` and `dot` draw it.
public struct OperationGraph: Sendable, Equatable, Codable {
    public struct Queue: Sendable, Hashable, Codable {
        public let label: QueueLabel
        public let maxConcurrentOperationCount: Int
        /// How many permits operations have.
        public let permitsTaken: Int
        public let isSuspended: Bool
        public let isShutDown: Bool
    }

    public struct Operation: Sendable, Equatable, Codable {
        public let label: OperationLabel
        /// The queue that it is on, as an index; nil if it is on none of these.
        public let queue: Int?
        /// The number of the operation in its queue: the first that was added has 1. Nil if it is on none of these.
        public let number: UInt64?
        public let state: State
        public let priority: TaskPriority
        public let weight: Int
        public let isBarrier: Bool
        public let isCancelled: Bool
        /// Why it does not execute, or what its body waits for. What waits for its turn says only that.
        public let reasons: [WaitingReason]
    }

    /// Where an operation stands.
    public enum State: String, Sendable, Hashable, Codable {
        /// Not added to a queue, and not finished.
        case created
        /// A dependency is unfinished.
        case waiting
        case ready
        case executing
        /// Its body awaits something, with its permit lent.
        case lent
        /// The wait of its body is over, and it wants its permit back.
        case returning
        case finished
    }

    /// An operation waits for another.
    public struct Edge: Sendable, Hashable, Codable {
        public enum Kind: String, Sendable, Hashable, Codable {
            case dependency
            /// The other is a barrier before it, or it is one itself and the other was added before it.
            case barrier
            /// Its body awaits the other.
            case wait
        }

        /// The operation that waits, as an index.
        public let waiter: Int
        /// What it waits for, as an index.
        public let target: Int
        public let kind: Kind
    }

    /// When it was like that.
    public let instant: ContinuousClock.Instant
    public internal(set) var queues: [Queue] = []
    /// In the order of the queues, and of arrival; then the others.
    public internal(set) var operations: [Operation] = []
    public internal(set) var edges: [Edge] = []
}
