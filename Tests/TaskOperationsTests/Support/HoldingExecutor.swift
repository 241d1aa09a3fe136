@testable import TaskOperations

/// Holds all jobs until the test lets them run.
final class HoldingExecutor: HandlerExecutor {
    private let held = Lock<[UnownedJob]?>([])

    var handlerExecutor: any TaskExecutor { self }

    /// The priorities of the held jobs.
    var priorities: [TaskPriority] {
        held.withLock { $0 ?? [] }.map { TaskPriority($0.priority) ?? .medium }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let isHeld = held.withLock { held in
            held?.append(job)
            return held != nil
        }
        if !isHeld { run(job) }
    }

    func letGo() {
        for job in held.withLock({ $0.take() ?? [] }) { run(job) }
    }

    private func run(_ job: UnownedJob) {
        Task.detached { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
