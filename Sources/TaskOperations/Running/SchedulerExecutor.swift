import Synchronization

/// The serial executor of a scheduler: a lock. The actor is entered by taking it, so that synchronous calls take effect
/// before they return, and no task has to hop.
///
/// `await scheduler.x()` works too: the job runs under the lock, and what follows from it is carried out afterwards. The
/// library does not enter like that, as a task whose preferred executor runs jobs inline would go on under the lock.
final class SchedulerExecutor: SerialExecutor {
    private let lock = Lock(false)
    // Set once, by the scheduler's initialiser. It is read in `enqueue` alone, whose caller keeps the scheduler.
    nonisolated(unsafe) unowned(unsafe) var scheduler: Scheduler?

    #if DEBUG
        /// The thread that holds the lock; 0 if none does.
        private let holder = Atomic<UInt>(0)
    #endif

    @inline(__always)
    func withLock<Result: Sendable>(_ body: () -> Result) -> Result {
        lock.withLock { _ in
            #if DEBUG
                holder.store(currentThread, ordering: .relaxed)
                defer { holder.store(0, ordering: .relaxed) }
            #endif
            return body()
        }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let scheduler = scheduler!
        scheduler.apply(UnownedJob(job)) { scheduler, job in
            job.runSynchronously(on: scheduler.unownedExecutor)
        }
    }

    /// Stops unless the calling thread holds the lock. The runtime calls it for `preconditionIsolated` and the like, of
    /// which release builds have none.
    func checkIsolated() {
        #if DEBUG
            precondition(holder.load(ordering: .relaxed) == currentThread, "the scheduler was not entered")
        #endif
    }
}
