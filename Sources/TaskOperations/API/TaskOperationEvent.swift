import Synchronization

/// An event of an operation of a queue.
///
/// The events of a queue have consecutive numbers and are reported in this order. An operation has the events `added`,
/// `ready`, `started` and `finished`, and other events between them. Each kind occurs at most once, unless its comment
/// says otherwise.
public struct TaskOperationEvent: Sendable {
    /// The kind of an event.
    public enum Kind: Sendable {
        /// The operation was added to the queue.
        case added
        /// All dependencies of the operation have finished. Occurs again if another dependency was added later and has
        /// finished.
        case ready
        /// The body begins. The associated value contains the dependencies, which have finished.
        case started(dependencies: [AnyTaskOperation])
        /// The body has lent its permit during a wait. Can occur several times.
        case lent
        /// The body continues with a permit. Can occur several times.
        case returned
        /// The operation was cancelled. If it has not started, it ends at once; otherwise its body decides.
        case cancelled
        /// The operation's own or inherited priority has changed. Can occur several times.
        // Indirect, because the compiler does not know the layout of a priority, and so could not know that of an
        // event.
        indirect case priorityChanged(TaskPriority)
        /// The body runs again after a failure, as its `RetryPolicy` requires. The associated value is the number of
        /// the attempt, from 2.
        case attempt(Int)
        /// The body continues after a wait for this operation, which may be unfinished. Can occur several times.
        case waited(for: AnyTaskOperation)
        /// The operation has ended.
        case finished(Outcome)
        /// The queue removed the operation before its start, because it would close a cycle. The call that added the
        /// operation throws an error. Only an addition that may wait for room has this event; any other addition is
        /// rejected before its first event.
        case withdrawn
    }

    /// The outcome of an operation.
    public enum Outcome: Sendable {
        /// The body returned a value.
        case succeeded
        /// The operation ended with an error other than a cancellation.
        case failed(any Error)
        /// The operation was cancelled, and ended with `CancellationError`.
        case cancelled
    }

    /// The number of the event in its queue. Events are counted only while the queue has an observer.
    public let number: UInt64
    package let moment: Moment
    package let counts: ChangeCounts
    /// The kind of change.
    public let kind: Kind
    /// The operation that changed.
    public let operation: AnyTaskOperation
    /// The number of the operation in its queue. The first operation has 1, and later operations have higher numbers.
    /// The end of the delay of a barrier leaves a gap.
    public let operationNumber: UInt64
    /// The queue of the operation.
    public let queue: QueueLabel
    /// Whether the event describes a state that existed when the observer was added. Such an event has the instant of
    /// that addition, and the number of the last event before it.
    public let isReplayed: Bool
    /// The number of events that a bounded buffer dropped immediately before this event, because the consumer was too
    /// slow.
    public package(set) var missedCount = 0
    /// The limits of an operation that was added, or that they refused; empty for other kinds of events.
    private let limits: [LimitRequest]

    /// The time of the event. Events of one step have the same instant.
    public var instant: ContinuousClock.Instant { moment.instant }

    /// Returns the key for which the operation takes permits of a semaphore. Only events of the kind `added` have keys.
    /// To count operations by key, remember the key of each operation until its end.
    ///
    /// - Returns: The key. Nil if the operation takes no permits of the semaphore or takes them without a key, or if it
    ///   ended before the queue received it. An operation that a limit refused has its key.
    public func key(of limit: AsyncSemaphore) -> (any Hashable & Sendable)? { limits.key(of: limit) }
}

