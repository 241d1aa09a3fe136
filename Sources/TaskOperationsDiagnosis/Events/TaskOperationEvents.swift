public import TaskOperations

/// The events of operations, as a sequence.
///
/// The sequence begins with the state at the first call of `next()`; see `TaskOperationEvent.isReplayed`. It ends when
/// the queues are released, or when the task is cancelled. You can iterate over it several times.
///
/// ```swift
/// for await event in queue.events { print(event) }
/// ```
public struct TaskOperationEvents: AsyncSequence, Sendable {
    public typealias Element = TaskOperationEvent
    public typealias Failure = Never

    /// The rule for events that occur faster than the consumer takes them.
    public enum BufferingPolicy: Sendable {
        /// Keeps all events.
        case unbounded
        /// Keeps the given number of newest events. `TaskOperationEvent.missedCount` is the number of events dropped
        /// before an event.
        case newest(Int)
        /// Keeps the given number of oldest events, and drops later events until there is room again.
        case oldest(Int)
    }

    fileprivate enum Source: Sendable {
        case queues([WeakScheduler])
        case all
    }

    /// Hold no lock during the access, because the result may become the last reference.
    fileprivate struct WeakScheduler: Sendable {
        weak let scheduler: Scheduler?
    }

    private let source: Source
    private let policy: BufferingPolicy

    init(of schedulers: [Scheduler], _ policy: BufferingPolicy) {
        source = .queues(schedulers.map { WeakScheduler(scheduler: $0) })
        self.policy = policy
    }

    init(ofAll policy: BufferingPolicy) {
        source = .all
        self.policy = policy
    }

    public func makeAsyncIterator() -> Iterator { Iterator(EventSubscription(source, policy)) }

    /// An iterator over the events.
    public struct Iterator: AsyncIteratorProtocol {
        private let subscription: EventSubscription

        fileprivate init(_ subscription: EventSubscription) {
            self.subscription = subscription
        }

        public mutating func next() async -> TaskOperationEvent? { await subscription.buffer.next() }
    }

    /// Listens to the queues until it is released.
    fileprivate final class EventSubscription: Sendable {
        let buffer: EventBuffer
        private let source: Source

        init(_ source: Source, _ policy: BufferingPolicy) {
            self.source = source
            switch source {
            case .queues(let queues):
                let schedulers = queues.compactMap(\.scheduler)
                buffer = EventBuffer(policy, sourceCount: schedulers.count)
                for scheduler in schedulers { scheduler.addObserver(buffer) }
            case .all:
                // One more than the current number of queues, because queues can be created later.
                buffer = EventBuffer(policy, sourceCount: .max)
                AllQueues.addObserver(buffer)
            }
        }

        deinit {
            switch source {
            case .queues(let queues):
                for queue in queues { queue.scheduler?.removeObserver(buffer) }
            case .all: AllQueues.removeObserver(buffer)
            }
        }
    }
}

extension TaskOperationQueue {
    /// The events of the queue's operations, as a sequence with an unbounded buffer.
    public var events: TaskOperationEvents { events(buffering: .unbounded) }

    /// Returns the events of the queue's operations, as a sequence.
    ///
    /// - Parameter policy: The rule for events that occur faster than the consumer takes them. A limit is at least 1.
    public func events(buffering policy: TaskOperationEvents.BufferingPolicy) -> TaskOperationEvents {
        Self.events(of: [self], buffering: policy)
    }

    /// Returns the events of the operations of several queues, as a sequence. The events of each queue are in order.
    ///
    /// - Parameters:
    ///   - queues: The queues.
    ///   - policy: The rule for events that occur faster than the consumer takes them. A limit is at least 1.
    public static func events(
        of queues: [TaskOperationQueue], buffering policy: TaskOperationEvents.BufferingPolicy
    ) -> TaskOperationEvents {
        policy.check()
        return TaskOperationEvents(of: Set(queues).map(\.scheduler), policy)
    }

    /// Returns the events of the operations on every queue of the process, as a sequence; see `observeAll`. The
    /// sequence ends only when the task is cancelled.
    ///
    /// - Parameter policy: The rule for events that occur faster than the consumer takes them. A limit is at least 1.
    public static func allEvents(buffering policy: TaskOperationEvents.BufferingPolicy) -> TaskOperationEvents {
        policy.check()
        return TaskOperationEvents(ofAll: policy)
    }
}

extension TaskOperationEvents.BufferingPolicy {
    fileprivate func check() {
        switch self {
        case .unbounded: break
        case .newest(let limit), .oldest(let limit):
            require(limit > 0, "the limit of the buffer is \(limit); it must be at least 1.")
        }
    }
}
