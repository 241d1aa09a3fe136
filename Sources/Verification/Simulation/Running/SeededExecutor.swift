import TaskOperations

/// Runs a program of many tasks on one thread, and chooses the next job with a seed. The same seed gives the same
/// interleaving; another seed gives another one.
///
/// The executor runs the body, its child tasks, the actors that they call, and the bodies of queues with this executor.
/// It does not run `Task.detached` and `Task {}` without an executor, the main actor, actors with their own executor,
/// `Task.sleep`, or callbacks of other threads. The order of these is not repeatable. Use a `SimulatedClock` instead of
/// sleeping. If the program waits, `run` calls a function that can cause the next event.
package final class SeededExecutor: TaskExecutor, HandlerExecutor, SliceDecidingExecutor {
    private struct State: Sendable {
        var generator: SeededChoices
        var jobs: [UnownedJob] = []
        var jobsRun = 0
        var isRunning = false

        /// Removes and returns the job that the seed selects.
        mutating func next() -> UnownedJob? {
            if jobs.isEmpty { return nil }
            jobsRun += 1
            jobs.swapAt(generator.number(below: jobs.count), jobs.count - 1)
            return jobs.removeLast()
        }
    }

    /// The seed that determines the order of all jobs.
    package let seed: UInt64

    private let state: Lock<State>

    /// Creates an executor without jobs.
    package init(seed: UInt64) {
        self.seed = seed
        state = Lock(State(generator: SeededChoices(seed: seed)))
    }

    /// The number of jobs that were run. A job is the part of a task between two suspensions.
    package var jobsRun: Int { state.withLock { $0.jobsRun } }

    /// Accepts a job. The concurrency runtime calls this.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.jobs.append(job) }
    }

    /// The executor also calls the handlers of operations that never started.
    package var handlerExecutor: any TaskExecutor { self }

    /// Whether a worker of a queue yields now. The seed decides, with a probability of one eighth.
    package func isSliceOver() -> Bool { state.withLock { $0.generator.number(below: 8) == 0 } }
}

// MARK: - Running

extension SeededExecutor {
    /// Runs a body, and all jobs that it starts on this executor, until no job is left.
    ///
    /// All jobs run on the calling thread, during the call, which therefore needs no `await`. An executor runs one body
    /// at a time. It can run another body afterwards.
    ///
    /// - Parameters:
    ///   - jobLimit: The number of jobs after which the program counts as endless.
    ///   - whenIdle: Called on this thread when no job is left and the body waits. It may cause an event, for example
    ///     by advancing a `SimulatedClock`. It returns false if it caused none, which means that the program is stuck.
    ///   - body: The program. It runs in a new task of medium priority, with the caller's task locals.
    /// - Returns: The value that `body` returns.
    /// - Throws: The error that `body` throws, or `SeededRunError` if the body waits and no job is left, or if the
    ///   number of jobs exceeds the limit. Before a `SeededRunError`, the task of the body is cancelled. If it does not
    ///   end then, it is abandoned.
    package func run<Value: Sendable>(
        jobLimit: Int = 10_000_000, whenIdle: () -> Bool = { false },
        _ body: @escaping @Sendable () async throws -> Value
    ) throws -> Value {
        begin()
        defer { state.withLock { $0.isRunning = false } }
        let outcome = OutcomeBox<Value>()
        let task = Task(executorPreference: self, priority: .medium) {
            let result: Result<Value, any Error>
            do { result = .success(try await body()) } catch { result = .failure(error) }
            outcome.result.withLock { $0 = result }
        }
        require(jobLimit >= 0, "jobLimit is \(jobLimit); it must not be negative.")
        let end = jobsRun + min(jobLimit, .max - jobsRun - 100_000)
        var hasDrained = drain(until: end)
        while hasDrained, outcome.result.withLock({ $0 == nil }), whenIdle() { hasDrained = drain(until: end) }
        if hasDrained, let result = outcome.result.withLock({ $0 }) { return try result.get() }
        let (reason, jobsRun) = (hasDrained ? SeededRunError.Reason.stuck : .endless, jobsRun)
        task.cancel()
        _ = drain(until: jobsRun + min(jobLimit, 100_000))
        let leavesTask = outcome.result.withLock { $0 == nil }
        throw SeededRunError(seed: seed, reason: reason, jobsRun: jobsRun, leavesTask: leavesTask)
    }

    private func begin() {
        let wasRunning = state.withLock { state in
            defer { state.isRunning = true }
            return state.isRunning
        }
        require(!wasRunning, "A SeededExecutor runs one body at a time. Create another executor for the other body.")
    }

    /// Runs jobs until none is left or the limit is reached. Returns false at the limit.
    private func drain(until end: Int) -> Bool {
        while let job = state.withLock({ $0.jobsRun < end ? $0.next() : nil }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
        return state.withLock { $0.jobs.isEmpty }
    }
}

/// The outcome of a body, for the thread that runs the jobs.
private final class OutcomeBox<Value: Sendable>: Sendable {
    let result = Lock<Result<Value, any Error>?>(nil)
}

/// The error of a `SeededExecutor` whose program did not end.
package struct SeededRunError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason why the program did not end.
    package enum Reason: Sendable {
        /// The body waits, and no job is left that could end the wait.
        case stuck
        /// More jobs than the limit have run.
        case endless
    }

    /// The seed of the executor. The same program behaves identically under the same seed.
    package let seed: UInt64

    /// The reason why the program did not end.
    package let reason: Reason

    /// The number of jobs that were run.
    package let jobsRun: Int

    /// Whether the body's task did not end after its cancellation.
    package let leavesTask: Bool

    /// The reason, the seed and a possible cause.
    package var description: String {
        switch reason {
        case .stuck:
            """
            Stuck under seed \(seed) after \(jobsRun) jobs: the body waits, and no job is left to run. Perhaps it waits \
            for a SimulatedClock that is not advanced, or for something outside the executor, such as Task.sleep, the main \
            actor or a queue without the executor.
            """
        case .endless:
            "Endless under seed \(seed): after \(jobsRun) jobs there are still more. Perhaps a loop never ends."
        }
    }
}
