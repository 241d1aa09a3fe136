/// The five levels that order ready work, each the level of one `TaskPriority`.
enum PriorityLevel: UInt8, CaseIterable, Comparable, Sendable {
    case background
    case low
    case medium
    case high
    case userInteractive

    /// The level of a task priority; a value between two levels counts as the lower one.
    init(_ priority: TaskPriority) {
        switch priority.rawValue {
        case TaskPriority.userInteractiveRawValue...: self = .userInteractive
        case TaskPriority.high.rawValue...: self = .high
        case TaskPriority.medium.rawValue...: self = .medium
        case TaskPriority.low.rawValue...: self = .low
        default: self = .background
        }
    }

    var taskPriority: TaskPriority {
        switch self {
        case .background: .background
        case .low: .low
        case .medium: .medium
        case .high: .high
        case .userInteractive: TaskPriority(rawValue: TaskPriority.userInteractiveRawValue)
        }
    }

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

extension TaskPriority {
    /// What the runtime gives the main thread's work; it has no public name in the standard library.
    fileprivate static var userInteractiveRawValue: UInt8 { 33 }
}
