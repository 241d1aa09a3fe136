/// How many edges hand each level on.
struct LevelContributions: Sendable {
    // Plain fields, as an index into a vector is a call. The lowest level changes nothing, so that it is not counted.
    private var low: Int32 = 0
    private var medium: Int32 = 0
    private var high: Int32 = 0
    private var userInteractive: Int32 = 0

    /// The highest level that is handed on.
    var highest: PriorityLevel {
        if userInteractive > 0 { return .userInteractive }
        if high > 0 { return .high }
        if medium > 0 { return .medium }
        return low > 0 ? .low : .background
    }

    /// One edge hands on another level; nil is none.
    mutating func change(from: PriorityLevel?, to: PriorityLevel?) {
        if let from { add(-1, at: from) }
        if let to { add(1, at: to) }
    }

    private mutating func add(_ number: Int32, at level: PriorityLevel) {
        switch level {
        case .background: break
        case .low: low += number
        case .medium: medium += number
        case .high: high += number
        case .userInteractive: userInteractive += number
        }
    }
}
