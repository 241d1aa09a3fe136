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
        if let observer = scheduler.apply({ $0.observer }) { return observer }
        let made = make()
        let (observer, counts) = scheduler.apply(made) { scheduler, made in
            let observer = scheduler.observer ?? made
            scheduler.observer = observer
            scheduler.state.observe()
            return (observer, scheduler.state.counts)
        }
        observer.countsChanged(added: counts.added, unfinished: counts.unfinished)
        return observer
    }
}
