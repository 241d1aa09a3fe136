internal import CSchedules
internal import TaskDump
internal import TaskOperations

/// Runs asynchronous code under many schedules, in virtual time, and finds a schedule under which it fails.
///
/// ```swift
/// try Schedules(1_000).run {
///     let account = Account(balance: 100)
///     async let first = account.withdraw(60)
///     async let second = account.withdraw(60)
///     _ = await (first, second)
///     guard await account.balance >= 0 else { throw Overdrawn() }
/// }
/// ```
///
/// The code under test needs no change. All its tasks, its actors and the main actor run one at a time, and sleeps take no
/// time. The article <doc:ExploringSchedules> lists the work that is taken, and the rest.
public struct Schedules: Sendable {
    /// The largest number of schedules to run.
    public var count: Int

    /// The choice of the jobs.
    public var strategy: ScheduleStrategy

    /// The events that the environment of a program may cause at any step.
    public var faults: ScheduleFaults = []

    /// Whether a job can be interrupted between two statements.
    public var threads = ScheduleThreads.one

    /// The result of a schedule whose body passes, and leaves tasks that never end.
    public var leaks = ScheduleLeaks.note

    /// The number of jobs after which a schedule counts as endless.
    public var stepLimit = 100_000

    /// The real time after which a job that does not end counts as blocked.
    public var blockLimit = Duration.seconds(60)

    /// The real time to wait for other threads when no job is left and the body has not finished.
    public var patience = Duration.seconds(1)

    /// Whether the summary has the number of different orders. Without optimization, this takes half as much time again.
    /// The strategy `exhaustive` always counts them.
    public var countsOrders = false

    /// Whether each schedule first runs in a copy of the process, so that a crash is reduced and reported like another
    /// failure. A copy takes one to two milliseconds. Effects outside of the process, for example on files, occur in both.
    ///
    /// The copy has one thread, and ends where the code uses Dispatch, begins a thread or resumes a task from outside. The
    /// rest of the schedule runs only in the process itself, as on other systems than Linux with glibc. If two copies wait
    /// for a second, perhaps for a thread that began earlier, the other schedules are not copied.
    public var forks = false

    /// Schedules of earlier failures, which run before those of the strategy. A failure names its schedule, for example
    /// `1-,4-17`.
    public var also: [String] = [] {
        didSet {
            for text in also {
                require(Schedule(text) != nil, "\"\(text)\" is not a schedule, such as 1-,4-17 or usual.")
            }
        }
    }

    /// The real time after which no further schedule begins; nil for no limit.
    public var duration: Duration?

    /// Whether the trait may explore another test at the same time.
    var runsInParallel = false

    /// The only schedule to run; nil for all.
    var only: Schedule?

    /// Whether variables of the environment can name other schedules.
    var obeysEnvironment = true

    /// Whether the environment names the schedule.
    var isOfEnvironment = false

    /// The reason why the environment cannot be obeyed; nil if it can.
    var fault: String?

    /// Creates an exploration.
    ///
    /// - Parameters:
    ///   - count: The largest number of schedules to run. At least 1.
    ///   - strategy: The choice of the jobs.
    public init(_ count: Int = 1_000, _ strategy: ScheduleStrategy = .mixed) {
        require(count >= 1, "count is \(count); it must be at least 1.")
        self.count = count
        self.strategy = strategy
    }

    /// Runs only one schedule.
    ///
    /// - Parameter schedule: The text that a failure names, for example `1-,4-17`.
    public init(only schedule: String) {
        self.init(1)
        only = Schedule(schedule)
        require(only != nil, "\"\(schedule)\" is not a schedule, such as 1-,4-17 or usual.")
    }

    /// Runs the body under schedules until one fails. Blocks the calling thread. Must not be called in the body of another
    /// exploration.
    ///
    /// Swift Testing has the trait `.schedules`, which blocks no thread. The body of another test library fails by an
    /// error that it throws. The body runs many times, so it must create the objects that it uses.
    ///
    /// - Parameter body: The test.
    /// - Returns: The number of schedules that were run, and whether these were all schedules of the strategy.
    /// - Throws: `ScheduleFailure` if the body throws an error, does not finish, or blocks its thread.
    @discardableResult
    public func run(_ body: @escaping @Sendable () async throws -> Void) throws -> ScheduleSummary {
        try run(Exploration(self, body))
    }

