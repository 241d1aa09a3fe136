public import Dispatch
public import TaskOperations

/// An executor that runs tasks on a Dispatch queue. Each part of a task between two suspensions is one block on the
/// queue.
///
/// On a serial queue these parts run one at a time, but parts of other tasks, and other blocks, can run between them.
/// To run bodies one after the other, use a `TaskOperationQueue` of width 1. On a concurrent queue, only the Dispatch
/// queue limits the number of parts that run at once.
public final class DispatchQueueExecutor: TaskExecutor {
    /// The Dispatch queue.
    public let queue: DispatchQueue

    /// Creates an executor for a queue. Other code may use the queue, too.
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
