extension TaskOperationQueue {
    /// Adds an observer of all later events. First the observer receives the state of each unfinished operation; see
    /// `TaskOperationEvent.isReplayed`. The queue keeps the observer. Adding the observer again has no effect.
    ///
    /// Linear in the number of unfinished operations. In an observed queue, workers take each operation under the lock
    /// of the queue, which approximately doubles the cost of an empty operation.
    public func addObserver(_ observer: any TaskOperationObserver) {
        scheduler.addObserver(observer)
    }

    /// Removes an observer. Another thread may still report earlier events to the observer.
    public func removeObserver(_ observer: any TaskOperationObserver) {
        scheduler.removeObserver(observer)
    }

    /// Adds an observer of all queues of the process. These include queues that are created later, scopes, and the
    /// queues that drive bridged queues. Operations without a queue count as operations of an unnamed queue. Queues
    /// whose owner was already released are excluded. The observer is kept until `stopObservingAll`. Adding the
    /// observer again has no effect.
    public static func observeAll(_ observer: any TaskOperationObserver) {
        AllQueues.addObserver(observer)
    }

    /// Removes an observer that was added by `observeAll`.
    public static func stopObservingAll(_ observer: any TaskOperationObserver) {
        AllQueues.removeObserver(observer)
    }
}
