import Synchronization

/// Operations that threads have added to a queue without entering the scheduler.
///
/// While a queue has no permit left, or has requested all workers that it can use, an added operation starts no worker.
/// The inbox is then open: a thread that adds an operation appends it to the inbox, and does not compete with the
/// workers for the lock of the queue: Cost, "Measured reasons".
///
/// Invariants:
///
/// 1. An event of the scheduler first inserts the operations of the inbox into the queue, in the order of their
///    addition. It does this again after its changes, before it decides on the effects. An operation that was added
///    before the last operation ended is therefore part of the queue before a task learns that the queue is empty.
/// 2. At the end of each event, the scheduler opens the inbox for the levels at which no number of added operations
///    would start a worker, or closes it. In the step that closes the inbox, the scheduler inserts its operations. While
///    no event is in progress, the inbox is open only as `SchedulerState.levelForInbox` says.
/// 3. The inbox of an empty queue is closed. If the inbox is open, no operation can start before the next event.
/// 4. The level of an operation is read under the lock of the inbox, after `hasOperations` was set. A thread that raises
///    the operation later causes an event of the scheduler, which finds the operation in the inbox.
/// 5. The inbox is closed while the place of an operation in the wait graph depends on other operations of the queue.
///    Therefore every operation of the inbox can be inserted.
///
/// An addition during an event may count as an addition after it. For example, the event may start an operation of a
/// lower priority.
///
/// The lock may be taken within the lock of the scheduler. The lock of an operation may be taken within this lock.
final class Inbox: Sendable {
    private struct State: Sendable {
        /// The highest level of operations that may be added; nil while the inbox is closed.
        var level: PriorityLevel?
        var operations: [Arrival] = []
        /// Whether the times of additions are noted.
        var isTimed = false
    }

    struct Arrival: Sendable {
        let operation: AnyTaskOperation
        /// The ticks of the addition; 0 if the queue has no recorder.
        let ticks: UInt64
    }

    /// The maximum number of operations, because an event inserts all of them under the lock of the scheduler.
    private static var capacity: Int { 32 }

    private let state = Lock(State())
    /// Whether the inbox is open, for readers without the lock. Relaxed loads are sufficient: after an old value, an
    /// addition enters the scheduler, or finds no level under the lock.
    private let isOpen = Atomic(false)
    /// False only if there are no operations. Relaxed loads are sufficient: an event must find only those operations
    /// whose addition happened before the event.
    private let hasOperations = Atomic(false)

    var isEmpty: Bool { !hasOperations.load(ordering: .relaxed) }

    /// Adds an operation. If the scheduler must learn of the operation at once, if the operation has ended or must not
    /// start, or if the inbox is full, returns false and changes nothing.
    ///
    /// - Parameter ownLevel: The level of an operation that has no options and that no thread can end or raise yet; nil
    ///   for any other operation.
    func add(_ operation: AnyTaskOperation, at ownLevel: PriorityLevel? = nil) -> Bool {
        if !isOpen.load(ordering: .relaxed) { return false }
        return state.withLock { state in
            guard let level = state.level, state.operations.count < Self.capacity else { return false }
            hasOperations.store(true, ordering: .relaxed)
            let mayWait =
                ownLevel.map { $0 <= level }
                ?? operation.record.withLock { record in
                    !operation.isFinished && !record.isLate && record.orderLevel <= level
                }
            guard mayWait else { return false }
            state.operations.append(Arrival(operation: operation, ticks: state.isTimed ? Ticks.now : 0))
            return true
        }
    }

    /// Sets whether the inbox notes the times of additions.
    func setTimed(_ isTimed: Bool) { state.withLock { $0.isTimed = isTimed } }

    /// Exchanges the operations for an empty array, and sets the level.
    func exchange(_ operations: inout [Arrival], openFor level: PriorityLevel?) {
        state.withLock { state in
            swap(&state.operations, &operations)
            state.level = level
            isOpen.store(level != nil, ordering: .relaxed)
            hasOperations.store(false, ordering: .relaxed)
        }
    }
}

extension Scheduler {
    /// Inserts the operations of the inbox into the queue.
    nonisolated func drainInbox(_ core: inout SchedulerCore) {
        if !inbox.isEmpty { emptyInbox(&core, openFor: core.openInboxLevel) }
    }

    /// Opens or closes the inbox at the end of an event. Returns whether this has inserted operations.
    nonisolated func updateInbox(_ core: inout SchedulerCore) -> Bool {
        let level = isAwaited ? nil : core.state.levelForInbox
        return level == core.openInboxLevel ? false : emptyInbox(&core, openFor: level)
    }

    /// Inserts the operations of the inbox into the queue. Returns whether there were any.
    ///
    /// - Parameter level: The highest level for which the inbox is open afterwards; nil to close it.
    @inline(never)
    @discardableResult
    nonisolated func emptyInbox(_ core: inout SchedulerCore, openFor level: PriorityLevel?) -> Bool {
        var operations: [Inbox.Arrival] = []
        swap(&operations, &core.inboxMemory)
        if level == nil { operations = [] }
        core.openInboxLevel = level
        inbox.exchange(&operations, openFor: level)
        let isEmpty = operations.isEmpty
        for arrival in operations { insert(arrival.operation, ticks: arrival.ticks, in: &core) }
        // None of these is the last reference, because the state or its effects have another.
        operations.removeAll(keepingCapacity: level != nil)
        swap(&operations, &core.inboxMemory)
        return !isEmpty
    }
}