extension TaskOperationEvent {
    /// Reads the properties of an operation that has just changed. Called before the operation continues.
    ///
    /// - Parameters:
    ///   - other: The second operation of the change; nil if the change concerns one operation.
    ///   - isReplayed: Whether the change happened before the observer was added.
    init(
        _ change: OperationChange, of operation: AnyTaskOperation, with other: AnyTaskOperation? = nil,
        at moment: Moment, in queue: QueueLabel, isReplayed: Bool
    ) {
        number = change.number
        self.moment = moment
        counts = change.counts
        kind = Kind(change.kind, of: operation, with: other)
        self.operation = operation
        operationNumber = change.arrival
        self.queue = queue
        self.isReplayed = isReplayed
        // Read now, because the operation can end before the event is delivered, and then has no limits.
        if case .added = change.kind {
            let present = operation.limitRequests
            limits = present.isEmpty ? operation.refusingLimits : present
        } else {
            limits = []
        }
    }
}

extension TaskOperationEvent.Kind {
    fileprivate init(_ kind: ChangeKind, of operation: AnyTaskOperation, with other: AnyTaskOperation?) {
        self =
            switch kind {
            case .added: .added
            case .ready: .ready
            case .started: .started(dependencies: operation.dependencies)
            case .lent: .lent
            case .returned: .returned
            case .cancelled: .cancelled
            case .levelChanged(let level): .priorityChanged(level.taskPriority)
            case .attempt(let number): .attempt(number)
            case .waited: .waited(for: other!)
            case .finished: .init(endOf: operation)
            }
    }

    private init(endOf operation: AnyTaskOperation) {
        let (isFinished, isCancelled, outcome) = operation.record.withLock {
            (operation.isFinished, $0.isCancelled, operation.finalOutcome)
        }
        self = isFinished ? .finished(.init(outcome, isCancelled: isCancelled)) : .withdrawn
    }
}

extension TaskOperationEvent.Outcome {
    fileprivate init(_ outcome: Outcome?, isCancelled: Bool) {
        switch outcome?.result {
        case nil, .success: self = .succeeded
        case .failure(let error as CancellationError): self = isCancelled ? .cancelled : .failed(error)
        case .failure(let error): self = .failed(error)
        }
    }
}

extension TaskOperationEvent: CustomStringConvertible {
    /// The event as text, as in `3: "decode" started on queue "images"`.
    public var description: String { "\(number): \(OperationLabel(operation)) \(kind) on \(queue)" }
}

extension TaskOperationEvent.Kind: CustomStringConvertible {
    public var description: String {
        switch self {
        case .added: "added"
        case .ready: "ready"
        case .started: "started"
        case .lent: "lent its permit"
        case .returned: "has its permit back"
        case .cancelled: "cancelled"
        case .priorityChanged(let priority): "priority \(PriorityLevel(priority))"
        case .attempt(let number): "attempt \(number)"
        case .waited(let other): "waited for \(OperationLabel(other))"
        case .finished(let outcome): "\(outcome)"
        case .withdrawn: "withdrawn"
        }
    }
}

extension TaskOperationEvent.Outcome: CustomStringConvertible {
    public var description: String {
        switch self {
        case .succeeded: "succeeded"
        case .failed(let error): "failed: \(error)"
        case .cancelled: "ended as cancelled"
        }
    }
}

/// An observer of the events of operations.
///
/// Each queue calls the observer in the order of its events, from one thread at a time. Several queues can call the
/// observer at once. The caller is a thread that has changed the queue. It holds no lock, and calls after the effects
/// of the change have begun. So the observer may call any function of operations and queues.
///
/// A slow observer delays the thread that calls it. That thread also reports events of other threads, which do not
/// wait. If the thread is a worker of the queue, the operation that it has just taken waits too, with its permit. So an
/// observer must not wait for operations. If thousands of events are not reported yet, each call that changes the queue
/// waits for a few microseconds.
public protocol TaskOperationObserver: AnyObject, Sendable {
    /// Receives an event of an operation.
    func operationChanged(_ event: TaskOperationEvent)

    /// Called when an observed queue was released. No event of this queue follows. By default, has no effect.
    func queueWasReleased(_ queue: QueueLabel)
}

extension TaskOperationObserver {
    public func queueWasReleased(_ queue: QueueLabel) {}

    /// The identity of the observer. Adding an observer with the same identity again has no effect.
    var identity: ObjectIdentifier { ObjectIdentifier(self) }
}
