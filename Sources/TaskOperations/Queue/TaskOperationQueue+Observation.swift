/// Learns how many operations a queue has taken and how many of them have not ended.
package protocol OperationCountObserver: AnyObject, Sendable {
    /// The counts changed. Calls may overtake each other: what counts is the largest `added`, and the most that
    /// have ended.
    func countsChanged(added: Int, unfinished: Int)
}

extension TaskOperationQueue {
    /// The one observer of this queue, made by the first who asks. The queue keeps it.
    package func observer(
        orMake make: () -> any OperationCountObserver
    ) -> any OperationCountObserver {
        if let observer = scheduler.storage.withLock({ $0.observer }) { return observer }
        let made = make()
        return scheduler.apply { storage in
            if let observer = storage.observer { return observer }
            storage.observer = made
            return made
        }
    }
}

extension Scheduler {
    /// What an observer is to be told, after the lock is left.
    struct Observation: Sendable {
        let observer: any OperationCountObserver
        let counts: (added: Int, unfinished: Int)

        func tell() {
            observer.countsChanged(added: counts.added, unfinished: counts.unfinished)
        }
    }
}
