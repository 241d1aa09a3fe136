import TaskOperations

/// What a `FlightRecorder` has recorded: the waits and the executions of operations.
public struct Trace: Sendable {
    /// A queue of the trace.
    public struct Queue: Sendable, Hashable {
        /// The name of the queue.
        public let name: String
        /// The number of permits; nil if there is no limit.
        public let width: Int?
        /// The maximum number of permits in use at once.
        public internal(set) var laneCount = 0
        /// The number of the queue in its process.
        var number: UInt64 = 0
    }

    /// A period in which an operation had a permit.
    public struct Slice: Sendable, Hashable {
        /// The start, in seconds since the creation of the recorder.
        public let start: Double
        /// The end, in seconds since the creation of the recorder.
        public let end: Double
        /// The number of the permit in the queue, from 0. Permits are numbered in the order of their first use.
        public let lane: Int
    }

    /// The outcome of an operation.
    public enum Outcome: String, Sendable, Hashable {
        /// The body returned a value.
        case succeeded
        /// The operation ended with an error other than a cancellation.
        case failed
        /// The operation ended with a cancellation.
        case cancelled
        /// The operation ended with `TaskOperationError.timedOut`.
        case timedOut
        /// The operation ended with `TaskOperationError.dependencyFailed`. Such an operation starts, and ends at once
        /// without its body, unless the body has thrown this error.
        case dependencyFailed
        /// The operation was still executing when the trace ended.
        case unfinished
    }

    /// An operation that executed. Times are in seconds since the creation of the recorder.
    public struct Operation: Sendable, Hashable {
        /// The name of the operation.
        public let name: String
        /// The index of the queue.
        public let queue: Int
        /// The number of the operation in its queue. The first added operation has the number 1.
        public let number: Int
        /// The time at which the operation was added.
        public let added: Double
        /// The time at which all dependencies of the operation had finished. Without dependencies, it equals `added`.
        public let ready: Double
        /// The periods in which the operation had a permit, in order.
        public internal(set) var slices: [Slice]
        /// The outcome.
        public internal(set) var outcome: Outcome
        /// The indices of the operation's dependencies.
        public internal(set) var dependencies: [Int] = []
        /// The indices of the operations that the body awaited.
        public internal(set) var awaited: [Int] = []
        /// What the unfinished body was awaiting when the trace ended: the names of operations, and nil for anything else.
        public internal(set) var awaits: [String?] = []

        /// The time at which the body started.
        public var start: Double { slices.first?.start ?? ready }
        /// The time at which the operation ended.
        public var end: Double { slices.last?.end ?? ready }
        /// The time for which the operation waited for dependencies, in seconds.
        public var waitedForDependencies: Double { ready - added }
        /// The time for which the operation was ready and waited for its turn and a permit, in seconds.
        public var waitedForPermit: Double { start - ready }
        /// The time for which the operation had a permit, in seconds.
        public var executed: Double { slices.reduce(0) { $0 + $1.end - $1.start } }
    }

    /// An operation that had not started when the trace ended.
    public struct Waiting: Sendable, Hashable {
        /// Why the operation had not started, as far as the records tell.
        public enum Reason: Sendable, Hashable {
            /// This dependency had not ended.
            case dependency(String)
            /// The operation's delay was not over.
            case delay
            /// The queue was suspended.
            case suspension
            /// All permits of the queue were in use.
            case permit
            /// The operation needed a permit of this limit.
            case limit(String)
            /// This operation had to end first, because one of the two is a barrier.
            case barrier(String)
        }

        /// The name of the operation.
        public let name: String
        /// The index of the queue.
        public let queue: Int
        /// The number of the operation in its queue.
        public let number: Int
        /// The time at which the operation was added; 0 if that was before the records.
        public let added: Double
        /// The reasons; empty if the records tell none.
        public internal(set) var reasons: [Reason] = []
    }

    /// The queues, in the order of their creation.
    public internal(set) var queues: [Queue] = []
    /// The operations, in the order of their starts.
    public internal(set) var operations: [Operation] = []
    /// The operations that had not started at the end, in the order of their addition.
    public internal(set) var waiting: [Waiting] = []
    /// The number of operations that were cancelled.
    public internal(set) var cancellationCount = 0
    /// Whether the recorder was stopped.
    public internal(set) var isComplete = false

    /// The time at which the trace ends: when it was read from a running process, otherwise the time of the last change.
    public internal(set) var end = 0.0
    /// The time at which the first operation was added.
    public internal(set) var beginning = 0.0
    /// The duration of the trace in seconds, from the addition of the first operation to the last end.
    public internal(set) var duration = 0.0

    /// The time of second 0, in nanoseconds since 1970.
    var wallTime: UInt64 = 0
    /// The number of the recorded process.
    var process: UInt64 = 0

    /// Reads the file of a recorder. The process may be running, or may have ended in any way.
    ///
    /// - Parameter path: The path of the file.
    /// - Throws: `TraceError.file` if the file cannot be read or is no recording. Damaged parts of a recording are left out.
    public init(contentsOf path: String) throws(TraceError) {
        self = try RecordReader(contentsOf: path).trace()
    }

    init() {}
}

/// An error that occurred while a recording was written or read.
public enum TraceError: Error, Sendable {
    /// A file could not be created, written or read, or is no recording.
    case file(path: String, reason: String)
}

extension TraceError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .file(let path, let reason): "\(path): \(reason)"
        }
    }
}
