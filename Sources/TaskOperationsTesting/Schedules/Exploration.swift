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
    let test: String?
    /// The address of the object that collects the failures of the test; 0 if there is none.
    private let collector: UInt
    let takeFailures: @Sendable () -> [RecordedFailure]
    let announce: @Sendable (ScheduleFailure) -> Void
    private let state: Lock<State>

    /// - Parameters:
    ///   - test: The name of the test; nil if the test library does not tell it.
    ///   - collector: Collects failures on the thread of the exploration.
    ///   - takeFailures: Returns the failures that the test library recorded since the last call.
    ///   - announce: Called with the failure before a last run of its schedule.
    package init(
        _ settings: Schedules, test: String? = nil, collector: AnyObject? = nil,
        takeFailures: @escaping @Sendable () -> [RecordedFailure] = { [] },
        announce: @escaping @Sendable (ScheduleFailure) -> Void = { _ in },
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        self.settings = settings.withEnvironment(test)
        self.test = test
        self.collector = collector.map { UInt(bitPattern: ObjectIdentifier($0)) } ?? 0
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
        defer {
            schedulesEnd(thread)
            thread.deallocate()
        }
        thread.initialize(to: SchedulesThread())
        thread.pointee.collector = UnsafeRawPointer(bitPattern: collector)
        schedulesPrepare(thread, test, settings.only?.description)
        thread.pointee.forks = settings.threads == .controlled ? -1 : settings.forks ? 1 : 0
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
                // The delays of a strategy are known only after another run, which would block another thread.
                schedule: run.record.hasChoices ? "#\(state.count)" : Schedule(run.record.changes).description,
                place: (state.count, settings.count), trace: nil, notes: [])
            state.outcome = .failure(failure)
            state.leavesTasks = true
            return state.outcome
        }
    }
}

/// A failure that the test library recorded.
package struct RecordedFailure: Sendable {
    let text: String
    /// The file and line; failures of one place are equal.
    let place: String
}

extension Schedules {
    /// The settings, with those of the environment.
    fileprivate func withEnvironment(_ test: String?) -> Self {
        func value(_ name: String) -> String? { schedulesEnvironment(name).map { String(cString: $0) } }
        if !obeysEnvironment { return self }
        var settings = self
        if let name = value("TASK_OPERATIONS_TEST"), name != test { return self }
        if let text = value("TASK_OPERATIONS_SCHEDULES") {
            settings.count = Int(text).flatMap { $0 >= 1 ? $0 : nil } ?? 0
            if settings.count == 0 {
                settings.fault = "TASK_OPERATIONS_SCHEDULES is \"\(text)\"; it must be a number of at least 1."
            }
        }
        if value("TASK_OPERATIONS_FORK") != nil { settings.forks = threads == .one }
        guard let text = value("TASK_OPERATIONS_SCHEDULE") else { return settings }
        settings.isOfEnvironment = true
        if let only = Schedule(text) {
            (settings.only, settings.count) = (only, 1)
        } else if text.first == "#", let number = Int(text.dropFirst()), number >= 1 {
            settings.count = number
        } else {
            settings.fault =
                "TASK_OPERATIONS_SCHEDULE is \"\(text)\"; it must be a schedule, such as 1-,4-17, usual or #8."
        }
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
