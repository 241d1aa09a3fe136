public import Foundation

/// The content of a file that a `TraceRecorder` has written. It contains the waits and executions of operations.
public struct Trace: Sendable {
    /// A queue of the trace.
    public struct Queue: Sendable, Hashable {
        /// The name of the queue.
        public let name: String
        /// The number of permits; nil if it was unknown when the recorder received the first event of the queue.
        public let width: Int?
        /// The maximum number of permits in use at once.
        public internal(set) var laneCount = 0
    }

    /// A period in which an operation had a permit.
    public struct Slice: Sendable, Hashable {
        /// The start, in seconds since the beginning of the trace.
        public let start: Double
        /// The end, in seconds since the beginning of the trace.
        public let end: Double
        /// The number of the permit in the queue, from 0. Permits are numbered in the order of their first use in the
        /// file.
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
        /// The operation was still executing when the trace ended.
        case unfinished
    }

    /// An operation that executed. Times are in seconds since the beginning of the trace.
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

        /// The time at which the body started.
        public var start: Double { slices.first?.start ?? ready }
        /// The time at which the operation ended.
        public var end: Double { slices.last?.end ?? ready }
        /// The time for which the operation waited for dependencies.
        public var waitedForDependencies: Double { ready - added }
        /// The time for which the operation was ready and waited for its turn and a permit.
        public var waitedForPermit: Double { start - ready }
        /// The time for which the operation had a permit.
        public var executed: Double { slices.reduce(0) { $0 + $1.end - $1.start } }
    }

    /// The queues, in the order of their first event.
    public internal(set) var queues: [Queue] = []
    /// The operations, in the order of their starts.
    public internal(set) var operations: [Operation] = []
    /// The number of operations that were cancelled.
    public internal(set) var cancellationCount = 0
    /// Whether the recorder closed the file. If false, events of up to the last half second are missing.
    public internal(set) var isComplete = false

    /// The time at which the first operation was added.
    public internal(set) var beginning = 0.0
    /// The duration of the trace in seconds, from the addition of the first operation to the last end.
    public internal(set) var duration = 0.0

    /// Reads a file that a `TraceRecorder` has written.
    ///
    /// - Parameter url: The file.
    /// - Throws: `TraceError.file` if the file cannot be read, or `TraceError.line` if a line is invalid or incomplete.
    ///   A line is also invalid if its times are negative, exceed 30 years or decrease.
    public init(contentsOf url: URL) throws(TraceError) {
        let data: Data
        do {
            data = try Data(contentsOf: url, options: .mappedIfSafe)
        } catch {
            throw .file(path: url.path, reason: "cannot be read: \(error.localizedDescription)")
        }
        var reader = TraceReader(path: url.path)
        try reader.read(data)
        self = reader.trace
    }

    init() {}
}
