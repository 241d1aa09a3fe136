// Queries of the parts of the state. They yield instead of copying: a copy would count references.

extension SchedulerState {
    var records: SlotMap<Record> {
        @inline(__always) _read { yield operations.records }
    }

    var permits: Permits { lending.permits }

    /// Operations that want their permits back.
    var returning: ReadyQueue {
        @inline(__always) _read { yield lending.returning }
    }

    /// Operations that may start.
    var ready: ReadyQueue {
        @inline(__always) _read { yield operations.admission.ready }
    }

    /// Ready operations that a barrier holds back.
    var heldBack: ReadyQueue { operations.admission.heldBack }

    var barriers: BarrierLine {
        @inline(__always) _read { yield operations.admission.barriers }
    }

    /// Operations that have ended and stay until their completion handlers have been called.
    var ending: Set<Slot> { operations.ending }

    /// How many operations have not ended.
    var count: Int { operations.count }

    /// The number of operations that were added and have not started.
    var queuedCount: Int { room.count(ofUnstarted: operations.unstartedCount) }

    /// Whether the queue has no room for another operation.
    @inline(__always)
    var isFull: Bool {
        room.isLimited && room.isFull(ofUnstarted: operations.unstartedCount, freePermits: freePermitCount)
    }

    /// How many more operations the width lets execute.
    var freePermitCount: Int {
        let executing = operations.startedCount - (ending.count - room.droppedCount)
        return isSuspended ? 0 : max(0, permits.capacity - executing)
    }

    /// Whether one more operation would start at once, after all that are queued. False if that is not certain: with
    /// policies, it depends on the operation.
    var couldStartAnother: Bool {
        isPlain && !isHalted && intake == .open && barriers.isEmpty && !lending.isAwaitedBack
            && queuedCount < freePermitCount
    }

    /// How many operations ever arrived.
    var arrivals: UInt64 { operations.arrivals }

    /// Whether nothing is left, completion handlers included.
    var isEmpty: Bool { operations.isEmpty }

    /// All operations that have not ended, in the order of arrival. Sorts.
    var elements: [Element] { operations.elements }

    /// The operations that must end before barriers let an operation start; see `QueuedOperations`.
    func elementsHoldingBack(_ slot: Slot) -> [Element] { operations.elementsHoldingBack(slot) }

    /// The operations that would hold back an operation that was added now.
    func elementsHoldingBackNext(isBarrier: Bool) -> [Element] {
        operations.elementsHoldingBackNext(isBarrier: isBarrier)
    }

    /// The level that barriers, and waits for the end of all, hand on to an operation.
    func floor(of slot: Slot) -> PriorityLevel { operations.floor(of: slot) }
}
