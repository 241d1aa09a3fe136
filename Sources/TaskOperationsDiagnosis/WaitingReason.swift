public import TaskOperations

/// A reason why an operation does not execute, or a wait of its executing body.
///
/// An operation can have several reasons at once. It starts when no reason remains. In an `OperationGraph`, only the
/// first operation that waits for permits has the reasons `permits` and `executor`. Later operations have the reason
/// `turn`.
public enum WaitingReason: Sendable, Hashable, Codable {
    /// The operation was not added to a queue.
    case notAdded
    /// The operation represents unfinished work that the library does not run, such as a Foundation operation.
    case outside
    /// The operation waits for room in this queue, which is full.
    case room(QueueLabel)
    /// The operation depends on this unfinished operation. `queue` is the queue of the dependency; nil if the
    /// dependency has no queue.
    case dependency(OperationLabel, queue: QueueLabel?)
    /// The operation waits for the end of its delay.
    case delay
    /// The operation was added after this barrier, which has not finished.
    case barrier(OperationLabel)
    /// The operation is a barrier, and earlier operations are unfinished. `count` is the number of unfinished
    /// operations since the previous barrier.
    case operationsBefore(count: Int)
    /// This queue is suspended. It is the queue of the operation or, if the operation belongs to a group, the outermost
    /// suspended queue that contains the group.
    case suspended(QueueLabel)
    /// All operations of the queue are currently being cancelled.
    case cancellation
    /// The operation waits for its turn. `ahead` is the number of operations that the queue serves first.
    case turn(ahead: Int)
    /// Too few permits of the queue are free for the operation that the queue serves next. `weight` is the number of
    /// permits that this operation needs, `width` is the width of the queue, and `holders` are the operations that hold
    /// its permits.
    case permits(weight: Int, width: Int, holders: [PermitHolder])
    /// The number of executing operations of the same priority has reached this limit. The method
    /// `setMaxConcurrentOperationCount(_:for:)` has set the limit.
    case priorityLimit(Int)
    /// A semaphore that limits the operation has too few free permits. The text describes the semaphore.
    case limit(String)
    /// The rate of the queue prevents further starts for this time.
    case rate(next: Duration)
    /// The operation has a permit, but the executor has not run its task yet.
    case executor
    /// The body of the operation is waiting, or one of the body's child tasks is waiting.
    case body(BodyWait)
    /// The body executes its own code and does not wait for an object of the library. `since` is the start of the
    /// operation; nil if the queue was not observed at the start.
    case execution(since: ContinuousClock.Instant?)
    /// The operation is finished.
    case finished
}

/// An operation that holds permits of its queue.
public struct PermitHolder: Sendable, Hashable, Codable {
    /// The operation.
    public let operation: OperationLabel
    /// The number of permits that the operation holds.
    public let weight: Int
    /// The time at which the operation started; nil if the queue was not observed at that time.
    public let since: ContinuousClock.Instant?
}

/// A wait of the body of an operation.
public struct BodyWait: Sendable, Hashable, Codable {
    /// The object or event for which a body waits.
    public enum Target: Sendable, Hashable, Codable {
        /// The end of an operation. `queue` is the queue of that operation; nil if it has no queue.
        case operation(OperationLabel, queue: QueueLabel?)
        /// The end of all operations of a queue.
        case endOfQueue(QueueLabel)
        /// An `AsyncSemaphore`. The text describes the semaphore.
        case semaphore(String)
        /// A completion handler that was not called. The text describes the handler.
        case completionHandler(String)
        /// An `AsyncGroup`. The text describes the group.
        case group(String)
        /// The end of a pause between two attempts. `beforeAttempt` is the number of the next attempt. `length` is the
        /// length of the pause.
        case pause(beforeAttempt: Int, length: Duration)
        /// Room for another operation in a queue.
        case room(QueueLabel)
        /// Work outside of the library, such as work within `withPermitLent`.
        case outside
    }

    /// The object or event for which the body waits.
    public let target: Target
    /// The instant at which the wait began.
    public let since: ContinuousClock.Instant
    /// Whether the body has lent its permit during the wait.
    public let isPermitLent: Bool
}

// MARK: - Sentences

extension WaitingReason: CustomStringConvertible {
    /// The reason as the end of a sentence that begins with the operation's name. An example is
    /// `waits for "download" on queue "net"`.
    public var description: String {
        switch self {
        case .notAdded: "was not added to a queue"
        case .outside: "represents work outside the library that has not ended"
        case .room(let queue): "waits for room in \(queue)"
        case .dependency(let operation, let queue): "waits for \(operation)\(queue.map { " on \($0)" } ?? "")"
        case .delay: "waits for the end of its delay"
        case .barrier(let barrier): "waits behind the barrier \(barrier)"
        case .operationsBefore(let count): "is a barrier and waits for \(count) before it"
        case .suspended(let queue): "waits for \(queue) to be resumed"
        case .cancellation: "waits until all other operations are cancelled"
        case .turn(let count): "is behind \(count) \(count == 1 ? "other" : "others")"
        case .permits(let weight, let width, let holders): Self.describe(weight, width, holders)
        case .priorityLimit(let count): "waits because its priority is limited to \(count) at once"
        case .limit(let text): "waits for \(text)"
        case .rate(let time): "waits \(time) for the rate of its queue"
        case .executor: "waits for its executor to run it"
        case .body(let wait): wait.description
        case .execution: "executes its own code"
        case .finished: "is finished"
        }
    }

    private static func describe(_ weight: Int, _ width: Int, _ holders: [PermitHolder]) -> String {
        if width == 0 { return "waits for permits of a queue of width 0" }
        // The numbers of a decoded reason can be any numbers.
        var free = max(0, width)
        for holder in holders { free = max(0, free - max(0, holder.weight)) }
        let shown = holders.prefix(5).map { "\($0.operation)" }
        let rest = holders.count - shown.count
        let list = shown.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        let count = weight == 1 ? "one" : "\(weight)"
        let others = free > 0 ? ", of which \(free) \(free == 1 ? "is" : "are") free and the others are" : ","
        return "waits for \(count) of \(width) \(width == 1 ? "permit" : "permits")\(others) held by \(list)"
    }
}

extension BodyWait: CustomStringConvertible {
    public var description: String {
        let target =
            switch target {
            case .operation(let operation, let queue): "\(operation)\(queue.map { " on \($0)" } ?? "")"
            case .endOfQueue(let queue): "the end of all operations in \(queue)"
            case .semaphore(let text), .completionHandler(let text), .group(let text): text
            case .pause(let attempt, let length): "the end of a pause of \(length) before attempt \(attempt)"
            case .room(let queue): "room in \(queue)"
            case .outside: "something outside"
            }
        return "awaits \(target)\(isPermitLent ? ", with its permit lent" : "")"
    }
}
