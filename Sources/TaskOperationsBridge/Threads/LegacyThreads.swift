internal import Synchronization
internal import TaskOperations
internal import TaskOperationsExtras

/// Threads on which old code may block. At most 64 threads run at once. They are started when they are needed, and end
/// after some idle seconds. Further work waits for a free thread. So work on these threads must not block until later
/// work has ended.
///
/// Each queue has its own limit of 64 threads. So blocked operations of a queue do not delay another queue.
final class LegacyThreads: TaskExecutor {
    /// The threads for work that belongs to no queue, such as handlers and starts of cancelled operations.
    static let shared = LegacyThreads()

    /// The threads for Foundation operations on queues, by the number of the queue. The operations retain the threads,
    /// possibly after the queue is released.
    private static let ofQueues = Lock<[Int: WeakReference<LegacyThreads>]>([:])

    /// The pool of all threads. Each lane limits its own threads.
    private static let pool = WorkerThreads(name: "legacy", maxCount: .max, idleTime: 5)

    private let lane = pool.makeLane(maxCount: 64)
    private let queue: Int?

    init(for queue: Int? = nil) {
        self.queue = queue
    }

    deinit {
        guard let queue else { return }
        Self.ofQueues.withLock { if $0[queue]?.identity == ObjectIdentifier(self) { $0[queue] = nil } }
    }

    /// Returns the threads for Foundation operations on a queue.
    static func threads(of queue: TaskOperationQueue) -> LegacyThreads {
        let key = queue.scheduler.queueNumber
        if let known = ofQueues.withLock({ $0[key]?.object }) { return known }
        let made = LegacyThreads(for: key)
        return ofQueues.withLock { threads in
            if let known = threads[key]?.object { return known }
            threads[key] = WeakReference(made)
            return made
        }
    }

    /// Performs work on one of the threads.
    func run(_ work: @escaping WorkerThreads.Work) {
        let isTaken = lane.submit(work)
        precondition(isTaken, "the pool is never closed")
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        run { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }

    /// Calls a function on one of the threads, and waits until it returns.
    func call<Value: Sendable>(_ function: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            run { continuation.resume(returning: function()) }
        }
    }
}
