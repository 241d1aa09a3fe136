public import Foundation
public import TaskOperations
internal import TaskOperationsExtras

// MARK: - From an operation to Foundation

extension AnyTaskOperation {
    /// Creates a `Progress` that follows the operation's `progress`. It counts the operation's own units if `progress`
    /// has them, and thousandths otherwise. Cancelling it cancels the operation.
    ///
    /// It can be the child of another progress. It can be read from other threads under the same rules as the
    /// `progress` of a queue.
    ///
    /// ```swift
    /// total.addChild(download.foundationProgress(), withPendingUnitCount: 10)
    /// ```
    public func foundationProgress() -> Progress {
        let progress = BridgedProgress(of: self)
        progress.follow()
        return progress
    }
}

/// Follows the progress of an operation.
private final class BridgedProgress: CountedProgress, @unchecked Sendable {
    // `operation` is constant, and `task` is set once, before any other code has the object.
    private let operation: AnyTaskOperation
    private var task: Task<Void, Never>?

    init(of operation: AnyTaskOperation) {
        self.operation = operation
        super.init()
    }

    deinit { task?.cancel() }

    override func cancel() {
        super.cancel()
        operation.cancel()
    }

    func follow() {
        setCounts(operation.currentProgress)
        let updates = operation.progress
        task = Task.detached { [weak self] in
            for await progress in updates { self?.setCounts(progress) }
        }
    }

    private func setCounts(_ progress: OperationProgress) {
        let total = progress.totalUnitCount ?? 1000
        let completed =
            if progress.isFinished {
                total
            } else if progress.totalUnitCount != nil {
                progress.completedUnitCount ?? 0
            } else {
                Int(progress.fraction * 1000)
            }
        setCounts(total: Int64(total), completed: Int64(completed), canOvertake: false)
    }
}

// MARK: - From Foundation to an operation

extension AnyTaskOperation {
    /// Runs work that reports to a `Progress`, and reports its fraction as the progress of the operation of the calling
    /// body. If the calling task is cancelled, so is the `Progress`.
    ///
    /// ```swift
    /// let archive = queue.addOperation {
    ///     try await AnyTaskOperation.reportingProgress(of: archiver.progress) { try await archiver.run() }
    /// }
    /// ```
    ///
    /// The `Progress` is polled, because not every Foundation reports changes. Foundation on Linux does not. There,
    /// only the counts of the `Progress` itself can be read while other threads write them, not those of its children.
    ///
    /// - Parameters:
    ///   - progress: The `Progress` that the work reports to.
    ///   - interval: The time between two readings; positive.
    ///   - clock: The clock that measures the interval.
    ///   - work: The work. After its end, the `Progress` is read once more.
    /// - Returns: The value that `work` returns.
    /// - Throws: The error that `work` throws.
    public static func reportingProgress<Value, C: Clock>(
        of progress: Progress, every interval: C.Duration = Duration.milliseconds(100), clock: C = ContinuousClock(),
        _ work: () async throws -> Value
    ) async rethrows -> Value where C.Duration == Duration {
        require(interval > .zero, "every is \(interval); it must be positive.")
        guard let operation = current else { return try await work() }
        let source = ProgressReader(progress)
        return try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    while !Task.isCancelled {
                        source.report(to: operation)
                        try await clock.sleep(for: interval)
                    }
                }
                defer {
                    group.cancelAll()
                    source.report(to: operation)
                }
                return try await work()
            }
        } onCancel: {
            source.cancel()
        }
    }
}

/// Reads a progress that others write.
private struct ProgressReader: @unchecked Sendable {
    // Foundation documents that a progress can be used from any thread. `report` lists the properties that are read.
    private let progress: Progress

    init(_ progress: Progress) {
        self.progress = progress
    }

    func cancel() {
        progress.cancel()
    }

    func report(to operation: AnyTaskOperation) {
        progress.report(to: operation)
    }
}
