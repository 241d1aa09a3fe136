extension AnyTaskOperation {
    /// How far the operation has come, together with those that it depends on, directly or through others, when this is
    /// asked for: each counts the same, so that of a chain of three the first is a third of the last.
    ///
    /// ```swift
    /// for await progress in image.progress { bar.fraction = progress.fraction }
    /// ```
    ///
    /// An operation that reports nothing is at 0 until it is finished, and at 1 then, in whatever way that was: no bar
    /// stays behind after a cancellation. A group is where its operations are together.
    ///
    /// Asking is linear in the number of dependencies, and each element in that of those operations.
    public var progress: ProgressUpdates {
        ProgressUpdates(sources: progressSources) { ProgressUnit.sum(of: $0) }
    }

    /// How far the operation has come now, without those that it depends on.
    public var currentProgress: OperationProgress {
        let (isFinished, unit) = record.withLock { ($0.phase == .finished, $0.links?.progress) }
        return isFinished ? OperationProgress.none.finished : unit?.current ?? .none
    }

    /// Says how far the operation has come. To be called by its body, through `AnyTaskOperation.current`; whoever else
    /// calls it says so for the body. Nothing happens once the operation is finished.
    ///
    /// ```swift
    /// for (number, page) in pages.enumerated() {
    ///     try await store(page)
    ///     AnyTaskOperation.current?.reportProgress(number + 1, of: pages.count)
    /// }
    /// ```
    ///
    /// Anything may be reported, less than before too, as by a body that is tried again.
    ///
    /// - Parameter fraction: From 0 to 1. What is outside of that counts as the nearer one, as such numbers come from
    ///   others.
    public func reportProgress(_ fraction: Double) {
        report(OperationProgress(fraction: fraction))
    }

    /// Says how many units of the operation are done.
    ///
    /// - Parameters:
    ///   - completed: How many are done. A number below 0 counts as 0.
    ///   - total: How many there are in all. Nil, or a number that is not positive, if that is not known: the fraction
    ///     is 0 then. If more are done than there are, the fraction is 1.
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

    /// Has the sum of the operation's queue, if anybody wants it, count what the operation reports.
    func joinSumOfQueue() {
        if let sum = ProgressSum.ofQueue(of: self) { progressUnit?.join(sum) }
    }

    /// The operation's own progress, made if there is none yet; nil if the operation is finished.
    var progressUnit: ProgressUnit? {
        let present = record.withLock { ($0.phase == .finished, $0.links?.progress) }
        if present.0 { return nil }
        if let unit = present.1 { return unit }
        let made = ProgressUnit()
        return record.withLock { record in
            if record.phase == .finished { return nil }
            let links = record.madeLinks()
            if let unit = links.progress { return unit }
            links.progress = made
            links.handlers.append { _ in made.finish() }
            return made
        }
    }

    /// The units of the operation and of all that it depends on, without those that were finished before it was known
    /// that anything depends on them.
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
    /// The unit of an operation that is finished.
    static var finished: ProgressUnit {
        let unit = ProgressUnit()
        unit.finish()
        return unit
    }

    /// How far all units among some sources have come together.
    static func sum(of sources: [any ProgressSource]) -> OperationProgress {
        let units = sources.compactMap { $0 as? ProgressUnit }
        return units.count == 1 ? units[0].current : .sum(units.map(\.current))
    }
}

extension TaskOperationQueue {
    /// How far all operations together have come that were ever added to the queue, each of which counts the same: those
    /// that have ended, and of those that execute what they report from now on. It is finished whenever the queue is
    /// empty; the sequence ends with that.
    ///
    /// It falls only if operations are added. The bridge has the `progress` of Foundation's queue beside it.
    public var progressUpdates: ProgressUpdates {
        let sum = observer { ProgressSum() }
        sum.register(for: scheduler)
        return ProgressUpdates(sources: [sum]) { _ in sum.current }
    }
}
