/// How many permits the operations of each level may take, and how many they have taken.
struct LevelCaps: Hashable, Sendable {
    private var permits = [Permits](repeating: Permits(capacity: .max), count: PriorityLevel.allCases.count)

    subscript(level: PriorityLevel) -> Permits {
        get { permits[Int(level.rawValue)] }
        set { permits[Int(level.rawValue)] = newValue }
    }

    /// No level is closed from now on.
    mutating func open() {
        for level in PriorityLevel.allCases where self[level].capacity == 0 { self[level].capacity = 1 }
    }
}
