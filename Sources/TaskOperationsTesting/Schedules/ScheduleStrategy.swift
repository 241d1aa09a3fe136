/// How an exploration chooses the next job of each schedule.
///
/// The usual order is the order of an otherwise idle machine: a task continues when it enters or leaves an actor, and
/// other jobs run in the order in which they became ready. The first schedule of every strategy is the usual order.
public struct ScheduleStrategy: Sendable {
    enum Kind: Sendable {
        case mixed
        case priorities(depth: Int)
        case uniform
        case exhaustive(delays: Int)
    }

    let kind: Kind

    var isExhaustive: Bool { if case .exhaustive = kind { true } else { false } }

    /// Alternates between `uniform` and random priorities of jobs. With the latter, some jobs wait long.
    ///
    /// The priorities are the basic form of POS (X. Yuan, J. Yang and R. Gu, "Partial Order Aware Concurrency Sampling",
    /// CAV 2018).
    public static var mixed: Self { Self(kind: .mixed) }

    /// Gives each task a random priority, and runs the ready task of the highest priority. At up to `depth - 1` random
    /// steps, the running task receives the lowest priority.
    ///
    /// This is PCT (S. Burckhardt, P. Kothari, M. Musuvathi and S. Nagarakatte, "A Randomized Scheduler with
    /// Probabilistic Guarantees of Finding Bugs", ASPLOS 2010). A schedule shows a fault that needs `d` ordered steps
    /// with a probability of at least 1/(n·k^(d-1)), for n tasks and k steps.
    ///
    /// - Parameter depth: The largest number of ordered steps that a fault needs. At least 1.
    public static func priorities(depth: Int = 3) -> Self { Self(kind: .priorities(depth: max(depth, 1))) }

    /// Chooses each task with a probability in proportion to the number of its steps that are left, as far as an earlier
    /// schedule shows it. All orders of the steps then have about the same probability.
    ///
    /// This is the random walk of SURW, for all steps ("Selectively Uniform Concurrency Testing", ASPLOS 2025).
    public static var uniform: Self { Self(kind: .uniform) }

    /// Runs every schedule that differs from the usual order by at most `delays` delays, those with fewer delays first.
    /// A delayed job waits until no other job is ready. Use it for small programs.
    ///
    /// A schedule is left out if another one has the same order of the steps of each task and each actor. Steps outside
    /// of actors count as steps of one more actor, because they may use a lock of the others. A step in an actor that
    /// also uses a lock, a stream, a continuation or a global variable, or cancels a task, is not seen to depend on other
    /// actors. Use another strategy for such actors.
    ///
    /// This is delay-bounded scheduling (M. Emmi, S. Qadeer and Z. Rakamarić, "Delay-Bounded Scheduling", POPL 2011).
    /// A program of k steps has at most k^d schedules with d delays.
    public static func exhaustive(delays: Int = 2) -> Self { Self(kind: .exhaustive(delays: max(delays, 0))) }
}

/// The events that an exploration causes in half of its schedules, beside the order of the jobs. The strategy
/// `exhaustive` causes none.
public struct ScheduleFaults: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The time moves to the next deadline although tasks are ready, as on a slow machine. Timeouts and cancellations
    /// then interrupt work. A test that demands the end of work before its timeout fails.
    public static let time = Self(rawValue: 1)

    /// The task of the test, or a task that it has created without a group, is cancelled. The test must then end, and its
    /// expectations must hold. It may throw `CancellationError`, or another error whose description contains "cancel".
    public static let cancellation = Self(rawValue: 2)
}

/// The threads that run the jobs of a schedule. One of them runs at any moment.
public enum ScheduleThreads: Sendable {
    /// One thread runs all jobs. A job runs until its task suspends.
    case one

    /// A job can be interrupted after it has made another task ready, and after it has taken or released a lock of the C
    /// library. A schedule takes two to four times as long.
    ///
    /// Possible on Linux with glibc, without the thread sanitizer; elsewhere, it has no effect. The strategy `exhaustive`
    /// interrupts no job, and schedules are not copied.
    case controlled
}

/// The result of a schedule whose body passes, and leaves tasks that never end: no task is left that will resume them, or
/// they sleep again and again. Children are not looked at, because a task waits for its children.
public enum ScheduleLeaks: Sendable {
    /// The summary has a note if the first schedule leaves such tasks.
    case note

    /// The schedule fails.
    case fail
}

