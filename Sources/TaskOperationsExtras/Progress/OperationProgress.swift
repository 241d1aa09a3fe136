import TaskOperations

/// How far an operation has come, or several together.
public struct OperationProgress: Hashable, Sendable {
    /// From 0 to 1. It is 1 after the operation has finished, with any outcome.
    public let fraction: Double

    /// How many units are done, if progress is told in units.
    public let completedUnitCount: Int?

    /// How many units there are in all, if that is known.
    public let totalUnitCount: Int?

    /// Whether nothing is left to do.
    public let isFinished: Bool

    init(fraction: Double, completed: Int? = nil, total: Int? = nil, isFinished: Bool = false) {
        self.fraction = isFinished ? 1 : fraction.isNaN ? 0 : min(max(fraction, 0), 1)
        completedUnitCount = completed
        totalUnitCount = total
        self.isFinished = isFinished
    }

    /// Nothing was told yet.
    package static let none = OperationProgress(fraction: 0)

    /// The same name with the fraction 1.
    var finished: OperationProgress {
        OperationProgress(fraction: 1, completed: completedUnitCount, total: totalUnitCount, isFinished: true)
    }

    /// Several together, each of which counts the same.
    static func sum(_ parts: [OperationProgress]) -> OperationProgress {
        OperationProgress(
            fraction: parts.reduce(0) { $0 + $1.fraction } / Double(max(1, parts.count)),
            completed: parts.count { $0.isFinished }, total: parts.count, isFinished: parts.allSatisfy(\.isFinished))
    }
}
