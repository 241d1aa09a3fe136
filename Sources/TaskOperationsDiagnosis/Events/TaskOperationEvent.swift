public import TaskOperations

/// An event of an operation of a queue.
///
/// The events of a queue are numbered without gaps and reported in the order of their numbers. An operation has the
/// events `added`, `ready`, `started` and `finished`, and other events between them. Each occurs at most once, unless
/// its comment says otherwise.
public struct TaskOperationEvent: Sendable {
    /// The kind of an event.
    public enum Kind: Sendable {
        /// The operation was added to the queue.
        case added
        /// All its dependencies have finished. Occurs again after the end of a dependency that was added later.
        case ready
        /// Its body begins. The associated value contains its dependencies, which have finished.
        case started(dependencies: [AnyTaskOperation])
        /// Its body has lent its permit during a wait. Can occur several times.
        case lent
        /// Its body continues with a permit. Can occur several times.
        case returned
        /// It was cancelled. It ends at once if it has not started; otherwise its body decides.
        case cancelled
        /// Its priority has changed: its own, or one that it inherits. Can occur several times.
        // Indirect, because the compiler does not know the layout of a priority, and would therefore not know the
        // layout of an event.
        indirect case priorityChanged(TaskPriority)
        /// Its body runs again after a failure, according to its `RetryPolicy`. The associated value is the number of
        /// the attempt, from 2.
        case attempt(Int)
        /// Its body continues after a wait for this operation, which may be unfinished. Can occur several times.
        case waited(for: AnyTaskOperation)
        /// It has ended.
        case finished(Outcome)
        /// The queue removed it before its start, because it would close a cycle, and the call that added it throws an
        /// error. This occurs only for additions that may wait for room; other additions are refused before their first
        /// event.
        case withdrawn
    }

    /// The outcome of an operation.
    public enum Outcome: Sendable {
        /// The body returned a value.
        case succeeded
        /// The operation ended with an error other than a cancellation.
        case failed(any Error)
        /// It was cancelled, and ended with `CancellationError`.
        case cancelled
    }

    /// The number of the event in its queue. Events are counted while the queue has an observer.
    public let number: UInt64
    package let moment: Moment
    /// The kind of change.
    public let kind: Kind
    /// The operation that changed.
    public let operation: AnyTaskOperation
    /// The number of the operation in its queue: the first that was added has 1.
    public let operationNumber: UInt64
    /// The queue of the operation.
    public let queue: QueueLabel
    /// Whether the event describes the state at the time when the observer was added. Its instant is the addition of
    /// the observer, and its number is that of the last event before the addition.
    public let isReplayed: Bool
    /// The number of events that a bounded buffer dropped immediately before this one, because they were not taken in
    /// time.
    public internal(set) var missedCount = 0

    /// The time of the event. Events of one step have the same instant.
    public var instant: ContinuousClock.Instant { moment.instant }
}

extension TaskOperationEvent {
    @inline(__always)
    init(_ logged: LoggedChange, in queue: QueueLabel) {
        number = logged.number
        moment = logged.moment
        kind = Kind(logged)
        operation = logged.operation
        operationNumber = logged.arrival
        self.queue = queue
        isReplayed = logged.isReplayed
    }
}

extension TaskOperationEvent.Kind {
    @inline(__always)
    fileprivate init(_ logged: LoggedChange) {
        self =
            switch logged.kind {
            case .added: .added
            case .ready: .ready
            case .started: .started(dependencies: logged.detail.dependencies)
            case .lent: .lent
            case .returned: .returned
            case .cancelled: .cancelled
            case .levelChanged(let level): .priorityChanged(level.taskPriority)
            case .attempt(let number): .attempt(number)
            case .waited: .init(waitIn: logged.detail)
            case .finished: .init(logged.detail, endOf: logged.operation)
            }
    }

    private init(waitIn detail: LoggedChange.Detail) {
        guard case .awaited(let other) = detail else { preconditionFailure("a wait for nothing") }
        self = .waited(for: other)
    }

    private init(_ detail: LoggedChange.Detail, endOf operation: AnyTaskOperation) {
        if case .outcome(let outcome) = detail {
            self = .finished(.init(outcome, of: operation))
        } else {
            self = .withdrawn
        }
    }
}

extension LoggedChange.Detail {
    fileprivate var dependencies: [AnyTaskOperation] {
        if case .dependencies(let dependencies) = self { dependencies } else { [] }
    }
}

extension TaskOperationEvent.Outcome {
    fileprivate init(_ outcome: Outcome?, of operation: AnyTaskOperation) {
        switch outcome?.result {
        case nil, .success: self = .succeeded
        case .failure(let error as CancellationError): self = operation.isCancelled ? .cancelled : .failed(error)
        case .failure(let error): self = .failed(error)
        }
    }
}

extension TaskOperationEvent: CustomStringConvertible {
    /// The event in words, as in `3: "decode" started on queue "images"`.
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
