import TaskOperations

/// The progress of one operation, or the combined progress of several.
public struct OperationProgress: Hashable, Sendable {
    /// The completed fraction, from 0 to 1. The fraction of a finished operation is 1, with any outcome.
    public let fraction: Double

    /// The number of completed units; nil if the progress has no units.
    public let completedUnitCount: Int?

    /// The total number of units; nil if it is unknown.
    public let totalUnitCount: Int?

    /// Whether the work is complete.
    public let isFinished: Bool

    init(fraction: Double, completed: Int? = nil, total: Int? = nil, isFinished: Bool = false) {
        self.fraction = isFinished ? 1 : fraction.isNaN ? 0 : min(max(fraction, 0), 1)
        completedUnitCount = completed
        totalUnitCount = total
        self.isFinished = isFinished
    }

    /// The progress before the first report.
    package static let none = OperationProgress(fraction: 0)

    /// The finished form of this progress, with the fraction 1.
    var finished: OperationProgress {
        OperationProgress(fraction: 1, completed: completedUnitCount, total: totalUnitCount, isFinished: true)
    }

    /// Returns the combined progress of parts with equal shares.
    static func sum(_ parts: [OperationProgress]) -> OperationProgress {
        OperationProgress(
            fraction: parts.reduce(0) { $0 + $1.fraction } / Double(max(1, parts.count)),
            completed: parts.count { $0.isFinished }, total: parts.count, isFinished: parts.allSatisfy(\.isFinished))
    }
}
