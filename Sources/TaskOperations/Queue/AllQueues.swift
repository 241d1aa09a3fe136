/// All queues of the process, and the listeners for each queue.
package enum AllQueues {
    /// A weak reference to a queue. Read it with no lock held, because the result may become the last reference to the
    /// queue.
    ///
    /// The reference is to the owner of the queue. A weak reference to the scheduler would slow down each use of the
    /// scheduler.
    private struct WeakQueue: Sendable {
        weak let queue: TaskOperationQueue?
    }

    /// Creates a listener for one queue.
    package typealias ListenerMaker = @Sendable (Scheduler) -> any ChangeListener

    private struct State: Sendable {
        var queues: [Int: WeakQueue] = [:]
        /// The listeners to add to each queue, in the order of registration.
        var listeners: [(identity: ObjectIdentifier, make: ListenerMaker)] = []

        func hasListeners(_ identity: ObjectIdentifier) -> Bool { listeners.contains { $0.identity == identity } }
    }

    private static let state = Lock(State())

    /// Adds a new queue. Its listeners are added before its first operation.
    static func add(_ queue: TaskOperationQueue) {
        let weak = WeakQueue(queue: queue)
        let (number, scheduler) = (queue.scheduler.queueNumber, queue.scheduler)
        let listeners = state.withLock { state in
            state.queues[number] = weak
            return state.listeners
        }
        for (identity, make) in listeners { listen(to: scheduler, identity, make) }
    }

    /// Removes a queue. Called when the owner of the queue is freed.
    static func remove(_ queueNumber: Int) {
        _ = state.withLock { $0.queues.removeValue(forKey: queueNumber) }
    }

    /// The schedulers of all queues, in the order of creation. The last element is the scheduler of operations that are
    /// started without a queue.
    private static var all: [Scheduler] {
        let queues = state.withLock { Array($0.queues) }
        let ordered = queues.sorted { $0.key < $1.key }
        return ordered.compactMap { $0.value.queue?.scheduler } + [.withoutQueue]
    }

    /// Adds a listener to each queue, including queues that are created later. Does nothing if listeners with this
    /// identity were already added.
    ///
    /// - Parameter identity: The identity of the listeners.
    package static func addListeners(_ identity: ObjectIdentifier, _ make: @escaping ListenerMaker) {
        let isNew = state.withLock { state in
            if state.hasListeners(identity) { return false }
            state.listeners.append((identity, make))
            return true
        }
        if isNew { for scheduler in all { listen(to: scheduler, identity, make) } }
    }

    package static func removeListeners(_ identity: ObjectIdentifier) {
        let removed = state.withLock { state in
            state.listeners.firstIndex { $0.identity == identity }.map { state.listeners.remove(at: $0) }
        }
        for scheduler in all { scheduler.removeListener(identity) }
        extendLifetime(removed)
    }

    private static func listen(to scheduler: Scheduler, _ identity: ObjectIdentifier, _ make: ListenerMaker) {
        scheduler.addListener(make(scheduler))
        // The listener may have been removed in the meantime.
        if state.withLock({ !$0.hasListeners(identity) }) { scheduler.removeListener(identity) }
    }
}
