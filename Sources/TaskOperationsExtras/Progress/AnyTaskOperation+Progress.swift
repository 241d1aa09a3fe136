public import TaskOperations

extension AnyTaskOperation {
    /// The combined progress of the operation and its current direct and indirect dependencies. All these operations
    /// have equal shares. In a chain of three operations, each operation is a third of the progress of the last one.
    ///
    /// ```swift
    /// for await progress in image.progress { bar.fraction = progress.fraction }
    /// ```
    ///
    /// An operation that reports no progress has the fraction 0 until it has finished. A finished operation has the
    /// fraction 1, with any outcome. So a progress bar is complete even after a cancellation. The progress of a group
    /// is the combined progress of its operations.
    ///
    /// The call takes linear time in the number of dependencies. Each element takes linear time in the number of
    /// combined operations.
    public var progress: ProgressUpdates {
        ProgressUpdates(sources: progressSources, operation: self) { ProgressUnit.sum(of: $0) }
    }

    /// The current progress of the operation, without its dependencies.
    public var currentProgress: OperationProgress {
        let (isFinished, unit) = attachedProgress
        return isFinished ? OperationProgress.none.finished : unit.map(Self.progressUnit)?.current ?? .none
    }

    /// Reports the progress of the operation. Usually the body calls this through `AnyTaskOperation.current`, but any
    /// code may call it. The call has no effect after the operation has finished.
    ///
    /// ```swift
    /// for (number, page) in pages.enumerated() {
    ///     try await store(page)
    ///     AnyTaskOperation.current?.reportProgress(number + 1, of: pages.count)
    /// }
    /// ```
    ///
    /// The fraction may decrease, for example if the body runs again.
    ///
    /// - Parameter fraction: The completed fraction, from 0 to 1. Other numbers are clamped to this range.
    public func reportProgress(_ fraction: Double) {
        report(OperationProgress(fraction: fraction))
    }

    /// Reports the number of completed units of the operation.
    ///
    /// - Parameters:
    ///   - completed: The number of completed units. A negative number is replaced by 0.
    ///   - total: The total number of units. If it is nil or not positive, the total is unknown and the fraction is 0.
    ///     If `completed` exceeds `total`, the fraction is 1.
    public func reportProgress(_ completed: Int, of total: Int?) {
        let total = total.flatMap { $0 > 0 ? $0 : nil }
        let fraction = total.map { Double(completed) / Double($0) } ?? 0
        report(OperationProgress(fraction: fraction, completed: max(0, completed), total: total))
    }

    private func report(_ progress: OperationProgress) {
        guard let unit = progressUnit else { return }
        joinSumOfQueue()
        unit.report(progress)
    }

    /// Adds the progress of the operation to the sum of its queue, if the queue has a sum.
    func joinSumOfQueue() {
        if let sum = ProgressSum.ofQueue(of: self) { progressUnit?.join(sum, for: self) }
    }

    /// The operation's own progress; nil if the operation is finished. The first use creates it.
    var progressUnit: ProgressUnit? {
        let (isFinished, present) = attachedProgress
        if isFinished { return nil }
        if let present { return Self.progressUnit(present) }
        let made = ProgressUnit()
        return attach(progress: made) { _ in made.finish() }.map(Self.progressUnit)
    }

    /// The cast is safe, because `progressUnit` is the only caller of `attach(progress:)`.
    private static func progressUnit(_ attachment: any AnyObject & Sendable) -> ProgressUnit {
        unsafeDowncast(attachment, to: ProgressUnit.self)
    }

    /// The units of the operation and of its direct and indirect dependencies. The dependencies of a finished operation
    /// are missing, because a finished operation no longer lists its dependencies.
    var progressSources: [any ProgressSource] {
        var (operations, seen): ([AnyTaskOperation], Set<AnyTaskOperation>) = ([self], [self])
        var units: [any ProgressSource] = []
        while let operation = operations.popLast() {
            units.append(operation.progressUnit ?? .finished)
            for dependency in operation.dependencies where seen.insert(dependency).inserted {
                operations.append(dependency)
            }
        }
        return units
    }
}

extension ProgressUnit {
    /// A new unit for an operation that is already finished.
    static var finished: ProgressUnit {
        let unit = ProgressUnit()
        unit.finish()
        return unit
    }

    static func sum(of sources: [any ProgressSource]) -> OperationProgress {
        let units = sources.compactMap { $0 as? ProgressUnit }
        return units.count == 1 ? units[0].current : .sum(units.map(\.current))
    }
}

extension TaskOperationQueue {
    /// The combined progress of all operations that were ever added to the queue. All operations have equal shares. An
    /// ended operation has the fraction 1. An executing operation has the last fraction that it reports after this
    /// call.
    ///
    /// ```swift
    /// for await progress in queue.progressUpdates(expecting: pages.count) { bar.fraction = progress.fraction }
    /// ```
    ///
    /// The progress is complete, and the sequence ends, when all operations have ended and their number is at least
    /// `count`. It also ends when the queue is released. The fraction decreases only if operations are added beyond
    /// `count`. `BridgedOperationQueue` has a `progress` of Foundation's type.
    ///
    /// - Parameter count: The number of operations that you will have added in the end, if you know it. The default
    ///   value waits at least for the first operation.
    public func progressUpdates(expecting count: Int = 1) -> ProgressUpdates {
        let sum = observer { ProgressSum() }
        sum.register(for: scheduler)
        return ProgressUpdates(sources: [sum], operation: nil) { _ in sum.progress(expecting: max(count, 1)) }
    }
}
