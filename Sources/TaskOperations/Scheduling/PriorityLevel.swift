/// The five levels that order ready work, each the level of one `TaskPriority`.
package enum PriorityLevel: UInt8, CaseIterable, Comparable, Sendable {
    case background
    case low
    case medium
    case high
    case userInteractive

    /// The level of a task priority; a value between two levels counts as the lower one.
    package init(_ priority: TaskPriority) {
        // The raw values of the standard library's constants, which are part of its ABI.
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
        case .userInteractive: TaskPriority(rawValue: 33)  // the main thread's; it has no public name
        }
    }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
