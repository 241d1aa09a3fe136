/// The state of a queue that its lock protects.
struct SchedulerCore: ~Copyable, Sendable {
    var state: Scheduler.State
    /// The semaphores that are limits of operations; nil if there are none.
    var limits: QueueLimits?
    /// The number of bodies that wait for the queue to be empty.
    var awaitingBodyCount = 0
    /// The objects to notify when the queue is suspended or resumed.
    var followers: [any SuspensionFollower] = []
    /// The scheduler whose suspension also suspends this queue; nil if there is none.
    var suspensionSource: Scheduler?
    /// Nil if the queue never had an observer.
    var observation: Boxed<QueueObservation>?
    /// The scheduler itself while the queue has operations, because operations do not retain the scheduler.
    var keptAlive: Scheduler?
    /// The highest level for which the inbox is open; nil while the inbox is closed.
    var inboxLevel: PriorityLevel?
    /// An empty array with memory for the inbox. A new array at each event would take 15 % of the time of an empty
    /// operation.
    var inboxMemory: [AnyTaskOperation] = []

    init(_ state: Scheduler.State) {
        self.state = state
    }
}

// MARK: - Operations of the queue

extension SchedulerCore {
    /// The operation's slot; nil if the operation is not in the queue.
    func slot(of operation: AnyTaskOperation) -> Int? {
        let slot = operation.snapshot.slot
        return holds(operation, at: slot) ? slot : nil
    }

    private func holds(_ operation: AnyTaskOperation, at slot: Int) -> Bool {
        slot >= 0 && state.records.holds(slot) && state.records[slot].element === operation
    }

    /// Removes an operation that has not started, and clears its slot in the same step.
    ///
    /// - Returns: Task locals for the caller to release after unlocking; nil if the operation has started or ended.
    mutating func withdraw(_ operation: AnyTaskOperation) -> [TaskLocalBinding]? {
        guard let slot = slot(of: operation), removeUnstarted(at: slot) else { return nil }
        return operation.leaveHost()
    }

    /// Removes an operation that has not started. If the operation has started, returns false and changes nothing.
    @discardableResult
    mutating func removeUnstarted(at slot: Int) -> Bool {
        switch state.records[slot].status {
        case .waiting, .ready:
            state.remove(slot)
            return true
        case .executing, .lent, .returning:
            return false
        }
    }

    mutating func updateReadiness(of operation: AnyTaskOperation) {
        let snapshot = operation.snapshot
        if holds(operation, at: snapshot.slot) { state.setReady(snapshot.slot, snapshot.isReady) }
    }

    /// The operations for which an operation waits because of barriers.
    mutating func operationsHoldingBack(_ operation: AnyTaskOperation) -> [AnyTaskOperation] {
        guard let slot = slot(of: operation) else { return [] }
        state.indexArrivals()
        return state.elementsHoldingBack(slot)
    }
}
