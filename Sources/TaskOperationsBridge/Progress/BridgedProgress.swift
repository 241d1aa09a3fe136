public import Foundation
public import TaskOperations
internal import TaskOperationsExtras

// MARK: - From an operation to Foundation

extension AnyTaskOperation {
    /// Creates a `Progress` that follows the operation's `progress`. If the operation reports units, the `Progress`
    /// counts these units. Otherwise it counts thousandths. Cancelling the `Progress` cancels the operation.
    ///
    /// The `Progress` can be the child of another `Progress`. For reads on other threads, the rules of
    /// `TaskOperationQueue.progress` apply.
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

private final class BridgedProgress: CountedProgress, @unchecked Sendable {
    // `operation` is constant. `task` is set once, before other code receives the object.
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
        setCounts(
            total: Int64(total), completed: Int64(completed), canOvertake: false, canEnd: progress.isFinished)
    }
}

// MARK: - From Foundation to an operation

extension AnyTaskOperation {
    /// Runs work that reports to a `Progress`, and reports the fraction of this `Progress` to the current operation. If
    /// the calling task is cancelled, the `Progress` is cancelled, too.
    ///
    /// ```swift
    /// let archive = queue.addOperation {
    ///     try await AnyTaskOperation.reportingProgress(of: archiver.progress) { try await archiver.run() }
    /// }
    /// ```
    ///
    /// The `Progress` is polled, because Foundation on Linux does not report changes. On Linux, children of the
    /// `Progress` are ignored. They cannot be read while other threads write them.
    ///
    /// - Parameters:
    ///   - progress: The `Progress` to which the work reports.
    ///   - interval: The time between two reads. It must be positive.
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
        let (source, face) = (ProgressReader(progress), ClockFace(clock))
        return try await withTaskCancellationHandler {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    while !Task.isCancelled {
                        source.report(to: operation)
                        await face.sleep(until: face.now + interval.saturated)
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

/// Reads a progress while other threads write it.
private struct ProgressReader: @unchecked Sendable {
    // Foundation documents that any thread can use a progress. `report` reads only properties that are safe to read.
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
