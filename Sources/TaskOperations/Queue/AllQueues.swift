import Synchronization

/// All queues of the process, and the observers that are added to each queue.
package enum AllQueues {
    /// A weak reference to a queue. Access it with no lock held, because the result may become the last reference to
    /// the queue.
    ///
    /// The reference is to the owner of the queue, because a weak reference to the scheduler would slow down each use
    /// of the scheduler.
    private struct WeakQueue: Sendable {
        weak let queue: TaskOperationQueue?
    }

    private struct State: Sendable {
        var queues: [Int: WeakQueue] = [:]
        /// The observers to add to each queue, in the order of registration.
        var observers: [any TaskOperationObserver] = []

        func contains(_ observer: any TaskOperationObserver) -> Bool { observers.contains { $0 === observer } }
    }

    private static let state = Lock(State())

    /// Adds a new queue. Its observers are added before its first operation.
    static func add(_ queue: TaskOperationQueue) {
        let weak = WeakQueue(queue: queue)
        let (number, scheduler) = (queue.scheduler.queueNumber, queue.scheduler)
        let observers = state.withLock { state in
            state.queues[number] = weak
            return state.observers
        }
        for observer in observers { add(observer, to: scheduler) }
    }

    /// Removes a queue when the object that owns it is freed.
    static func remove(_ queueNumber: Int) {
        _ = state.withLock { $0.queues.removeValue(forKey: queueNumber) }
    }

    /// The schedulers of all queues, in the order of creation, and the scheduler of operations that are started without
    /// a queue.
    private static var all: [Scheduler] {
        let queues = state.withLock { Array($0.queues) }
        let ordered = queues.sorted { $0.key < $1.key }
        return ordered.compactMap { $0.value.queue?.scheduler } + [.withoutQueue]
    }

    /// Adds an observer to each queue, including queues that are created later.
    package static func addObserver(_ observer: any TaskOperationObserver) {
        let isNew = state.withLock { state in
            if state.contains(observer) { return false }
            state.observers.append(observer)
            return true
        }
        if isNew { for scheduler in all { add(observer, to: scheduler) } }
    }

    package static func removeObserver(_ observer: any TaskOperationObserver) {
        state.withLock { state in state.observers.removeAll { $0 === observer } }
        for scheduler in all { scheduler.removeObserver(observer) }
    }

    private static func add(_ observer: any TaskOperationObserver, to scheduler: Scheduler) {
        scheduler.addObserver(observer)
        // The observer may have been removed meanwhile.
        if state.withLock({ !$0.contains(observer) }) { scheduler.removeObserver(observer) }
    }
}
