/// Learns how many operations a queue has taken and how many of them have not ended.
package protocol OperationCountObserver: AnyObject, Sendable {
    /// The counts changed. Calls may overtake each other: what counts is the largest `added`, and the most that
    /// have ended.
    func countsChanged(added: Int, unfinished: Int)
}

extension TaskOperationQueue {
    /// The observer of a type of this queue, made by the first who asks. The queue keeps it.
    package func observer<Observer: OperationCountObserver>(orMake make: () -> Observer) -> Observer {
        let fanOut = countFanOut
        let (observer, isNew) = fanOut.observer(orAdd: make())
        if isNew {
            let counts = scheduler.withCore { $0.state.counts }
            observer.countsChanged(added: counts.added, unfinished: counts.unfinished)
        }
        return observer
    }

    /// The one that listens to the scheduler.
    private var countFanOut: CountFanOut {
        let made = CountFanOut()
        let listener = scheduler.withCore { core in
            if core.countListener == nil { core.countListener = made }
            return core.countListener!
        }
        scheduler.addListener(listener)
        return listener as! CountFanOut
    }
}

/// Passes the counts of a queue on to all that observe it.
private final class CountFanOut: ChangeListener {
    private let observers = Lock<[any OperationCountObserver]>([])

    /// The observer of a type that there is; adds one if there is none.
    func observer<Observer: OperationCountObserver>(orAdd new: Observer) -> (observer: Observer, isNew: Bool) {
        observers.withLock { observers in
            for observer in observers {
                if let observer = observer as? Observer { return (observer, false) }
            }
            observers.append(new)
            return (new, true)
        }
    }

    var identity: ObjectIdentifier { ObjectIdentifier(self) }

    func receive(_ changes: ArraySlice<LoggedChange>) {
        guard let counts = changes.last?.counts else { return }
        for observer in observers.withLock({ $0 }) {
            observer.countsChanged(added: counts.added, unfinished: counts.unfinished)
        }
    }

    func queueWasReleased() {}
}
