extension SchedulerState {
    /// The effects of events, which are performed after the lock of the scheduler is released.
    struct Outbox: Sendable {
        /// The levels of workers to start.
        var workers = TinyArray<PriorityLevel>()
        /// Waiting tasks to resume.
        var resumed: [Waiter] = []
        /// Operations that end without having been started, and why.
        var rejected: [Rejection] = []
        /// Operations that have left the queue, to release.
        var removed: [Element] = []
        /// Whether the queue is empty and stays so.
        var isOver = false
        /// Operations whose floor may be another one now.
        var newFloors: [Element] = []
        /// The reading of the queue's clock at which to wake the queue.
        var wakeTime: Duration?
        /// Whether there are changes of operations to tell.
        var hasChanges = false

        var isEmpty: Bool {
            workers.isEmpty && resumed.isEmpty && rejected.isEmpty && removed.isEmpty && newFloors.isEmpty
                && !hasChanges && !isOver && wakeTime == nil
        }

        mutating func takeNewFloors() -> [Element] {
            defer { newFloors = [] }
            return newFloors
        }
    }

    /// An operation that is to be ended.
    struct Rejection: Sendable {
        enum Reason: Hashable, Sendable {
            /// It came after the queue was shut down.
            case shutDown
            /// It came while everything was being cancelled.
            case cancelled
            /// There was no room for it.
            case full
            /// It gave way to a newer one.
            case dropped
        }

        let element: Element
        let reason: Reason
    }
}
