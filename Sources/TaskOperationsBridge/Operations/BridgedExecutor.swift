internal import Dispatch
internal import TaskOperations

/// Runs tasks on threads where they may block.
let legacyExecutor = BridgedExecutor(threads: .shared)

/// Runs the jobs of a `BridgedOperationQueue`: on a Dispatch queue where one was set, and otherwise on threads where
/// they may block.
final class BridgedExecutor: HandlerExecutor {
    private let threads: LegacyThreads
    private let queue = Lock<DispatchQueue?>(nil)

    /// Handlers may be a user's, and wait for nothing that runs here. Dispatch has a thread for a serial queue also where
    /// blocks that wait hold all those of the global queues.
    let handlerExecutor: any TaskExecutor = DispatchQueueExecutor(
        DispatchQueue(label: "BridgedOperationQueue handlers"))

    init(threads: LegacyThreads = LegacyThreads()) {
        self.threads = threads
    }

    var underlyingQueue: DispatchQueue? {
        get { queue.withLock { $0 } }
        set { queue.withLock { $0 = newValue } }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard let queue = underlyingQueue else {
            return threads.run { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
