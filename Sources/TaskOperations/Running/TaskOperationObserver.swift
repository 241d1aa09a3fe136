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
