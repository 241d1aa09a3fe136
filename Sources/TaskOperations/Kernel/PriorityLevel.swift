/// The five levels by which ready operations are ordered. Each level corresponds to one `TaskPriority`.
package enum PriorityLevel: UInt8, CaseIterable, Comparable, Sendable {
    case background
    case low
    case medium
    case high
    case userInteractive

    /// Creates the level of a task priority. A value between two levels becomes the lower level.
    package init(_ priority: TaskPriority) {
        // These are the raw values of the standard library's constants, which are part of its ABI.
        switch priority.rawValue {
        case 33...: self = .userInteractive
        case 25...: self = .high
        case 21...: self = .medium
        case 17...: self = .low
        default: self = .background
        }
    }

    package var taskPriority: TaskPriority {
        switch self {
        case .background: .background
        case .low: .low
        case .medium: .medium
        case .high: .high
        case .userInteractive: TaskPriority(rawValue: 33)  // the priority of the main thread, which has no public name
        }
    }

    /// The level of an operation whose priority was not set.
    static var `default`: PriorityLevel { .medium }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// A value for each level. The values are stored properties, because an array would need an allocation. An index into a
/// SIMD vector would be a function call.
struct PerLevel<Value> {
    private var background: Value
    private var low: Value
    private var medium: Value
    private var high: Value
    private var userInteractive: Value

    init(_ value: Value) {
        (background, low, medium, high, userInteractive) = (value, value, value, value, value)
    }

    subscript(level: PriorityLevel) -> Value {
        get {
            switch level {
            case .background: background
            case .low: low
            case .medium: medium
            case .high: high
            case .userInteractive: userInteractive
            }
        }
        _modify {
            switch level {
            case .background: yield &background
            case .low: yield &low
            case .medium: yield &medium
            case .high: yield &high
            case .userInteractive: yield &userInteractive
            }
        }
    }
}

extension PerLevel: Sendable where Value: Sendable {}
extension PerLevel: Equatable where Value: Equatable {}
extension PerLevel: Hashable where Value: Hashable {}

/// The number of edges of the wait graph that pass on each level. Edges that pass on the lowest level are not counted,
/// because that level raises no operation.
struct LevelContributions: Sendable {
    private var counts = PerLevel<Int32>(0)

    /// The highest level that an edge passes on.
    var highest: PriorityLevel {
        if counts[.userInteractive] > 0 { return .userInteractive }
        if counts[.high] > 0 { return .high }
        if counts[.medium] > 0 { return .medium }
        return counts[.low] > 0 ? .low : .background
    }

    /// Changes the level that one edge passes on. Nil means that the edge passes on no level.
    mutating func change(from: PriorityLevel?, to: PriorityLevel?) {
        if let from, from != .background { counts[from] -= 1 }
        if let to, to != .background { counts[to] += 1 }
    }
}
