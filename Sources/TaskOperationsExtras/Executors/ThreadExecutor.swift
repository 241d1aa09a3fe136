import TaskOperations

/// A thread for code that must always run on the same thread. Examples are a thread-bound C library, and code that used
/// `performSelector(onThread:)`.
///
/// The executor runs one job at a time, in the order of submission. It can be the executor of an actor, a task or a
/// queue. `run(_:)` calls one function on the thread.
///
/// ```swift
/// actor Database {
///     let thread = ThreadExecutor(name: "database")
///     nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
///     func query(_ text: String) -> [Row] { … }  // always on that thread
/// }
/// ```
///
/// The thread is started when it is first needed. After the executor is released, the thread finishes all submitted
/// work and ends. `shutDown()` ends the thread earlier.
public final class ThreadExecutor: SerialExecutor, TaskExecutor {
    private let threads: WorkerThreads

    /// The name of the thread.
    public let name: String

    /// Creates an executor. Its thread is started when it is first needed.
    ///
    /// - Parameters:
    ///   - name: The name of the thread. Linux keeps the first 15 bytes.
    ///   - stackSize: The size of the thread's stack in bytes, from 65,536 to 1,073,741,824. The size is rounded up to
    ///     whole pages. Nil selects the default size of the system. Any other size stops the process with a message.
    public init(name: String = "ThreadExecutor", stackSize: Int? = nil) {
        self.name = name
        threads = WorkerThreads(name: name, maxCount: 1, stackSize: stackSize, idleTime: nil)
    }

    deinit { threads.close() }

    /// Runs a job on the thread. The runtime calls this.
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let name = name
        let isTaken = threads.submitOutlivingOwner { [self] in
            job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
        require(
            isTaken,
            """
            A task or an actor used the ThreadExecutor "\(name)" after its shutdown. Wait for all tasks on it to end \
            before you shut it down.
            """)
    }

    /// Calls a function on the thread, and waits for its result without blocking the calling thread.
    ///
    /// The function does not run in a task. It cannot read task locals, and it cannot notice a cancellation.
    ///
    /// - Throws: The error that the function throws, or `ThreadExecutorError.shutDown` after `shutDown()`. If the task
    ///   is cancelled before the function is called, throws `CancellationError` and does not call the function.
    public func run<Value: Sendable>(_ function: @escaping @Sendable () throws -> Value) async throws -> Value {
        if threads.isClosing { throw ThreadExecutorError.shutDown(name: name) }
        return try await CancellableCall.make(function) { call in
            if !threads.submit(call) { throw ThreadExecutorError.shutDown(name: name) }
        }
    }

    /// Ends the thread after all submitted work is done. Waits for the end of the thread without blocking the caller's
    /// thread.
    ///
    /// Afterwards `run(_:)` throws. Before you call this method, wait for all tasks and actors that use the executor.
    /// If one of them needs the thread after its end, the process stops with a message. A call of this method on the
    /// thread itself also stops the process.
    public func shutDown() async {
        require(
            !threads.containsCurrent,
            "The ThreadExecutor \"\(name)\" cannot wait for its own end. Call shutDown() from another thread.")
        await withCheckedContinuation { continuation in
            threads.close { continuation.resume() }
        }
    }
}

// MARK: - Isolation

extension ThreadExecutor {
    public func checkIsolated() {
        require(threads.containsCurrent, "Expected to be on the thread of the ThreadExecutor \"\(name)\".")
    }

    public func isIsolatingCurrentContext() -> Bool? { threads.containsCurrent }
}

/// An error of a `ThreadExecutor`.
public enum ThreadExecutorError: Error, Sendable {
    /// A function was submitted to an executor after its shutdown.
    case shutDown(name: String)
}

extension ThreadExecutorError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .shutDown(let name):
            "The ThreadExecutor \"\(name)\" was shut down and runs no more work. Create a new one."
        }
    }
}
