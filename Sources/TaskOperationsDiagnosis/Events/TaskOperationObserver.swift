public import TaskOperations

/// An observer of the events of operations.
///
/// For each queue it is called in the order of the events, and by one thread at a time. An observer of several queues can be
/// called for two of them at once. It is called with no lock held, by a thread that has changed a queue, after the effects of
/// the change have begun. So it may call all functions of operations and queues.
///
/// Other threads do not wait for a slow observer: the thread that it delays reports their events later. If this thread is a
/// worker of the queue, the operation that it has just taken waits, too, with its permit: an observer must not wait for
/// operations. If thousands of events are not reported yet, each call that changes the queue waits some microseconds.
public protocol TaskOperationObserver: AnyObject, Sendable {
    /// Something happened to an operation.
    func operationChanged(_ event: TaskOperationEvent)
}

extension TaskOperationQueue {
    /// Adds an observer of all later events. First it receives the state of each unfinished operation, as
    /// `TaskOperationEvent.isReplayed` describes. The queue keeps the observer. Adding it again has no effect.
    ///
    /// Linear in the number of unfinished operations. In an observed queue, workers take each operation under the lock of the
    /// queue: an empty operation costs about twice as much.
    public func addObserver(_ observer: any TaskOperationObserver) {
        scheduler.addListener(ObserverListener(observer, of: scheduler))
    }

    /// Removes an observer. Another thread may still report earlier events to it.
    public func removeObserver(_ observer: any TaskOperationObserver) {
        scheduler.removeListener(ObjectIdentifier(observer))
    }

    /// Adds an observer of all queues of the process: also of queues that are created later, of scopes, and of the queues that
    /// drive bridged ones. Operations that are started without a queue count as operations of an unnamed queue. Queues whose
    /// owner was already released are excluded. The observer is kept until `stopObservingAll`. Adding it again has no effect.
    public static func observeAll(_ observer: any TaskOperationObserver) {
        AllQueues.addListeners(ObjectIdentifier(observer)) { ObserverListener(observer, of: $0) }
    }

    /// Undoes `observeAll`.
    public static func stopObservingAll(_ observer: any TaskOperationObserver) {
        AllQueues.removeListeners(ObjectIdentifier(observer))
    }
}

/// Tells an observer of the changes of a queue.
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
