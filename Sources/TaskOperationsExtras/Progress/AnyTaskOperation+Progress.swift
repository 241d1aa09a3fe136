public import TaskOperations

extension AnyTaskOperation {
    /// The progress of the operation and of all operations on which it depends at the moment of this call, directly or
    /// through other operations. All have the same share: in a chain of three, each operation is a third of the
    /// progress of the last.
    ///
    /// ```swift
    /// for await progress in image.progress { bar.fraction = progress.fraction }
    /// ```
    ///
    /// An operation that reports nothing is at 0 until it has finished, and then at 1, with any outcome: no progress
    /// bar is incomplete after a cancellation. The progress of a group is the progress of its operations.
    ///
    /// The call takes linear time in the number of dependencies. Each element takes linear time in the number of these
    /// operations.
    public var progress: ProgressUpdates {
        ProgressUpdates(sources: progressSources) { ProgressUnit.sum(of: $0) }
    }

    /// The current progress of the operation, without its dependencies.
    public var currentProgress: OperationProgress {
        let (isFinished, unit) = attachedProgress
        return isFinished ? OperationProgress.none.finished : unit.map(Self.progressUnit)?.current ?? .none
    }

    /// Reports the progress of the operation. Call it in the body, through `AnyTaskOperation.current`; a call by other
    /// code has the same effect. It has no effect after the operation has finished.
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
    /// - Parameter fraction: The fraction, from 0 to 1. A number outside of this range counts as the nearer bound.
    public func reportProgress(_ fraction: Double) {
        report(OperationProgress(fraction: fraction))
    }

    /// Reports the number of completed units of the operation.
    ///
    /// - Parameters:
    ///   - completed: The number of completed units. A number below 0 counts as 0.
    ///   - total: The total number of units; nil, or a number that is not positive, if the total is unknown. With an
    ///     unknown total, the fraction is 0. If `completed` exceeds `total`, the fraction is 1.
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

    /// Adds the progress of the operation to the sum of its queue, if the sum is observed.
    func joinSumOfQueue() {
        if let sum = ProgressSum.ofQueue(of: self) { progressUnit?.join(sum) }
    }

    /// The operation's own progress, which is created on first use; nil if the operation is finished.
    var progressUnit: ProgressUnit? {
        let (isFinished, present) = attachedProgress
        if isFinished { return nil }
        if let present { return Self.progressUnit(present) }
        let made = ProgressUnit()
        return attach(progress: made) { _ in made.finish() }.map(Self.progressUnit)
    }

    /// The cast is safe, because only this module attaches a progress.
    private static func progressUnit(_ attachment: Attachment) -> ProgressUnit {
        unsafeDowncast(attachment, to: ProgressUnit.self)
    }

    /// The units of the operation and of its direct and indirect dependencies. The dependencies of a finished operation
    /// are not included, because it no longer lists them.
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
    /// The unit of a finished operation.
    static var finished: ProgressUnit {
        let unit = ProgressUnit()
        unit.finish()
        return unit
    }

    /// Returns the combined progress of some sources.
    static func sum(of sources: [any ProgressSource]) -> OperationProgress {
        let units = sources.compactMap { $0 as? ProgressUnit }
        return units.count == 1 ? units[0].current : .sum(units.map(\.current))
    }
}

extension TaskOperationQueue {
    /// The progress of all operations that were ever added to the queue. Each has the same share. Ended operations are
    /// complete, and executing operations have the fraction that they report from now on. When the queue is empty, the
    /// progress is complete and the sequence ends.
    ///
    /// The fraction decreases only if operations are added. The bridge has `progress`, as Foundation's queue does.
    public var progressUpdates: ProgressUpdates {
        let sum = observer { ProgressSum() }
        sum.register(for: scheduler)
        return ProgressUpdates(sources: [sum]) { _ in sum.current }
    }
}
