// The table that converts priorities:
//
// | `TaskPriority`          | `Operation.QueuePriority` | `QualityOfService`  | `DispatchQoS`                  |
// |-------------------------|---------------------------|---------------------|--------------------------------|
// | user-interactive (33)   | `.veryHigh`               | `.userInteractive`  | `.userInteractive`             |
// | `.high` (25)            | `.high`                   | `.userInitiated`    | `.userInitiated`               |
// | `.medium` (21)          | `.normal`                 | `.default`          | `.default`, `.unspecified`     |
// | `.low` (17)             | `.low`                    | `.utility`          | `.utility`                     |
// | `.background` (9)       | `.veryLow`                | `.background`       | `.background`                  |
//
// Conversions use the table in both directions. A `TaskPriority` between two rows is rounded down to the lower row, as
// in a queue. A value above the first row belongs to the first row. A value below the last row belongs to the last row.
// The relative priority of a `DispatchQoS` is ignored.

public import Dispatch
public import Foundation

/// A row of the table.
private struct PriorityRow: Sendable {
    let task: TaskPriority
    let queue: Foundation.Operation.QueuePriority
    let service: QualityOfService
    let dispatch: DispatchQoS.QoSClass

    static let medium = table[2]

    static let table = [
        PriorityRow(
            task: TaskPriority(rawValue: 33), queue: .veryHigh, service: .userInteractive, dispatch: .userInteractive),
        PriorityRow(task: .high, queue: .high, service: .userInitiated, dispatch: .userInitiated),
        PriorityRow(task: .medium, queue: .normal, service: .default, dispatch: .default),
        PriorityRow(task: .low, queue: .low, service: .utility, dispatch: .utility),
        PriorityRow(task: .background, queue: .veryLow, service: .background, dispatch: .background),
    ]

    static func row(of priority: TaskPriority) -> PriorityRow {
        table.first { $0.task.rawValue <= priority.rawValue } ?? table[4]
    }
}

extension TaskPriority {
    /// Creates the task priority that corresponds to a priority in an `OperationQueue`.
    public init(_ priority: Foundation.Operation.QueuePriority) {
        self = (PriorityRow.table.first { $0.queue == priority } ?? .medium).task
    }

    /// Creates the task priority that corresponds to a quality of service.
    public init(_ service: QualityOfService) {
        self = (PriorityRow.table.first { $0.service == service } ?? .medium).task
    }

    /// Creates the task priority that corresponds to a quality of service of Dispatch.
    public init(_ service: DispatchQoS) {
        self.init(service.qosClass)
    }

    /// Creates the task priority that corresponds to a class of Dispatch's quality of service.
    public init(_ service: DispatchQoS.QoSClass) {
        self = (PriorityRow.table.first { $0.dispatch == service } ?? .medium).task
    }

    /// Creates the task priority that corresponds to the priority of a Foundation operation. If the operation's
    /// `queuePriority` is `.normal`, its `qualityOfService` is used. Otherwise its `queuePriority` is used. On Linux,
    /// Foundation orders a queue only by `queuePriority`.
    public init(_ operation: Foundation.Operation) {
        let priority = operation.queuePriority
        self = priority == .normal ? TaskPriority(operation.qualityOfService) : TaskPriority(priority)
    }
}

extension Foundation.Operation.QueuePriority {
    /// Creates the priority in an `OperationQueue` that corresponds to a task priority.
    public init(_ priority: TaskPriority) { self = PriorityRow.row(of: priority).queue }
}

extension QualityOfService {
    /// Creates the quality of service that corresponds to a task priority.
    public init(_ priority: TaskPriority) { self = PriorityRow.row(of: priority).service }
}

extension DispatchQoS {
    /// Creates the quality of service that corresponds to a task priority.
    public init(_ priority: TaskPriority) {
        self.init(qosClass: PriorityRow.row(of: priority).dispatch, relativePriority: 0)
    }
}
