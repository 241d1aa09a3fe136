import Exploration
import Foundation
import Testing

/// Explores a program on its own thread, and records failures.
///
/// `EXPLORED_SCHEDULE="name@choices"` repeats one schedule of the program with that name, and prints its steps.
func explore(
    _ strategy: ExplorationStrategy, of program: ExploredProgram, sourceLocation: SourceLocation = #_sourceLocation
) async -> ExplorationResult? {
    await explore(strategy, sourceLocation: sourceLocation) { _ in program }
}

/// Explores a program for each seed.
func explore(
    _ strategy: ExplorationStrategy, sourceLocation: SourceLocation = #_sourceLocation,
    program: @escaping @Sendable (_ seed: UInt64) -> ExploredProgram
) async -> ExplorationResult? {
    var (strategy, program) = (strategy, program)
    if let repeated = RepeatedSchedule.current {
        let made = program(repeated.seed)
        guard made.name == repeated.program else { return nil }
        strategy = .replay(repeated.choices)
        program = { _ in made }
    }
    let result = await onOwnThread { [strategy, program] in ExploredProgram.explore(strategy, program: program) }
    if let failure = result.failure {
        if RepeatedSchedule.current != nil { print(failure.trace.joined(separator: "\n")) }
        Issue.record("\(failure)", sourceLocation: sourceLocation)
    }
    return result
}

/// Calls a blocking function on a separate thread.
func onOwnThread<Result: Sendable>(_ function: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: function()) }
    }
}

/// The schedule that `EXPLORED_SCHEDULE` names.
struct RepeatedSchedule {
    let program: String
    let choices: Choices

    static let current = ProcessInfo.processInfo.environment["EXPLORED_SCHEDULE"].map { RepeatedSchedule($0) }

    private init(_ text: String) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let choices = Choices(String(parts[1])) else {
            fatalError("EXPLORED_SCHEDULE is \"\(text)\"; it must be a program's name, @, and choices as 12:1,45:2.")
        }
        program = String(parts[0])
        self.choices = choices
    }

    /// The number at the end of the program's name; 0 if the name has none.
    var seed: UInt64 { program.split(separator: " ").last.flatMap { UInt64($0) } ?? 0 }
}

/// The extent of the exploration. Set `EXPLORED_SCHEDULES=25000` for more schedules than in an ordinary run.
enum Amount {
    private static let environment = ProcessInfo.processInfo.environment

    /// The number of schedules that are run of random programs.
    static let schedules = environment["EXPLORED_SCHEDULES"].flatMap { UInt64($0) } ?? 700
    static let isDeep = environment["EXPLORED_SCHEDULES"] != nil
    /// The maximum number of schedules with two interruptions that are run of each small program.
    static let limit = environment["EXPLORED_LIMIT"].flatMap { Int($0) } ?? 3000
    /// The first seed of random programs.
    static let firstSeed = environment["EXPLORED_SEED"].flatMap { UInt64($0) } ?? 0
    private static var seeds: Range<UInt64> { firstSeed..<firstSeed + schedules }
    /// The strategy that chooses the schedules of random programs.
    static var strategy: ExplorationStrategy {
        guard let depth = environment["EXPLORED_DEPTH"].flatMap({ Int($0) }) else { return .uniform(seeds: seeds) }
        return .priorities(seeds: seeds, depth: depth)
    }
}
