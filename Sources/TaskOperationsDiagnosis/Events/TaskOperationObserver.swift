public import TaskOperations

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
}

extension TaskOperationQueue {
    /// Adds an observer of all later events. First the observer receives the state of each unfinished operation; see
    /// `TaskOperationEvent.isReplayed`. The queue keeps the observer. Adding the observer again has no effect.
    ///
    /// Linear in the number of unfinished operations. In an observed queue, workers take each operation under the lock
    /// of the queue, which approximately doubles the cost of an empty operation.
    public func addObserver(_ observer: any TaskOperationObserver) {
        scheduler.addListener(ObserverListener(observer, of: scheduler))
    }

    /// Removes an observer. Another thread may still report earlier events to the observer.
    public func removeObserver(_ observer: any TaskOperationObserver) {
        scheduler.removeListener(ObjectIdentifier(observer))
    }

    /// Adds an observer of all queues of the process. These include queues that are created later, scopes, and the
    /// queues that drive bridged queues. Operations without a queue count as operations of an unnamed queue. Queues
    /// whose owner was already released are excluded. The observer is kept until `stopObservingAll`. Adding the
    /// observer again has no effect.
    public static func observeAll(_ observer: any TaskOperationObserver) {
        AllQueues.addListeners(ObjectIdentifier(observer)) { ObserverListener(observer, of: $0) }
    }

    /// Removes an observer that was added by `observeAll`.
    public static func stopObservingAll(_ observer: any TaskOperationObserver) {
        AllQueues.removeListeners(ObjectIdentifier(observer))
    }
}

/// Reports the changes of a queue to an observer.
private final class ObserverListener: ChangeListener {
    private let observer: any TaskOperationObserver
    private let queueIdentity: QueueIdentity

    init(_ observer: any TaskOperationObserver, of scheduler: Scheduler) {
        self.observer = observer
        queueIdentity = scheduler.identity
    }

    package var identity: ObjectIdentifier { ObjectIdentifier(observer) }

    package func receive(_ changes: ArraySlice<LoggedChange>) {
        let queue = QueueLabel(queueIdentity)
        for index in changes.indices { observer.operationChanged(TaskOperationEvent(changes[index], in: queue)) }
    }

    package func queueWasReleased() {}
}
