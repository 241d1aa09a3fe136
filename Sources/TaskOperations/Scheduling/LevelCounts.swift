/// A number for each priority level, and the sum of them.
struct LevelCounts: Hashable, Sendable {
    private var counts = [Int](repeating: 0, count: PriorityLevel.allCases.count)
    private(set) var count = 0

    subscript(level: PriorityLevel) -> Int { counts[Int(level.rawValue)] }

    /// The highest level whose number is not 0.
    var highest: PriorityLevel? { PriorityLevel.allCases.last { self[$0] > 0 } }

    mutating func add(_ number: Int, at level: PriorityLevel) {
        counts[Int(level.rawValue)] += number
        count += number
    }
}
