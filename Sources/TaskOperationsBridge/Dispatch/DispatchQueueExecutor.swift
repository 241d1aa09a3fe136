public import Dispatch
public import TaskOperations

/// A Dispatch queue as the place where tasks run: each piece of a task between two suspensions is one block on the
/// queue.
///
/// On a serial queue these pieces run one at a time, but pieces of other tasks, and other blocks, come in between;
/// give a `TaskOperationQueue` the width 1 to have bodies run one after the other. On a concurrent queue nothing
/// but that queue bounds how many run.
public final class DispatchQueueExecutor: TaskExecutor {
    /// The queue that it all runs on.
    public let queue: DispatchQueue

    /// Makes an executor for a queue, which may be used otherwise too.
    public init(_ queue: DispatchQueue) {
        self.queue = queue
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { @Sendable [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

extension TaskOperationQueue {
    /// Makes an empty queue whose bodies run on a Dispatch queue, unless they are isolated to an actor.
    ///
    /// - Parameters:
    ///   - underlyingQueue: Where bodies run.
    ///   - name: What the queue is called in messages and descriptions; the label of the Dispatch queue if none
    ///     is given.
    ///   - maxConcurrentOperationCount: The width: how many bodies may execute at once; not negative. With 0 nothing starts.
    ///   - isSuspended: Whether the queue starts nothing until it is resumed.
    ///   - taskLocals: Task locals whose values a body sees as they were where its operation was added.
    public convenience init(
        underlyingQueue: DispatchQueue,
        name: String? = nil,
        maxConcurrentOperationCount: Int = defaultMaxConcurrentOperationCount,
        isSuspended: Bool = false,
        inheriting taskLocals: [InheritedTaskLocal] = []
    ) {
        self.init(
            name: name ?? underlyingQueue.label, maxConcurrentOperationCount: maxConcurrentOperationCount,
            isSuspended: isSuspended, executor: DispatchQueueExecutor(underlyingQueue), inheriting: taskLocals)
    }
}
