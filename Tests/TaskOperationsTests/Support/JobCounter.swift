import Synchronization

/// Counts jobs, and runs them on the cooperative pool.
final class JobCounter: TaskExecutor {
    private let jobs = Atomic(0)

    var count: Int { jobs.load(ordering: .relaxed) }

    func enqueue(_ job: consuming ExecutorJob) {
        jobs.add(1, ordering: .relaxed)
        globalConcurrentExecutor.enqueue(job)
    }
}
