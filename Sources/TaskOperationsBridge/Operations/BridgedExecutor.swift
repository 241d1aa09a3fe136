internal import Dispatch
@_spi(Lock) internal import TaskOperations

/// Runs the jobs of a `BridgedOperationQueue`: on a Dispatch queue where one was set, and otherwise on threads where
/// they may block.
final class BridgedExecutor: HandlerExecutor {
    private enum Target: Sendable {
        case threads(LegacyThreads)
        case queue(DispatchQueue)
        case executor(any TaskExecutor)
    }

    /// The queue's own threads.
    let threads = LegacyThreads()
    private let target: Lock<Target>

    /// Handlers may be a user's, and wait for nothing that runs here. Dispatch has a thread for a serial queue also where
    /// blocks that wait hold all those of the global queues.
    let handlerExecutor: any TaskExecutor = DispatchQueueExecutor(
        DispatchQueue(label: "BridgedOperationQueue handlers"))

    init() { target = Lock(.threads(threads)) }

    var underlyingQueue: DispatchQueue? {
        get { if case .queue(let queue) = target.withLock({ $0 }) { queue } else { nil } }
        set { setTarget(newValue.map { .queue($0) } ?? .threads(threads)) }
    }

    /// Has all jobs run on an executor, if none may block.
    func run(on executor: any TaskExecutor) { setTarget(.executor(executor)) }

    private func setTarget(_ new: Target) {
        var old = new
        target.withLock { swap(&$0, &old) }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        switch target.withLock({ $0 }) {
        case .threads(let threads): threads.run { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        case .queue(let queue): queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        case .executor(let executor): executor.enqueue(ExecutorJob(job))
        }
    }
}