// MARK: - One schedule

/// Chooses the jobs of one schedule.
struct Chooser: Sendable {
    // Without values: a build without optimization would copy these at each step.
    private enum Rule: Sendable {
        /// The usual order with changes.
        case changed
        /// The places that another rule chose.
        case repeated
        /// A job for each task in proportion to the steps that it had in an earlier schedule.
        case uniform
        case jobPriorities
        /// Priorities of tasks.
        case priorities
    }

    private let rule: Rule
    /// The changes that precede steps.
    private var changes: [Change] = []
    /// The places to repeat, by step.
    private var places: [Int] = []
    /// The steps of each task in an earlier schedule.
    private var steps: [Int] = []
    /// The steps at which the running task receives the lowest priority.
    private var lowerings: Set<Int> = []
    private var generator: SeededGenerator
    /// The priorities of tasks, for the strategy with priorities.
    private var ranks: [UInt64: UInt64] = [:]
    private var lowestRank: UInt64 = 1 << 32
    /// The number of yields of one task without a yield of another task.
    private var yields: (task: UInt64, count: Int) = (0, 0)
    /// The tasks in the order of their first jobs, and the numbers of their steps, for the uniform strategy.
    private var indices: [UInt64: Int] = [:]
    private(set) var stepCounts: [Int] = []
    /// The moment of the last chosen job, for the strategies without tasks' priorities.
    private var now: UInt64 = 0
    /// The number of moments of a step.
    private static let moments = 1_000_000
    /// The number of changes that were used.
    private var used = 0
    /// The number of times that the time may still move although jobs are ready.
    private var timeMoves = 0
    /// Whether a task may be cancelled.
    private(set) var mayCancel = false
    /// The step before which a task is cancelled; nil if none is.
    private(set) var cancellationStep: Int?
    /// Whether changes can precede steps.
    private(set) var causesChanges = false
    /// Whether jobs may be interrupted.
    private(set) var interruptsJobs = false
    /// The number of times that a job may still be interrupted.
    private var interruptions = 0
    /// The expected number of steps; at least 1.
    private var length = 1
    /// Whether the chosen places shall be described as delays.
    private(set) var isRepeating = false

    init(_ schedule: Schedule) {
        (rule, changes) = (.changed, schedule.changes)
        mayCancel = schedule.changes.contains(where: \.isCancellation)
        interruptsJobs = schedule.changes.contains(where: \.isInterruption)
        causesChanges = !schedule.changes.isEmpty
        generator = SeededGenerator(seed: 0)
    }

    /// Repeats the choices that another chooser has made.
    init(repeating record: ScheduleRecord) {
        (rule, places, changes) = (.repeated, record.places, record.changes)
        mayCancel = record.cancelsTest != nil
        isRepeating = true
        interruptsJobs = record.changes.contains(where: \.isInterruption)
        causesChanges = !record.changes.isEmpty
        generator = SeededGenerator(seed: 0)
    }

    /// - Parameters:
    ///   - length: The expected number of steps.
    ///   - steps: The expected number of steps of each task, in the order of the first jobs.
    init(
        _ strategy: ScheduleStrategy, seed: UInt64, length: Int, steps: [Int], _ faults: ScheduleFaults,
        interruptsJobs: Bool
    ) {
        self.length = max(length, 1)
        self.interruptsJobs = interruptsJobs
        interruptions = interruptsJobs ? 4 : 0
        var random = SeededGenerator(seed: seed)
        // Half of the schedules have faults, for each strategy of `mixed`.
        if seed % 4 > 1 {
            if faults.contains(.time) { timeMoves = 2 }
            if faults.contains(.cancellation) { cancellationStep = random.number(below: self.length) }
            mayCancel = faults.contains(.cancellation)
            causesChanges = !faults.isEmpty
        }
        causesChanges = causesChanges || interruptsJobs
        switch strategy.kind {
        case .mixed: rule = seed.isMultiple(of: 2) ? .jobPriorities : .uniform
        case .priorities(let depth):
            // Faults of a lower depth are more likely to appear with fewer changes.
            let count = random.number(below: min(depth, self.length + 1))
            let length = self.length
            rule = .priorities
            lowerings = Set((0..<count).map { _ in random.number(below: length) })
        case .uniform, .exhaustive: rule = .uniform
        }
        self.steps = steps
        generator = random
    }

