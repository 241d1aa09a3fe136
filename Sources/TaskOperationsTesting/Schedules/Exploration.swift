internal import CSchedules
internal import Synchronization
internal import TaskOperations

/// Explores the schedules of a body on a thread of its own.
package final class Exploration: Sendable {
    package typealias Outcome = Result<ScheduleSummary, ScheduleFailure>

    private struct State: Sendable {
        /// The test; nil once the exploration runs.
        var body: (@Sendable () async throws -> Void)?
        var outcome: Outcome?
        var run: ScheduleRun?
        /// The number of schedules that were run.
        var count = 0
        /// The progress at the last look, and the moment of the last change.
        var seen: (count: Int, steps: Int) = (0, 0)
        var lastChange = ContinuousClock.now
        var leavesTasks = false
        var isEndingStuckBody = false
        var isCancelled = false
    }

    let settings: Schedules
    let takeFailures: @Sendable () -> [String]
    let announce: @Sendable (ScheduleFailure) -> Void
    private let state: Lock<State>

    /// - Parameters:
    ///   - takeFailures: Returns the texts of the failures that the test library recorded since the last call.
    ///   - announce: Called with the failure before a last run of its schedule.
    package init(
        _ settings: Schedules, takeFailures: @escaping @Sendable () -> [String] = { [] },
        announce: @escaping @Sendable (ScheduleFailure) -> Void = { _ in },
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        self.settings = settings.withEnvironment
        self.takeFailures = takeFailures
        self.announce = announce
        state = Lock(State(body: body))
    }

    /// Starts the exploration. Its tasks have the task locals of the caller.
    package func start() {
        Task(executorPreference: ExplorationThread()) {
            let outcome = self.explore()
            self.state.withLock { $0.outcome = $0.outcome ?? outcome }
        }
    }

    /// The body is released before the return, because the trait's body may not outlive the test.
    private func explore() -> Outcome {
        let body = state.withLock { $0.body.take()! }
        let thread = UnsafeMutablePointer<SchedulesThread>.allocate(capacity: 1)
        defer { thread.deallocate() }
        thread.initialize(to: SchedulesThread())
        schedulesPrepare(thread)
        var explorer = Explorer(self, body, on: thread)
        return explorer.explore()
    }

    /// Notes that a run begins. Returns false if the exploration was abandoned.
    func begin(_ run: ScheduleRun) -> Bool {
        state.withLock { state in
            state.run = run
            state.count += 1
            return state.outcome == nil
        }
    }

    /// Whether a body that was stuck runs after its cancellation.
    var isEndingStuckBody: Bool {
        get { state.withLock { $0.isEndingStuckBody } }
        set { state.withLock { $0.isEndingStuckBody = newValue } }
    }

    func noteLeftTask() { state.withLock { $0.leavesTasks = true } }

    /// Returns the outcome; nil if the exploration continues. Call it repeatedly: it also detects a blocked job.
    package func poll() -> Outcome? {
        let (outcome, run) = state.withLock { ($0.outcome, $0.run) }
        guard outcome == nil, let run else { return outcome }
        let progress = run.progress
        let isBlocked = state.withLock { state in
            let now = ContinuousClock.now
            if progress.task == nil || state.seen != (state.count, progress.steps) {
                state.seen = (state.count, progress.steps)
                state.lastChange = now
            }
            return now - state.lastChange > settings.blockLimit
        }
        return isBlocked ? abandon(run) : nil
    }

    /// Ends the exploration after the current schedule.
    package func cancel() { state.withLock { $0.isCancelled = true } }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether tasks of the body were left that did not end after their cancellation. They never run again.
    package var leavesTasks: Bool { state.withLock { $0.leavesTasks } }

    private func abandon(_ run: ScheduleRun) -> Outcome? {
        run.abandon()
        let task = run.runningJob?.description ?? "a task of the test"
        return state.withLock { state in
            guard state.outcome == nil else { return state.outcome }
            let failure = ScheduleFailure(
                cause: state.isEndingStuckBody ? .stuck : .blocked(task: task),
                schedule: Schedule(run.record.deviations).description,
                place: (state.count, settings.count), trace: nil, notes: [])
            state.outcome = .failure(failure)
            state.leavesTasks = true
            return state.outcome
        }
    }
}

extension Schedules {
    /// The settings, with those of the environment.
    fileprivate var withEnvironment: Self {
        func value(_ name: String) -> String? { schedulesEnvironment(name).map { String(cString: $0) } }
        var settings = self
        if let count = value("TASK_OPERATIONS_SCHEDULES").flatMap({ Int($0) }) { settings.count = max(count, 1) }
        if let only = value("TASK_OPERATIONS_SCHEDULE") { settings = Schedules(only: only) }
        return settings
    }
}

/// Runs each job on a new thread.
private final class ExplorationThread: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let error = SystemThread.start(name: "schedules") { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        require(error == 0, "The system could not start a thread: error \(error).")
    }
}
