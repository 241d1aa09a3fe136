// Decides on the effects of each event: workers to start, tasks to resume, operations to end.

extension SchedulerState {
    /// The effects of events. They are performed after the scheduler's lock is released.
    struct Effects: Sendable {
        /// The levels of workers to start.
        var workers = TinyArray<PriorityLevel>()
        /// Waiting tasks to resume.
        var resumed: [Waiter] = []
        /// Operations that must be ended without a start, with the reasons.
        var rejected: [Rejection] = []
        /// Operations that have left the queue and must be released.
        var removed: [Element] = []
        /// Operations whose floor may have changed.
        var floorChanges: [Element] = []
        /// The reading of the queue's clock at which to wake the queue.
        var wakeTime: Duration?
        /// Whether the queue is empty and accepts no operations.
        var isOver = false
        /// Whether there are changes of operations to report.
        var hasChanges = false

        var isEmpty: Bool {
            workers.isEmpty && resumed.isEmpty && rejected.isEmpty && removed.isEmpty && floorChanges.isEmpty
                && !hasChanges && !isOver && wakeTime == nil
        }

        mutating func takeFloorChanges() -> [Element] {
            defer { floorChanges = [] }
            return floorChanges
        }
    }

    /// An operation that must be ended without a start, and the reason.
    struct Rejection: Sendable {
        enum Reason: Hashable, Sendable {
            /// The operation was added after the queue was shut down.
            case shutDown
            /// The operation was added to a queue that cancels all operations.
            case cancelled
            /// The queue had no room for the operation.
            case full
            /// The operation was dropped to make room for a newer one.
            case dropped
            /// A time limit of the operation passed before the operation was added.
            case late
            /// The operation would have started too late.
            case overloaded(expectedWait: Duration)
        }

        let element: Element
        let reason: Reason
    }

    /// Decides which operations take their permits back, which workers start, and which waiting tasks continue. Shuts a
    /// closing queue that is empty.
    ///
    /// - Parameter returned: Called with each operation that has its permits back.
    mutating func computeEffects(returned: (Element) -> Void = { _ in }) {
        if permits.hasReturns { while let slot = nextReturn() { returned(records[slot].element) } }
        if admission.policies == nil {
            let count = startableCount
            if count > 0, let level = firstLevel { startWorkers(for: count, at: level) }
        } else {
            computeEffectsOfPolicies()
        }
        if !isEmpty { return }
        shutIfEmpty()
        if !acceptance.intake.accepts, !isOver {
            isOver = true
            effects.isOver = true
        }
        if !emptyWaiters.isEmpty { effects.resumed += emptyWaiters.removeAll() }
    }

    /// The highest level at which no number of added operations would have effects; nil if there is no such level.
    /// Always nil if the arrival of an operation is more than an entry in the list of ready operations.
    var inboxLevel: PriorityLevel? {
        if isEmpty || admission.policies != nil || admission.barriers != nil || changes.isObserved { return nil }
        if acceptance.isLimited || !acceptance.intake.accepts { return nil }
        if isHalted || permits.isAwaitedBack || permits.width.available == 0 { return .userInteractive }
        guard let level = admission.ready.highestLevel else { return nil }
        return starting[level] >= min(permits.width.available, workerLimit) ? level : nil
    }

    @inline(__always)
    mutating func startWorkers(for operationCount: Int, at level: PriorityLevel) {
        let count = max(0, min(operationCount, workerLimit) - Int(starting[level]))
        if count == 0 { return }
        starting[level] += Int32(count)
        for _ in 0..<count { effects.workers.append(level) }
    }

    /// Removes and returns the effects of the events since the last call.
    mutating func takeEffects() -> Effects {
        var taken = Effects()
        swap(&taken, &effects)
        return taken
    }
}
