public import TaskOperations

/// The events of operations, as a sequence.
///
/// An iteration first describes the present state; see `TaskOperationEvent.isReplayed`. It ends when the queue is
/// released, or when the task is cancelled. You can iterate over the sequence several times.
///
/// ```swift
/// for await event in queue.events { print(event) }
/// ```
///
/// If events occur faster than the consumer takes them, the sequence keeps the newest 1,000 events, in addition to those
/// that describe the state at the beginning. `TaskOperationEvent.missedCount` is the number of events that were dropped
/// before an event.
public struct TaskOperationEvents: AsyncSequence, Sendable {
    public typealias Element = TaskOperationEvent
    public typealias Failure = Never

    fileprivate enum Source: Sendable {
        case queue(WeakScheduler)
        case all
    }

    /// Hold no lock during the access, because the result may become the last reference.
    fileprivate struct WeakScheduler: Sendable {
        weak let scheduler: Scheduler?
    }

    private let source: Source
    private let limit: Int

    fileprivate init(_ source: Source, newest limit: Int = 1000) {
        (self.source, self.limit) = (source, limit)
    }

    /// Returns the same events with a buffer of another size.
    ///
    /// - Parameter count: The number of newest events to keep; at least 1. `.max` keeps all events.
    public func buffering(newest count: Int) -> TaskOperationEvents {
        require(count > 0, "the limit of the buffer is \(count); it must be at least 1.")
        return TaskOperationEvents(source, newest: count)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(EventSubscription(source, newest: limit)) }

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

        init(_ source: Source, newest limit: Int) {
            self.source = source
            switch source {
            case .queue(let queue):
                let scheduler = queue.scheduler
                buffer = EventBuffer(newest: limit, endsWithQueue: true, isEnded: scheduler == nil)
                scheduler?.addObserver(buffer)
            case .all:
                // Queues can be created later.
                buffer = EventBuffer(newest: limit, endsWithQueue: false)
                TaskOperationQueue.addObserver(buffer)
            }
        }

        deinit {
            switch source {
            case .queue(let queue): queue.scheduler?.removeObserver(buffer)
            case .all: TaskOperationQueue.removeObserver(buffer)
            }
        }
    }
}

extension TaskOperationQueue {
    /// The events of the queue's operations, as a sequence.
    public var events: TaskOperationEvents { TaskOperationEvents(.queue(.init(scheduler: scheduler))) }

    /// The events of the operations on every queue of the process, as a sequence; see `addObserver` of this type. The
    /// sequence ends only when the task is cancelled.
    public static var events: TaskOperationEvents { TaskOperationEvents(.all) }
}
