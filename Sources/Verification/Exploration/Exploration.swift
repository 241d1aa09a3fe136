/// A program whose schedules are explored.
public struct ExploredProgram: Sendable {
    /// The name, which is the beginning of a printed schedule.
    public let name: String
    /// A description of the program, for the report of a failure.
    public var details = ""
    public var memory = MemoryModel.sequential
    /// An ordering without one of its parts, to explore whether the program needs that part.
    public var weakened: WeakenedOrdering?
    /// The maximum number of steps. A schedule with more steps fails.
    public var stepLimit = 20_000
    let body: @Sendable (Schedule) -> Void

    /// - Parameters:
    ///   - name: The name of the program, which must be unique in a test run.
    ///   - body: The program. It begins with one thread; `Schedule.thread` starts others.
    public init(_ name: String, memory: MemoryModel = .sequential, _ body: @escaping @Sendable (Schedule) -> Void) {
        self.name = name
        self.memory = memory
        self.body = body
    }
}

/// The calls that a program can make during a schedule.
public struct Schedule: Sendable {
    let turnstile: Turnstile

    /// Starts a thread.
    public func thread(_ name: String, _ body: @escaping @Sendable () -> Void) {
        turnstile.makeThread(name, body)
    }

    /// Waits until no other thread can run.
    public func runToEnd() {
        turnstile.reach(.quiet)
    }

    /// Fails the schedule if a condition does not hold.
    public func expect(_ holds: Bool, _ message: @autoclosure () -> String) {
        if !holds { turnstile.fail(message()) }
    }

    /// Fails the schedule.
    public func fail(_ message: String) {
        turnstile.fail(message)
    }

    /// Adds a line to the output of a failing schedule.
    public func note(_ text: @autoclosure () -> String) {
        turnstile.note(text())
    }

    /// Lets another thread run, for example before the cancellation of a task, which has no such point itself.
    public func pause() {
        turnstile.reach(.pause)
    }
}

/// The rule that chooses the schedules of a program.
public enum ExplorationStrategy: Sendable {
    /// Random switches, with a schedule for each seed.
    case uniform(seeds: Range<UInt64>)
    /// Random priorities that change at `depth - 1` points, with a schedule for each seed.
    case priorities(seeds: Range<UInt64>, depth: Int)
    /// All schedules with at most `preemptions` interruptions, and at most `limit` schedules.
    case exhaustive(preemptions: Int, limit: Int = .max)
    /// A single schedule, from its printed choices.
    case replay(Choices)
}

/// The result of an exploration.
public struct ExplorationResult: Sendable, CustomStringConvertible {
    public fileprivate(set) var scheduleCount = 0
    public fileprivate(set) var stepCount = 0
    /// The number of schedules whose steps differ from those of all previous schedules.
    public var distinctCount: Int { digests.count }
    fileprivate var digests: Set<UInt64> = []
    /// Whether all schedules of the strategy were run.
    public fileprivate(set) var isComplete = true
    /// The weakened orderings to explore: each ordering that was used, without one of its parts at a time.
    public var weakenedOrderings: [WeakenedOrdering] {
        orderings.sorted { "\($0.key)" < "\($1.key)" }.flatMap { site, parts in
            [OrderingParts.sequential, [.acquire, .sequential], [.release, .sequential], .atomic]
                .filter {
                    $0 == .sequential ? parts.contains($0) : !parts.isDisjoint(with: $0.subtracting(.sequential))
                }
                .map { WeakenedOrdering(site: site, without: $0) }
        }
    }
    fileprivate var orderings: [OrderingSite: OrderingParts] = [:]
    /// The places of the orderings that were used; empty unless the memory is weak.
    public var orderingSites: Set<OrderingSite> { Set(orderings.keys) }
    /// The first schedule that failed.
    public fileprivate(set) var failure: FailedSchedule?

