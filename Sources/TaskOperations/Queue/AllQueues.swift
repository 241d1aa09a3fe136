/// All queues of the process, and what listens to each of them.
enum AllQueues {
    /// Loaded with no lock held: the load may return what becomes the last reference.
    ///
    /// It is a reference to the object that owns the queue, as one to the scheduler would make each use of that slower.
    private struct WeakQueue: Sendable {
        weak let queue: TaskOperationQueue?
    }

    /// Makes the listener to one queue.
    typealias ListenerMaker = @Sendable (Scheduler) -> any ChangeListener

    private struct State: Sendable {
        var queues: [Int: WeakQueue] = [:]
        /// In the order of registration.
        var listeners: [(identity: ObjectIdentifier, make: ListenerMaker)] = []

        func hasListeners(_ identity: ObjectIdentifier) -> Bool { listeners.contains { $0.identity == identity } }
    }

    private static let state = Lock(State())

    /// Adds a queue that was just made, whose listeners come before its first operation.
    static func add(_ queue: TaskOperationQueue) {
        let weak = WeakQueue(queue: queue)
        let (number, scheduler) = (queue.scheduler.queueNumber, queue.scheduler)
        let listeners = state.withLock { state in
            state.queues[number] = weak
            return state.listeners
        }
        for (identity, make) in listeners { listen(to: scheduler, identity, make) }
    }

    /// The object that owns a queue is being freed.
    static func remove(_ queueNumber: Int) {
        _ = state.withLock { $0.queues.removeValue(forKey: queueNumber) }
    }

    /// The schedulers of all queues, in the order of creation, and the scheduler of operations that are started by hand.
    private static var all: [Scheduler] {
        let queues = state.withLock { Array($0.queues) }
        let ordered = queues.sorted { $0.key < $1.key }
        return ordered.compactMap { $0.value.queue?.scheduler } + [.withoutQueue]
    }

    /// Has all queues listened to, those included that are made later.
    ///
    /// - Parameter identity: That of the listeners which are made.
    static func addListeners(_ identity: ObjectIdentifier, _ make: @escaping ListenerMaker) {
        let isNew = state.withLock { state in
            if state.hasListeners(identity) { return false }
            state.listeners.append((identity, make))
            return true
        }
        if isNew { for scheduler in all { listen(to: scheduler, identity, make) } }
    }

    static func removeListeners(_ identity: ObjectIdentifier) {
        let removed = state.withLock { state in
            state.listeners.firstIndex { $0.identity == identity }.map { state.listeners.remove(at: $0) }
        }
        for scheduler in all { scheduler.removeListener(identity) }
        extendLifetime(removed)
    }

    private static func listen(to scheduler: Scheduler, _ identity: ObjectIdentifier, _ make: ListenerMaker) {
        scheduler.addListener(make(scheduler))
        // It may have been removed since.
        if state.withLock({ !$0.hasListeners(identity) }) { scheduler.removeListener(identity) }
    }
}
