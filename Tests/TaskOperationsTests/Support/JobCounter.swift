import Synchronization

/// Runs jobs on the cooperative pool, and counts them.
final class JobCounter: TaskExecutor {
    private let jobs = Atomic(0)

    var count: Int { jobs.load(ordering: .relaxed) }

    func enqueue(_ job: consuming ExecutorJob) {
        jobs.add(1, ordering: .relaxed)
        globalConcurrentExecutor.enqueue(job)
    }
}
