/// The totals of many seeds.
public struct SeedTally: Sendable, CustomStringConvertible {
    public var seeds = 0
    /// The number of operations of all programs.
    public var operations = 0
    /// The number of calls and events of all programs.
    public var events = 0

    public init() {}

    private init(seeds: Int, operations: Int, events: Int) {
        self.seeds = seeds
        self.operations = operations
        self.events = events
    }

    public var description: String { "\(seeds) seeds, \(operations) operations, \(events) events" }

    public static func + (left: Self, right: Self) -> Self {
        Self(
            seeds: left.seeds + right.seeds, operations: left.operations + right.operations,
            events: left.events + right.events)
    }
}

/// A seed whose program fails, and the smallest failing program that was found.
public struct SeedFailure: Error, CustomStringConvertible {
    public let seed: UInt64
    public let eventsBetweenLooks: Int
    /// The violations of the first run.
    public let violations: [String]
    /// A second run, with a trace.
    public let report: Report
    public let shrunk: Report

    public var description: String {
        """
        SIMULATION_SEED=\(seed) runs this alone, among others with \(eventsBetweenLooks) events between two looks:
        \(violations.joined(separator: "\n"))

        Run again:
        \(report)

        Shrunk:
        \(shrunk)
        """
    }
}

extension SeedTally {
    /// Runs the programs of seeds until one fails.
    ///
    /// - Parameter eventsBetweenLooks: The number of events after which the library is compared with the model.
    /// - Throws: `SeedFailure`.
    public init(of seeds: Range<UInt64>, eventsBetweenLooks: Int = 1) throws(SeedFailure) {
        for seed in seeds {
            let program = Program(seed: seed)
            let report = program.run(eventsBetweenLooks: eventsBetweenLooks)
            if !report.violations.isEmpty { throw SeedFailure(seed, program, report.violations, eventsBetweenLooks) }
            self.seeds += 1
            operations += program.operations.count
            events += report.events
        }
    }
}

extension SeedFailure {
    fileprivate init(_ seed: UInt64, _ program: Program, _ violations: [String], _ eventsBetweenLooks: Int) {
        self.seed = seed
        self.violations = violations
        self.eventsBetweenLooks = eventsBetweenLooks
        report = program.run(keepsTrace: true, eventsBetweenLooks: eventsBetweenLooks)
        var shrinker = Shrinker { !$0.run(eventsBetweenLooks: eventsBetweenLooks).violations.isEmpty }
        shrunk = shrinker.shrink(program).run(keepsTrace: true, eventsBetweenLooks: eventsBetweenLooks)
    }
}
