/// The ready operations of a queue, and the rules that decide which of them starts next.
///
/// In a plain queue, `barriers` and `policies` are nil, and the first entry of `ready` starts next.
struct Admission: Sendable {
    typealias Entry = ReadyQueue.Entry

    /// The ready operations that no barrier holds back. An operation with limits is parked if its limits are not free
    /// at its turn.
    var ready: ReadyQueue
    /// Nil until a barrier arrives, or a wait until the queue is empty raises the operations.
    var barriers: Boxed<QueueBarriers>?
    /// Nil if only the levels and the order decide which operation starts.
    var policies: Boxed<AdmissionPolicies>?

    init(_ policies: QueuePolicies) {
        ready = ReadyQueue(order: policies.order)
        if policies.changeAdmission { self.policies = Boxed(AdmissionPolicies(policies)) }
    }

    @inline(__always)
    mutating func insert(_ entry: Entry, at level: PriorityLevel, isBarrier: Bool) {
        if barriers != nil, !admits(entry, isBarrier) { return }
        if policies != nil, park(entry, at: level) { return }
        ready.insert(entry, at: level)
    }

    mutating func remove(_ entry: Entry, at level: PriorityLevel, isBarrier: Bool) {
        if barriers != nil, !barriers!.value.line.admits(entry.arrival) {
            if !isBarrier { barriers!.value.heldBack.remove(entry, at: QueueBarriers.heldBackLevel) }
            return
        }
        if policies != nil, removeLimited(entry, at: level) { return }
        ready.remove(entry, at: level)
    }
}

// MARK: - Barriers

extension Admission {
    /// Returns whether barriers let a ready operation start. If they do not, holds the operation back.
    private mutating func admits(_ entry: Entry, _ isBarrier: Bool) -> Bool {
        if barriers!.value.line.admits(entry.arrival) { return true }
        if !isBarrier { barriers!.value.heldBack.insert(entry, at: QueueBarriers.heldBackLevel) }
        return false
    }

    /// Records that an operation has arrived. The operation need not be ready.
    mutating func operationArrived(_ entry: Entry, isBarrier: Bool) {
        if isBarrier {
            barriers!.value.line.barrierArrived(entry.arrival, slot: entry.slot)
        } else {
            barriers!.value.line.operationArrived()
        }
    }

    /// Records that an operation has ended. After the end of the first barrier, the operations up to the next barrier
    /// may start. A barrier may start when it waits for no operation.
    ///
    /// - Parameter readyLevel: Returns the level of the operation at a slot; nil if the operation is not ready.
    mutating func operationEnded(_ arrival: UInt64, isBarrier: Bool, readyLevel: (_ slot: Int) -> PriorityLevel?) {
        let (first, open) = (barriers!.value.line.first?.slot, barriers!.value.line.open?.slot)
        if isBarrier {
            barriers!.value.line.barrierEnded(arrival)
        } else {
            barriers!.value.line.operationEnded(arrival)
        }
        if first != barriers!.value.line.first?.slot { releaseHeldBack(readyLevel) }
        if let opened = barriers!.value.line.open, opened.slot != open, let level = readyLevel(opened.slot) {
            insert(Entry(arrival: opened.arrival, slot: opened.slot), at: level, isBarrier: true)
        }
    }

    private mutating func releaseHeldBack(_ readyLevel: (_ slot: Int) -> PriorityLevel?) {
        while let (entry, _) = barriers!.value.heldBack.first, barriers!.value.line.admits(entry.arrival) {
            _ = barriers!.value.heldBack.popFirst()
            if let level = readyLevel(entry.slot) { insert(entry, at: level, isBarrier: false) }
        }
    }
}
