import TaskOperations

/// Holds the only reference to a queue until `drop()`.
final class QueueHolder: Sendable {
    private let held: Lock<TaskOperationQueue?>

    init(_ queue: TaskOperationQueue) {
        held = Lock(queue)
    }

    var queue: TaskOperationQueue? { held.withLock { $0 } }

    /// Drops the queue. The queue is freed after the lock is released.
    func drop() {
        _ = held.withLock { held in held.take() }
    }
}
