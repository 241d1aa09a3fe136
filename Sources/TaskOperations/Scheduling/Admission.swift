/// The ready operations of a queue, and the rules for which of them starts next.
///
/// A plain queue starts the first entry of `ready`. Its `barriers` and `policies` are nil, so they cost only a check
/// for nil.
struct Admission: Sendable {
    typealias Entry = ReadyQueue.Entry

    /// The operations that may start. A barrier is among them when it is its turn. An operation that has limits may have to be
    /// parked then.
    var ready: ReadyQueue
    /// Nil until the first barrier, or the first wait that raises the operations of the queue.
    var barriers: Boxed<QueueBarriers>?
    /// Nil if no policy but the order decides about starts.
    var policies: Boxed<AdmissionPolicies>?

    init(_ policies: QueuePolicies) {
        ready = ReadyQueue(order: policies.order)
        if policies.changeAdmission { self.policies = Boxed(AdmissionPolicies(policies)) }
    }

    /// A ready operation takes its place.
    @inline(__always)
    mutating func insert(_ entry: Entry, at level: PriorityLevel, isBarrier: Bool) {
        if barriers != nil, !admits(entry, isBarrier) { return }
        if policies != nil, park(entry, at: level) { return }
        ready.insert(entry, at: level)
    }

    /// An operation is ready no longer, or is about to change.
    mutating func remove(_ entry: Entry, at level: PriorityLevel, isBarrier: Bool) {
        if barriers != nil, !barriers!.value.line.admits(entry.arrival) {
            if !isBarrier { barriers!.value.heldBack.remove(entry, at: QueueBarriers.heldBackLevel) }
            return
        }
        if policies != nil, removeLimited(entry, at: level) { return }
        ready.remove(entry, at: level)
    }

    /// Takes the first operation that may start; there must be one.
    @inline(__always)
    mutating func popFirst() -> Entry { ready.popFirst { _ in true }! }
}

// MARK: - Barriers

extension Admission {
    /// Whether barriers let a ready operation start. Otherwise it is held back.
    private mutating func admits(_ entry: Entry, _ isBarrier: Bool) -> Bool {
        if barriers!.value.line.admits(entry.arrival) { return true }
        if !isBarrier { barriers!.value.heldBack.insert(entry, at: QueueBarriers.heldBackLevel) }
        return false
    }

    /// An operation has arrived, whether it is ready or not.
    mutating func operationArrived(_ entry: Entry, isBarrier: Bool) {
        if isBarrier {
            barriers!.value.line.barrierArrived(entry.arrival, slot: entry.slot)
        } else {
            barriers!.value.line.operationArrived()
        }
    }

    /// An operation has ended. If it was the first barrier, the operations that only this barrier held back may start. If the
    /// next barrier waits for no other operation, it may start.
    ///
    /// - Parameter readyLevel: The level of an operation if it is ready.
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
