/// Makes a failing program smaller for as long as it fails, so that only the relevant part remains.
public struct Shrinker {
    /// How many programs may be tried.
    public var limit = 3000
    /// How many schedules are tried with each program, as one without a step needs another one to fail.
    public var schedules: UInt64 = 6

    private let fails: (Program) -> Bool
    private var tried = 0

    /// Makes a shrinker for programs of which something is true: that they fail, as a rule.
    public init(fails: @escaping (Program) -> Bool) {
        self.fails = fails
    }

    /// A program that fails, and of which nothing can be left out without it not failing any more, as far as was tried.
    public mutating func shrink(_ program: Program) -> Program {
        var smallest = program
        var hasShrunk = true
        while hasShrunk {
            hasShrunk = false
            // After each success, continues with the candidates of the smaller program.
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