    /// Returns the place of the next job.
    ///
    /// - Parameter jobs: At least 2.
    mutating func choose(at step: Int, among jobs: inout ReadyJobs) -> Int {
        switch rule {
        case .jobPriorities:
            now += UInt64(Self.moments)
            return jobs.highest
        case .uniform:
            now = UInt64.max - jobs.highestRank
            return jobs.highest
        case .priorities:
            if lowerings.contains(step) { jobs.setRank(at: jobs.highest) { lower($0) } }
            return jobs.highest
        case .repeated:
            return step < places.count && places[step] >= 0 && jobs.holds(places[step]) ? places[step] : jobs.first
        case .changed: return jobs.first
        }
    }

    /// Returns the next change that precedes a step; nil if no other does.
    mutating func change(at step: Int) -> Change? {
        while used < changes.count, changes[used].step < step { used += 1 }
        guard used < changes.count, changes[used].step == step else { return nil }
        used += 1
        return changes[used - 1]
    }

    /// Whether the time moves before a step, although jobs are ready. Called only if there is a deadline.
    mutating func movesTime(at step: Int) -> Bool {
        guard timeMoves > 0, generator.number(below: length) < 2 else { return false }
        timeMoves -= 1
        return true
    }

    /// The point at which the job of a step is interrupted; 0 if it is not.
    mutating func interruption(at step: Int) -> Int {
        guard interruptions > 0, generator.number(below: length) < 3 else { return 0 }
        interruptions -= 1
        return 1 + generator.number(below: 1 << generator.number(below: 5))
    }

    /// The number of the task that is cancelled; nil if none can be.
    ///
    /// - Parameter tasks: The numbers of the tasks that can be cancelled. The first one is the test's.
    mutating func chooseTask(among tasks: [Int]) -> Int? {
        if tasks.isEmpty { return nil }
        return tasks[generator.number(below: 2) == 0 ? 0 : generator.number(below: tasks.count)]
    }

    /// The priority of a job of a task.
    mutating func rank(of task: UInt64, isYield: Bool) -> UInt64 {
        switch rule {
        case .priorities: break
        case .jobPriorities:
            // A job that waits gains on later ones. Otherwise, a loop could hold it up forever.
            let limit = 16 * length * Self.moments
            return .max - now - UInt64(isYield && isPolite(100) ? limit : generator.number(below: limit))
        case .uniform:
            let isLast = isYield && isPolite(16)
            return .max - now - UInt64(isLast ? 64 * Self.moments : delay(of: task, isStep: !isYield))
        case .changed, .repeated: return 0
        }
        if let rank = ranks[task] { return rank }
        let rank = generator.next() | 1 << 63
        ranks[task] = rank
        return rank
    }

    /// Whether the last of many yields in a row shall let the other tasks run. The task may wait for them.
    private func isPolite(_ count: Int) -> Bool { yields.count % count == 0 }

    /// The time after which a job runs, if each of the task's steps that are left occurs at a random moment.
    ///
    /// - Parameter isStep: Whether the job is a step that counts.
    private mutating func delay(of task: UInt64, isStep: Bool) -> Int {
        // The logarithm of a random number is that of its exponent and about that of its significand.
        let random = Double(generator.next() >> 11 | 1)
        let delay = Int((54 - Double(random.exponent) - random.significand) * Double(Self.moments))
        if !isStep { return delay }
        let index = indices[task] ?? stepCounts.count
        if index == stepCounts.count {
            indices[task] = index
            stepCounts.append(0)
        }
        let left = index < steps.count ? max(steps[index] - stepCounts[index], 1) : 1
        stepCounts[index] += 1
        return delay / left
    }

    /// Notes that a task yields. It keeps its priority, which the bound of the strategy needs. The last of many yields in
    /// a row gives the task the lowest priority: a task that waits in a loop would otherwise run forever.
    mutating func noteYield(of task: UInt64) {
        yields = yields.task == task ? (task, yields.count + 1) : (task, 1)
        guard case .priorities = rule, yields.count == 100 else { return }
        yields.count = 0
        _ = lower(task)
    }

    /// Notes that a task waits in a loop without yields, for example because its sleeps end at once.
    mutating func notePolling(of task: UInt64) { if case .priorities = rule { _ = lower(task) } }

    /// Gives a task the lowest priority, and returns it.
    private mutating func lower(_ task: UInt64) -> UInt64 {
        lowestRank -= 1
        ranks[task] = lowestRank
        return lowestRank
    }
}
