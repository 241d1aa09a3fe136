import Synchronization

/// A scheduler is its own serial executor, and that is a lock. The actor is entered by taking it, so that synchronous calls
/// take effect before they return, and no task has to hop.
///
/// `await scheduler.x()` works too: the job runs under the lock, and what follows from it is carried out afterwards. The
/// library does not enter like that, as a task whose preferred executor runs jobs inline would go on under the lock.
extension Scheduler: SerialExecutor {
    nonisolated var unownedExecutor: UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        apply(UnownedJob(job)) { scheduler, job in
            job.runSynchronously(on: scheduler.unownedExecutor)
        }
    }

    /// Stops unless the calling thread holds the lock. The runtime calls it for `preconditionIsolated` and the like, of
    /// which release builds have none.
    nonisolated func checkIsolated() { lock.checkHeld() }
}

/// The lock of a scheduler. Debug builds know the thread that holds it.
struct SchedulerLock: ~Copyable, Sendable {
    private let lock = Lock(false)

    #if DEBUG && !TASK_OPERATIONS_EXPLORED
        /// The thread that holds the lock; 0 if none does.
        private let holder = Atomic<UInt>(0)
    #endif

    @inline(__always)
    func withLock<Result: Sendable>(_ body: () -> Result) -> Result {
        lock.withLock { _ in
            #if DEBUG && !TASK_OPERATIONS_EXPLORED
                holder.store(currentThread, ordering: .relaxed)
                defer { holder.store(0, ordering: .relaxed) }
            #endif
            return body()
        }
    }

    /// Stops, in debug builds, unless the calling thread holds the lock.
    func checkHeld() {
        #if DEBUG && !TASK_OPERATIONS_EXPLORED
            precondition(holder.load(ordering: .relaxed) == currentThread, "the scheduler was not entered")
        #endif
    }
}
