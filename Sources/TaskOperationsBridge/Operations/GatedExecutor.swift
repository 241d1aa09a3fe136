internal import Synchronization
internal import TaskOperations

/// Runs jobs on the cooperative pool after it was opened. Before that, it keeps the jobs and reports the first job.
///
/// An `OperationQueue` opens it to start an operation of this library. The first job is enqueued when the operation is
/// ready.
final class GatedExecutor: TaskExecutor {
    private struct State: Sendable {
        var isOpen = false
        var isWanted = false
        var jobs: [UnownedJob] = []
    }

    private let state = Lock(State())
    private let onWanted: @Sendable () -> Void

    init(onWanted: @escaping @Sendable () -> Void) {
        self.onWanted = onWanted
    }

    /// Whether a job was enqueued. If true, the operation is ready.
    var isWanted: Bool { state.withLock { $0.isWanted } }

    func open() {
        let jobs = state.withLock { state in
            state.isOpen = true
            defer { state.jobs = [] }
            return state.jobs
        }
        for job in jobs { forward(job) }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let (isOpen, isNew) = state.withLock { state in
            if !state.isOpen { state.jobs.append(job) }
            defer { state.isWanted = true }
            return (state.isOpen, !state.isWanted)
        }
        if isOpen { forward(job) }
        if isNew { onWanted() }
    }

    private func forward(_ job: UnownedJob) {
        globalConcurrentExecutor.enqueue(ExecutorJob(job))
    }
}