    public var description: String {
        let count =
            "\(scheduleCount) schedules\(isComplete ? "" : " (not all)"), \(distinctCount) of them distinct, \(stepCount) steps"
        return failure.map { "\(count)\n\($0)" } ?? count
    }
}

/// A schedule that failed.
public struct FailedSchedule: Sendable, CustomStringConvertible {
    public let program: String
    let details: String
    /// The number of schedules up to this one.
    public fileprivate(set) var number = 1
    public let seed: UInt64?
    public let choices: Choices
    public let messages: [String]
    public let trace: [String]

    private static var shownSteps: Int { 160 }

    public var description: String {
        let origin = seed.map { " (seed \($0))" } ?? ""
        return """
            A schedule of "\(program)" failed, number \(number)\(origin):
            \((messages + (details.isEmpty ? [] : [details])).joined(separator: "\n"))
            \(trace.count > Self.shownSteps ? "Last steps of \(trace.count)" : "Steps"):
            \(trace.suffix(Self.shownSteps).map { "  \($0)" }.joined(separator: "\n"))
            Repeat it with EXPLORED_SCHEDULE="\(program)@\(choices)"
            """
    }
}

extension ExploredProgram {
    /// Runs schedules until one fails. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - interval: The number of schedules after which one is repeated, to check that it takes the same steps.
    ///   - shrinks: Whether to remove the choices of a failing schedule that the failure does not need.
    public func explore(
        _ strategy: ExplorationStrategy, repeatingEvery interval: Int = 50, shrinks: Bool = true
    ) -> ExplorationResult {
        Self.explore(strategy, repeatingEvery: interval, shrinks: shrinks) { _ in self }
    }

    /// Runs one schedule for each seed, each of a different program, until a schedule fails. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - interval: The number of schedules after which one is repeated, to check that it takes the same steps.
    ///   - shrinks: Whether to remove the choices of a failing schedule that the failure does not need.
    ///   - program: Returns the program for a seed. The seed is 0 if the strategy has no seeds.
    public static func explore(
        _ strategy: ExplorationStrategy, repeatingEvery interval: Int = 50, shrinks: Bool = true,
        program: @escaping (_ seed: UInt64) -> ExploredProgram
    ) -> ExplorationResult {
        Explorations.withTurn {
            var explorer = Explorer(program: program, interval: interval, shrinks: shrinks)
            explorer.explore(strategy)
            return explorer.result
        }
    }

    /// Runs one schedule.
    func run(_ strategy: any Strategy, keepsTrace: Bool = false) -> Turnstile {
        let turnstile = Turnstile(
            identity: Explorations.nextNumber(), strategy: strategy, memory: memory, weakened: weakened,
            stepLimit: stepLimit, keepsTrace: keepsTrace)
        turnstile.run { body(Schedule(turnstile: turnstile)) }
        return turnstile
    }
}

/// Runs the schedules of a strategy.
private struct Explorer {
    let program: (_ seed: UInt64) -> ExploredProgram
    let interval: Int
    let shrinks: Bool
    var result = ExplorationResult()
    /// The number of choices of the longest schedule.
    private var length = 0

    init(program: @escaping (_ seed: UInt64) -> ExploredProgram, interval: Int, shrinks: Bool) {
        self.program = program
        self.interval = interval
        self.shrinks = shrinks
    }

    mutating func explore(_ strategy: ExplorationStrategy) {
        switch strategy {
        case .uniform(let seeds):
            warmUp(program(seeds.lowerBound))
            for seed in seeds where result.failure == nil { run(UniformStrategy(seed: seed), program(seed), seed) }
        case .priorities(let seeds, let depth):
            warmUp(program(seeds.lowerBound))
            for seed in seeds where result.failure == nil {
                run(PCTStrategy(seed: seed, depth: depth, length: length), program(seed), seed)
            }
        case .exhaustive(let preemptions, let limit):
            let (program, strategy) = (program(0), DepthFirstStrategy(preemptions: preemptions))
            warmUp(program)
            while result.failure == nil, strategy.begin() {
                result.isComplete = result.scheduleCount < limit
                if !result.isComplete { break }
                run(strategy, program, nil)
            }
        case .replay(let choices): run(ReplayStrategy(choices), program(0), nil)
        }
    }

