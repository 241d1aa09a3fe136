/// The ready operations of a queue, and the rules that decide which of them starts next.
///
/// A plain queue starts the first entry of `ready`. Its `barriers` and `policies` are nil and cost only a check for
/// nil.
struct Admission: Sendable {
    typealias Entry = ReadyQueue.Entry

    /// The operations that may start. Contains a barrier only when barriers let it start. An operation with limits may
    /// be parked when it is its turn.
    var ready: ReadyQueue
    /// Nil until the first barrier, or the first wait that raises the operations of the queue.
    var barriers: Boxed<QueueBarriers>?
    /// Nil if the order alone decides which operation starts.
    var policies: Boxed<AdmissionPolicies>?

    init(_ policies: QueuePolicies) {
        ready = ReadyQueue(order: policies.order)
        if policies.changeAdmission { self.policies = Boxed(AdmissionPolicies(policies)) }
    }

    /// Inserts a ready operation.
    @inline(__always)
    mutating func insert(_ entry: Entry, at level: PriorityLevel, isBarrier: Bool) {
        if barriers != nil, !admits(entry, isBarrier) { return }
        if policies != nil, park(entry, at: level) { return }
        ready.insert(entry, at: level)
    }

    /// Removes an operation that is no longer ready or is about to change.
    mutating func remove(_ entry: Entry, at level: PriorityLevel, isBarrier: Bool) {
        if barriers != nil, !barriers!.value.line.admits(entry.arrival) {
            if !isBarrier { barriers!.value.heldBack.remove(entry, at: QueueBarriers.heldBackLevel) }
            return
        }
        if policies != nil, removeLimited(entry, at: level) { return }
        ready.remove(entry, at: level)
    }

    /// Removes the first operation that may start. Such an operation must exist.
    @inline(__always)
    mutating func popFirst() -> Entry { ready.popFirst { _ in true }! }
}

// MARK: - Barriers

extension Admission {
    /// Returns whether barriers let a ready operation start. If they do not, holds the operation back.
    private mutating func admits(_ entry: Entry, _ isBarrier: Bool) -> Bool {
        if barriers!.value.line.admits(entry.arrival) { return true }
        if !isBarrier { barriers!.value.heldBack.insert(entry, at: QueueBarriers.heldBackLevel) }
        return false
    }

    /// Records that an operation has arrived, ready or not.
    mutating func operationArrived(_ entry: Entry, isBarrier: Bool) {
        if isBarrier {
            barriers!.value.line.barrierArrived(entry.arrival, slot: entry.slot)
        } else {
            barriers!.value.line.operationArrived()
        }
    }

    /// Records that an operation has ended. If the operation was the first barrier, the operations that only it held
    /// back may start. If the next barrier waits for no other operation, that barrier may start.
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
            _ = barriers!.value.heldBack.popFirst { _ in true }
            if let level = readyLevel(entry.slot) { insert(entry, at: level, isBarrier: false) }
        }
    }
}
