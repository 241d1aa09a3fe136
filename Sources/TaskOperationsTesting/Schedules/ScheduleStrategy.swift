/// How an exploration chooses the next job of each schedule.
///
/// The usual order is the order of an otherwise idle machine: a task continues when it enters or leaves an actor, and
/// other jobs run in the order in which they became ready. The first schedule of every strategy is the usual order.
public struct ScheduleStrategy: Sendable {
    enum Kind: Sendable {
        case mixed
        case priorities(depth: Int)
        case uniform
        case exhaustive(deviations: Int)
    }

    let kind: Kind

    /// Alternates between `priorities()` and `uniform`. Of 35 programs with faults of public reports, `uniform` finds
    /// all within 9 schedules; `priorities()` needs more for most, but reaches orders in which one task waits long.
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

    /// Chooses any ready job with the same probability.
    public static var uniform: Self { Self(kind: .uniform) }

    /// Runs every schedule that deviates from the usual order at most `deviations` times, those with fewer deviations
    /// first. Use it for small programs.
    ///
    /// This is delay-bounded scheduling (M. Emmi, S. Qadeer and Z. Rakamarić, "Delay-Bounded Scheduling", POPL 2011).
    public static func exhaustive(deviations: Int = 2) -> Self {
        Self(kind: .exhaustive(deviations: max(deviations, 0)))
    }
}

/// A step at which a schedule deviates from the usual order.
struct Deviation: Hashable, Sendable {
    /// The number of earlier steps.
    let step: Int
    /// The position of the chosen job among the ready ones. The usual order chooses position 0.
    let choice: Int
}

/// A schedule, as a failure prints it: `1:1,4:2`. A number before a slash is the seed of random numbers.
struct Schedule: Hashable, Sendable, LosslessStringConvertible {
    /// The seed of the random numbers that the code requests.
    var seed: UInt64 = 0
    var deviations: [Deviation] = []

    init(seed: UInt64 = 0, _ deviations: [Deviation] = []) {
        self.seed = seed
        self.deviations = deviations
    }

    init?(_ text: String) {
        let parts = text.split(separator: "/")
        guard let last = parts.last, parts.count <= 2 else { return nil }
        if parts.count == 2 {
            guard let seed = UInt64(parts[0]) else { return nil }
            self.seed = seed
        }
        if last == "usual" { return }
        for item in last.split(separator: ",") {
            let numbers = item.split(separator: ":").map { Int($0) }
            guard numbers.count == 2, let step = numbers[0], let choice = numbers[1] else { return nil }
            deviations.append(Deviation(step: step, choice: choice))
        }
    }

    var description: String {
        let list = deviations.map { "\($0.step):\($0.choice)" }.joined(separator: ",")
        return (seed == 0 ? "" : "\(seed)/") + (list.isEmpty ? "usual" : list)
    }
}

// MARK: - One schedule

/// Chooses the jobs of one schedule.
struct Chooser: Sendable {
    private enum Rule: Sendable {
        case listed([Deviation])
        case uniform
        case priorities(changes: Set<Int>)
    }

    private let rule: Rule
    private var generator: SeededGenerator
    /// The priorities of tasks, for the strategy with priorities.
    private var ranks: [UInt64: UInt64] = [:]
    private var lowestRank: UInt64 = 1 << 32
    /// The number of yields of one task without a yield of another task.
    private var yields: (task: UInt64, count: Int) = (0, 0)
    /// The number of listed deviations that were used.
    private var used = 0

    init(_ schedule: Schedule) {
        rule = .listed(schedule.deviations)
        generator = SeededGenerator(seed: 0)
    }

    /// - Parameter length: The expected number of steps.
    init(_ strategy: ScheduleStrategy, seed: UInt64, length: Int) {
        var random = SeededGenerator(seed: seed)
        var depth: Int?
        switch strategy.kind {
        case .mixed: depth = seed.isMultiple(of: 2) ? 3 : nil
        case .priorities(let limit): depth = limit
        case .uniform, .exhaustive: break
        }
        if let depth {
            // Faults of a lower depth are more likely to appear with fewer changes.
            let length = max(length, 1)
            let count = random.number(below: min(depth, length + 1))
            rule = .priorities(changes: Set((0..<count).map { _ in random.number(below: length) }))
        } else {
            rule = .uniform
        }
        generator = random
    }

    /// Returns the position of the next job.
    ///
    /// - Parameter jobs: At least 2.
    mutating func choose(at step: Int, among jobs: inout ReadyJobs) -> Int {
        switch rule {
        case .uniform: return generator.number(below: jobs.count)
        case .priorities(let changes):
            if changes.contains(step) { jobs.setRank(at: jobs.highest) { lower($0) } }
            return jobs.highest
        case .listed(let list):
            while used < list.count, list[used].step < step { used += 1 }
            guard used < list.count, list[used].step == step else { return 0 }
            return min(list[used].choice, jobs.count - 1)
        }
    }

    /// The priority of a task.
    mutating func rank(of task: UInt64) -> UInt64 {
        guard case .priorities = rule else { return 0 }
        if let rank = ranks[task] { return rank }
        let rank = generator.next() | 1 << 63
        ranks[task] = rank
        return rank
    }

    /// Notes that a task yields. It keeps its priority, which the bound of the strategy needs. The last of many yields in
    /// a row gives the task the lowest priority: a task that waits in a loop would otherwise run forever.
    mutating func noteYield(of task: UInt64) {
        yields = yields.task == task ? (task, yields.count + 1) : (task, 1)
        guard case .priorities = rule, yields.count == 100 else { return }
        yields.count = 0
        _ = lower(task)
    }

    /// Gives a task the lowest priority, and returns it.
    private mutating func lower(_ task: UInt64) -> UInt64 {
        lowestRank -= 1
        ranks[task] = lowestRank
        return lowestRank
    }
}
