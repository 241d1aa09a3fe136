internal import Dispatch
internal import Synchronization
internal import TaskOperations

/// Runs the jobs of a `BridgedOperationQueue`. By default, the jobs run on threads that may block. The queue can have a
/// Dispatch queue or an executor instead.
final class BridgedExecutor: HandlerExecutor {
    private enum Target: Sendable {
        case threads(LegacyThreads)
        case queue(DispatchQueue)
        case executor(any TaskExecutor)
    }

    /// The threads of the bridged queue.
    let threads = LegacyThreads()
    private let target: Lock<Target>

    /// Runs handlers, which may be user code. Blocked work on this executor does not delay the handlers. Dispatch has a
    /// thread for a serial queue even if blocked work occupies all threads of the global queues.
    let handlerExecutor: any TaskExecutor = DispatchQueueExecutor(
        DispatchQueue(label: "BridgedOperationQueue handlers"))

    init() { target = Lock(.threads(threads)) }

    var underlyingQueue: DispatchQueue? {
        get { if case .queue(let queue) = target.withLock({ $0 }) { queue } else { nil } }
        set { setTarget(newValue.map { .queue($0) } ?? .threads(threads)) }
    }

    /// Makes all jobs run on an executor. The jobs must not block.
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
