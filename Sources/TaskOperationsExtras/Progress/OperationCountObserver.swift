import Synchronization
package import TaskOperations

/// Receives the number of operations that a queue has accepted, and the number of those that have not ended.
package protocol OperationCountObserver: AnyObject, Sendable {
    /// Called after the counts have changed. Calls may arrive out of order: use the largest `added`, and the largest
    /// difference between `added` and `unfinished`.
    func countsChanged(added: Int, unfinished: Int)

    /// Called after the queue was released. Its counts do not change any more.
    func queueReleased()
}

extension OperationCountObserver {
    package func queueReleased() {}
}

extension TaskOperationQueue {
    /// Returns the observer of a type. The first call creates it, and the queue retains it.
    package func observer<Observer: OperationCountObserver>(orMake make: () -> Observer) -> Observer {
        let fanOut = countFanOut
        let (observer, isNew) = fanOut.observer(orAdd: make())
        if isNew {
            let counts = scheduler.counts
            observer.countsChanged(added: counts.added, unfinished: counts.unfinished)
        }
        return observer
    }

    /// The observer of the scheduler.
    private var countFanOut: CountFanOut {
        let observer = scheduler.countObserver(orSet: CountFanOut())
        scheduler.addObserver(observer)
        return observer as! CountFanOut
    }
}

/// Sends the counts of a queue to all its observers.
private final class CountFanOut: TaskOperationObserver {
    private let observers = Lock<[any OperationCountObserver]>([])

    deinit {
        for observer in observers.withLock({ $0 }) { observer.queueReleased() }
    }

    /// Returns the present observer of the type `Observer`. If there is none, adds `new` and returns it.
    func observer<Observer: OperationCountObserver>(orAdd new: Observer) -> (observer: Observer, isNew: Bool) {
        observers.withLock { observers in
            for observer in observers {
                if let observer = observer as? Observer { return (observer, false) }
            }
            observers.append(new)
            return (new, true)
        }
    }

    func operationChanged(_ event: TaskOperationEvent) {
        for observer in observers.withLock({ $0 }) {
            observer.countsChanged(added: event.counts.added, unfinished: event.counts.unfinished)
        }
    }
}