    @discardableResult
    func run(_ exploration: Exploration) throws -> ScheduleSummary {
        require(schedulesCurrent() == nil, "an exploration cannot run in the body of another one.")
        exploration.start()
        var pause: Int64 = 50_000
        while true {
            if let result = exploration.poll() { return try result.get() }
            schedulesSleep(pause)
            pause = min(pause * 2, 5_000_000)
        }
    }

    /// A generator of random numbers for the code under test. It gives the same numbers when a schedule is repeated, and
    /// other numbers in each schedule. Call it in the body of an exploration.
    public static func generator() -> SeededGenerator {
        guard let thread = schedulesCurrent() else {
            fatalError("`Schedules.generator()` was called outside a schedule.")
        }
        thread.pointee.usesSeed = 1
        return SeededGenerator(seed: thread.pointee.seed)
    }
}

/// The extent of an exploration that found no failure.
public struct ScheduleSummary: Sendable, Hashable {
    /// The number of schedules that were run.
    public let count: Int

    /// The number of different orders of the steps of each task, each actor, and the code outside of actors; nil if they
    /// were not counted. It can be too large: an actor that has the address of an earlier one counts as the same.
    public let orderCount: Int?

    /// Whether the strategy has no other schedule.
    public let isComplete: Bool

    /// The observations that limit the result, as sentences.
    public let notes: [String]

    /// The observation about a schedule that was to be repeated, and passes.
    let repetition: String?
}

/// A schedule under which a test fails.
public struct ScheduleFailure: Error, Sendable, CustomStringConvertible {
    /// The cause of the failure.
    public enum Cause: Error, Sendable {
        /// The body threw an error.
        case error(any Error)
        /// The test library recorded failures, with these texts.
        case recorded([String])
        /// The body passes. Tasks that it has created wait or sleep without an end.
        case leaked
        /// The body waits, no job is left, and no thread has resumed a task.
        case stuck
        /// More steps than the limit have run.
        case endless
        /// A signal ends the process, with this name and message. The cause is the last step, or an object that is
        /// released after it.
        case crashed(String)
        /// A job has blocked its thread for longer than the limit.
        case blocked(task: String)
        /// The runtime does not pass its tasks to an exploration, so the body was not run.
        case unavailable
        /// A variable of the environment has a value that is not understood, so the body was not run.
        case environment(String)
    }

    /// The cause of the failure.
    public let cause: Cause

    /// The schedule, for the environment variable `TASK_OPERATIONS_SCHEDULE`.
    public let schedule: String

    /// The number of the schedule, from 1, and the limit; the number is 0 if the body was not run.
    public let place: (number: Int, count: Int)

    let trace: ScheduleTrace?

    /// The tasks that wait forever; nil if none does, or if the schedule could not be repeated.
    var dump: TaskDump?

    /// The observations that limit the result, as sentences.
    public let notes: [String]

    /// The steps of the schedule, as lines. The first call for code with debug information can take seconds.
    public var steps: [String] { trace.map { ScheduleReport($0).lines } ?? [] }

    /// The cause, the schedule and its steps.
    public var description: String { "\(text)\n\(report)" }

    /// The schedule and its steps.
    package var report: String { ([heading] + steps + notes).joined(separator: "\n") }

    private var heading: String {
        "schedule \(place.number)\(place.count == .max ? "" : " of \(place.count)") · repeat it with TASK_OPERATIONS_SCHEDULE=\(schedule)"
    }

    /// The cause, as a sentence.
    var text: String {
        switch cause {
        case .error(let error): "The body threw an error: \(error)"
        case .recorded(let texts): texts.joined(separator: "\n")
        case .stuck:
            "The body waits, and no job is left to run. "
                + (dump.map { $0.causes }
                    ?? "Perhaps it waits for a continuation that is never resumed, or for a thread that takes longer.")
        case .leaked: "The body passes, and leaves tasks that never end. " + (dump.map { $0.causes } ?? "")
        case .endless: "The program does not end. Perhaps a loop never ends."
        case .crashed(let text): "The last step ends the process: \(text)"
        case .environment(let text): "No schedule was run: \(text)"
        case .unavailable:
            "No schedule was run: this runtime does not pass on its tasks. Perhaps it is linked statically."
        case .blocked(let task):
            "A job of \(task) blocks its thread. Perhaps it waits for a lock, a semaphore or another thread. The exploration ends here."
        }
    }
}
