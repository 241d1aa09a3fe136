public import Dispatch
public import TaskOperations

/// An executor that runs tasks on a Dispatch queue. Each part of a task between two suspensions is one block on the
/// queue.
///
/// On a serial queue, one block runs at a time. While a task is suspended, parts of other tasks can run. To run whole
/// bodies one after the other, use a `TaskOperationQueue` of width 1. On a concurrent queue, Dispatch limits the number
/// of blocks that run at once.
public final class DispatchQueueExecutor: TaskExecutor {
    /// The Dispatch queue.
    public let queue: DispatchQueue

    /// Creates an executor for a Dispatch queue. Other code may also use the queue.
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
    /// Creates an empty queue that runs bodies on a Dispatch queue. Bodies that are isolated to an actor run on that
    /// actor.
    ///
    /// - Parameters:
    ///   - underlyingQueue: The Dispatch queue on which bodies run.
    ///   - configuration: The configuration of the queue. Its executor is ignored. The default name is the label of the
    ///     Dispatch queue.
    public convenience init(underlyingQueue: DispatchQueue, _ configuration: Configuration = Configuration()) {
        var configuration = configuration
        configuration.name = configuration.name ?? underlyingQueue.label
        configuration.executor = DispatchQueueExecutor(underlyingQueue)
        self.init(configuration)
    }
}
