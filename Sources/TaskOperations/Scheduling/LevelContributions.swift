/// How many edges hand each level on.
struct LevelContributions: Sendable {
    /// The lowest level changes nothing, so that it is not counted.
    private var counts = SIMD4<Int32>()

    /// The highest level that is handed on.
    var highest: PriorityLevel {
        for level in PriorityLevel.allCases.reversed() where level > .background && counts[Self.place(level)] > 0 {
            return level
        }
        return .background
    }

    mutating func change(from: PriorityLevel?, to: PriorityLevel?) {
        if let from, from > .background { counts[Self.place(from)] -= 1 }
        if let to, to > .background { counts[Self.place(to)] += 1 }
    }

    private static func place(_ level: PriorityLevel) -> Int { Int(level.rawValue) - 1 }
}