    /// Runs a schedule that does not count, so that objects that exist once per process are created.
    private mutating func warmUp(_ program: ExploredProgram) {
        length = program.run(ReplayStrategy(Choices())).choices.count
    }

    private mutating func run(_ strategy: any Strategy, _ program: ExploredProgram, _ seed: UInt64?) {
        let turnstile = program.run(strategy)
        result.scheduleCount += 1
        result.stepCount += turnstile.stepCount
        result.digests.insert(turnstile.report.digest)
        result.orderings.merge(turnstile.orderings) { first, _ in first }
        length = max(length, turnstile.choices.count)
        if !turnstile.report.failures.isEmpty {
            result.failure = program.describeFailure(of: turnstile, seed, shrinks: shrinks)
        } else if result.scheduleCount % interval == 0 {
            result.failure = program.findDivergence(from: turnstile, seed)
        }
        result.failure?.number = result.scheduleCount
    }
}

extension ExploredProgram {
    fileprivate func describeFailure(of turnstile: Turnstile, _ seed: UInt64?, shrinks: Bool) -> FailedSchedule {
        let choices = shrinks ? shrink(turnstile.choices) : turnstile.choices
        let repeated = run(ReplayStrategy(choices), keepsTrace: true)
        let doubt = repeated.report.failures.isEmpty ? ["The schedule does not fail again if it is repeated."] : []
        return FailedSchedule(
            program: name, details: details, seed: seed, choices: choices, messages: turnstile.report.failures + doubt,
            trace: repeated.report.trace)
    }

    /// Repeats a schedule. Returns a failure if its steps differ.
    fileprivate func findDivergence(from turnstile: Turnstile, _ seed: UInt64?) -> FailedSchedule? {
        let choices = turnstile.choices
        let (first, second) = (turnstile.report, run(ReplayStrategy(choices), keepsTrace: true).report)
        if second.digest == first.digest { return nil }
        let same = zip(first.digests, second.digests).prefix { $0 == $1 }.count
        let line = same < second.lines.count ? second.lines[same] : second.trace.count
        let next = line < second.trace.count ? second.trace[line] : "the end"
        let message = """
            The schedule is not repeatable: it took \(first.digests.count) steps, then \(second.digests.count). After \
            \(same) steps came another one than: \(next).
            """
        return FailedSchedule(
            program: name, details: details, seed: seed, choices: choices, messages: [message],
            trace: Array(second.trace.prefix(line)))
    }

    /// Removes choices that a failure does not need (A. Zeller and R. Hildebrandt, "Simplifying and Isolating
    /// Failure-Inducing Input", IEEE TSE 28, 2002).
    private func shrink(_ choices: Choices) -> Choices {
        var smallest = choices
        var (runs, steps) = (0, 0)
        var isOver: Bool { runs >= Self.shrinkingRuns || steps >= Self.shrinkingSteps }
        var length = max(1, smallest.deviations.count / 2)
        while !isOver {
            var start = 0
            var isSmaller = false
            while start < smallest.deviations.count, !isOver {
                var candidate = smallest
                candidate.deviations.removeSubrange(start..<min(start + length, candidate.deviations.count))
                let turnstile = run(ReplayStrategy(candidate))
                runs += 1
                steps += turnstile.stepCount
                if turnstile.report.failures.isEmpty {
                    start += length
                } else {
                    smallest = candidate
                    isSmaller = true
                }
            }
            if length == 1, !isSmaller { break }
            length = max(1, length / 2)
        }
        return smallest
    }

    private static var shrinkingRuns: Int { 300 }
    /// The maximum number of steps, which take a few seconds in a debug build.
    private static var shrinkingSteps: Int { 1_000_000 }
}
