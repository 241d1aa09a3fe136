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

    /// Runs a job on the queue. The runtime calls this.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { @Sendable [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

extension TaskOperationQueue {
    /// Creates an empty queue whose bodies run on a Dispatch queue, unless they are isolated to an actor.
    ///
    /// - Parameters:
    ///   - underlyingQueue: The Dispatch queue on which bodies run.
    ///   - configuration: The configuration, whose executor is replaced. Without a name, the queue has the label of the
    ///     Dispatch queue.
    public convenience init(underlyingQueue: DispatchQueue, _ configuration: Configuration = Configuration()) {
        var configuration = configuration
        configuration.name = configuration.name ?? underlyingQueue.label
        configuration.executor = DispatchQueueExecutor(underlyingQueue)
        self.init(configuration)
    }
}
