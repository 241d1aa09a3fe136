/// Learns of everything that happens to operations.
///
/// For each queue it is called in the order of the events, and by one thread at a time; an observer of several queues can
/// be called for two of them at once. It is called with no lock held, by whatever thread has changed a queue, after what
/// follows from the change is under way. So it may do anything with operations and queues. While it is slow, others do
/// not wait for it: what they do is told later, by the thread that it holds up. If that thread is a worker of the queue, the
/// operation that it has just taken waits too, with its permit: an observer must not wait for operations. Once thousands of
/// events are left to tell, each call that changes the queue gives it some microseconds to catch up.
public protocol TaskOperationObserver: AnyObject, Sendable {
    /// Something happened to an operation.
    func operationChanged(_ event: TaskOperationEvent)
}

extension TaskOperationQueue {
    /// Has an observer told of everything that happens from now on, and before that of how each operation stands that has
    /// not ended, as `TaskOperationEvent.isReplayed` describes. The queue keeps it. A second time nothing happens.
    ///
    /// Linear in the operations that have not ended. A queue that is observed decides on each start by itself, where
    /// otherwise workers take what is next without asking: an empty operation costs about twice as much.
    public func addObserver(_ observer: any TaskOperationObserver) {
        scheduler.addListener(ObserverListener(observer, of: scheduler))
    }

    /// No longer tells an observer of what happens. It may still be told of what happened before, by another thread.
    public func removeObserver(_ observer: any TaskOperationObserver) {
        scheduler.removeListener(ObjectIdentifier(observer))
    }

    /// Has an observer told of everything that happens on every queue of the process, also on those that are made later,
    /// those of scopes and those that bridged queues are driven by. Operations that are started by hand count as being on
    /// an unnamed queue. Only a queue whose object is gone already, and that still finishes what it has, is left out. The
    /// observer is kept until `stopObservingAll`. A second time nothing happens.
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

    var identity: ObjectIdentifier { ObjectIdentifier(observer) }

    func receive(_ changes: ArraySlice<LoggedChange>) {
        let queue = QueueLabel(queueIdentity)
        for index in changes.indices { observer.operationChanged(TaskOperationEvent(changes[index], in: queue)) }
    }

    func queueWasReleased() {}
}
