/// Makes a program smaller while it still fails, so that only the relevant part remains.
public struct Shrinker {
    /// The maximum number of programs to try.
    public var limit = 3000
    /// The number of schedules for each program. A program without a step may need another schedule to fail.
    public var schedules: UInt64 = 6

    private let fails: (Program) -> Bool
    private var tried = 0

    /// Creates a shrinker for programs that satisfy a condition, usually that they fail.
    public init(fails: @escaping (Program) -> Bool) {
        self.fails = fails
    }

    /// Returns a failing program. Within the limit, no smaller candidate of it fails.
    public mutating func shrink(_ program: Program) -> Program {
        var smallest = program
        var hasShrunk = true
        while hasShrunk {
            hasShrunk = false
            // After each success, the search continues with the candidates of the smaller program.
            for candidate in smallest.smaller where tried < limit {
                guard let failing = failing(candidate) else { continue }
                smallest = failing
                hasShrunk = true
                break
            }
        }
        return smallest
    }

    private mutating func failing(_ candidate: Program) -> Program? {
        for schedule in [candidate.schedule] + (0..<schedules).map({ $0 }) {
            tried += 1
            var program = candidate
            program.schedule = schedule
            if fails(program) { return program }
        }
        return nil
    }
}
