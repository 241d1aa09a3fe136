import TaskOperations

/// Threads for work that blocks, such as reading files, `Data(contentsOf:)` or old synchronous clients.
///
/// All tasks of the process share a few threads. Work that blocks one of these threads delays other tasks. The executor
/// runs such work on threads of its own.
///
/// As the executor of a queue or of a task, it runs code that is not isolated to an actor. `run(_:)` calls one function
/// on one of its threads.
///
/// ```swift
/// let files = BlockingExecutor(maxThreadCount: 4)
/// let data = try await files.run { try Data(contentsOf: url) }
/// let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 4, executor: files))
/// ```
///
/// Work starts in the order of submission. To order work by priority, use a queue whose width is the number of threads.
/// Threads are started when they are needed, and end after 10 idle seconds. The threads finish all submitted work even
/// if the executor is released meanwhile.
///
/// Work on this executor must not block until other work on this executor has ended. Such work can occupy all threads
/// and wait forever.
public final class BlockingExecutor: TaskExecutor {
    private let threads: WorkerThreads

    /// The maximum number of threads.
    public let maxThreadCount: Int

    /// Creates an executor. Its threads are started when they are needed.
    ///
    /// - Parameters:
    ///   - name: The name of the threads. Linux keeps the first 15 bytes.
    ///   - maxThreadCount: The maximum number of threads, at least 1.
    ///   - stackSize: The size of each thread's stack in bytes, from 65,536 to 1,073,741,824. The size is rounded up to
    ///     whole pages. Nil selects the default size of the system. Any other size stops the process with a message.
    public init(name: String = "blocking", maxThreadCount: Int, stackSize: Int? = nil) {
        require(maxThreadCount > 0, "maxThreadCount is \(maxThreadCount); it must be at least 1.")
        self.maxThreadCount = maxThreadCount
        threads = WorkerThreads(name: name, maxCount: maxThreadCount, stackSize: stackSize, idleTime: 10)
    }

    deinit { threads.close() }

    /// The current number of threads, including idle threads.
    public var threadCount: Int { threads.count }

    /// Runs a job on one of the threads. The runtime calls this.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isTaken = threads.submitOutlivingOwner { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
        precondition(isTaken, "a BlockingExecutor is not closed before it is released")
    }

    /// Calls a function on one of the threads, and waits for its result without blocking the calling thread.
    ///
    /// The function does not run in a task. It cannot read task locals, and it cannot notice a cancellation.
    ///
    /// - Throws: The error that the function throws. If the task is cancelled before the function is called, throws
    ///   `CancellationError` and does not call the function.
    public func run<Value: Sendable>(_ function: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await CancellableCall.make(function) { _ = threads.submit($0) }
    }
}
