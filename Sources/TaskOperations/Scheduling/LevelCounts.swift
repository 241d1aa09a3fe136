/// A number for each priority level, and the sum of them.
struct LevelCounts: Hashable, Sendable {
    private var counts = PerLevel(0)
    private(set) var count = 0

    subscript(level: PriorityLevel) -> Int { counts[level] }

    /// The highest level whose number is not 0.
    var highest: PriorityLevel? { PriorityLevel.allCases.last { self[$0] > 0 } }

    mutating func add(_ number: Int, at level: PriorityLevel) {
        counts[level] += number
        count += number
    }
}
