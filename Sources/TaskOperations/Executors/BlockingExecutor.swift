/// Threads for work that blocks: reading files, `Data(contentsOf:)`, old synchronous clients. Such work would
/// otherwise hold one of the few threads that all tasks of the process share, and keep the others from going on.
///
/// As the executor of a queue, of a task or of a piece of one, it runs on these threads what is not isolated to an
/// actor; `run(_:)` calls one function there.
///
/// ```swift
/// let files = BlockingExecutor(maxThreadCount: 4)
/// let data = try await files.run { try Data(contentsOf: url) }
/// let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 4, executor: files))
/// ```
///
/// Work starts in the order in which it comes; to have it ordered by priority, let a queue admit no more than there
/// are threads. Threads are started when they are needed, and end after 10 idle seconds. What the executor was
/// given is done even if it is released meanwhile.
///
/// Work that blocks until other work of the same executor is done can use up the threads and wait for ever, as
/// anywhere where threads are bounded.
public final class BlockingExecutor: TaskExecutor {
    private let threads: WorkerThreads

    /// How many threads there are at most.
    public let maxThreadCount: Int

    /// Makes an executor, which has no thread until it is needed.
    ///
    /// - Parameters:
    ///   - name: What the threads are called; Linux keeps the first 15 bytes.
    ///   - maxThreadCount: How many there are at most, at least 1: how much may block at once.
    public init(name: String = "blocking", maxThreadCount: Int) {
        require(maxThreadCount > 0, "maxThreadCount is \(maxThreadCount); it must be at least 1.")
        self.maxThreadCount = maxThreadCount
        threads = WorkerThreads(name: name, maxCount: maxThreadCount, idleTime: 10)
    }

    deinit { threads.close() }

    /// How many threads there are now, at work or idle.
    public var threadCount: Int { threads.count }

    /// Runs a job on one of the threads. The runtime calls this.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = threads.submitOutlivingOwner { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
        precondition(isTaken, "a BlockingExecutor is not closed before it is released")
    }

    /// Calls a function on one of the threads, and waits for what comes of it without blocking the caller's.
    ///
    /// The function does not run in a task: it cannot ask for task locals or whether it is cancelled.
    ///
    /// - Throws: What the function throws, or `CancellationError` if the task is cancelled before the function
    ///   is called. It is not called then.
    public func run<Value: Sendable>(_ function: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await HandedCall.make(function) { _ = threads.submit($0) }
    }
}
