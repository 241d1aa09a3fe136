extension TaskOperationQueue {
    /// The observer of a type of this queue, made by the first who asks. The queue keeps it.
    package func observer<Observer: OperationCountObserver>(orMake make: () -> Observer) -> Observer {
        let fanOut = countFanOut
        let (observer, isNew) = fanOut.observer(orAdd: make())
        if isNew {
            let counts = scheduler.apply { $0.state.counts }
            observer.countsChanged(added: counts.added, unfinished: counts.unfinished)
        }
        return observer
    }

    /// The one that the scheduler tells.
    private var countFanOut: CountFanOut {
        if let observer = scheduler.apply({ $0.observer }) { return observer as! CountFanOut }
        return scheduler.apply(CountFanOut()) { scheduler, made in
            if let observer = scheduler.observer { return observer as! CountFanOut }
            scheduler.observer = made
            scheduler.state.observe()
            return made
        }
    }
}

/// Passes the counts of a queue on to all that observe it.
private final class CountFanOut: OperationCountObserver {
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

    func countsChanged(added: Int, unfinished: Int) {
        for observer in observers.withLock({ $0 }) { observer.countsChanged(added: added, unfinished: unfinished) }
    }
}
