import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport

/// Executors that run jobs in the orders and at the times that are most likely to reveal an error.
enum ExecutorKind: CaseIterable, Sendable {
    /// The cooperative pool.
    case pool
    /// Runs a job within the call that enqueues it.
    case inline
    /// Runs jobs on one other thread, the newest first, once eight have arrived or no further one arrives within a
    /// millisecond.
    case late
    /// Runs jobs on three threads, in random order.
    case random
    /// Runs jobs on one thread, in order.
    case oneThread

    func make() -> (any TaskExecutor)? {
        switch self {
        case .pool: nil
        case .inline: InlineExecutor()
        case .late: ThreadsExecutor(threads: 1, batch: 8) { jobs, _ in jobs.count - 1 }
        case .random: ThreadsExecutor(threads: 3, batch: 1) { jobs, random in random.number(below: jobs.count) }
        case .oneThread: ThreadsExecutor(threads: 1, batch: 1) { _, _ in 0 }
        }
    }
}

/// Runs jobs on its own threads, which live until the process exits.
private final class ThreadsExecutor: TaskExecutor {
    typealias Choice = @Sendable (_ jobs: [UnownedJob], _ random: inout SeededGenerator) -> Int

    private struct State: Sendable {
        var jobs: [UnownedJob] = []
        var random = SeededGenerator(seed: 1)
    }

    private let state = Lock(State())
    private let arrivals = DispatchSemaphore(value: 0)
    private let choice: Choice

    /// - Parameter batch: The number of jobs that a thread waits for. It waits at most a millisecond for each
    ///   further job.
    init(threads: Int, batch: Int, choice: @escaping Choice) {
        self.choice = choice
        for _ in 0..<threads { Thread.detachNewThread { self.serve(batch: batch) } }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
        arrivals.signal()
    }

    private func serve(batch: Int) {
        while true {
            arrivals.wait()
            var taken = 1
            while taken < batch, arrivals.wait(timeout: .now() + .milliseconds(1)) == .success { taken += 1 }
            for _ in 0..<taken {
                let job = state.withLock { state in state.jobs.remove(at: choice(state.jobs, &state.random)) }
                job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }
}
