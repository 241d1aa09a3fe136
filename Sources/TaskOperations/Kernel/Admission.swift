/// Decides whether a queue accepts another operation, and stores the tasks that wait for room.
///
/// An operation counts as queued until it starts or is dropped. A dropped operation stays in the queue until it has
/// ended. For each free permit, the queue accepts one operation beyond its limit.
struct Admission<Element: Sendable, Waiter: Sendable>: Sendable {
    /// An operation that waits for room, and the task that adds it.
    struct Producer: Sendable {
        let element: Element
        let waiter: Waiter
    }

    let overflow: TaskOperationQueue.Configuration.Overflow
    private(set) var state = AdmissionState.open
    /// The maximum number of queued operations; `Int.max` without a limit. Lowering the limit drops no operation.
    var queuedLimit: Int
    /// The number of dropped operations that have not left the queue.
    var droppedCount = 0
    /// The number of operations that were refused because the queue was full.
    var refusedCount = 0
    var producers = WaitingList<Producer>()

    init(queuedLimit: Int, overflow: TaskOperationQueue.Configuration.Overflow) {
        self.queuedLimit = queuedLimit
        self.overflow = overflow
    }

    @inline(__always)
    var isBounded: Bool { queuedLimit != .max }

    /// Advances the state. An earlier case has no effect.
    mutating func advance(to state: AdmissionState) { self.state = max(self.state, state) }
}

/// Whether a queue accepts operations. The value never returns to an earlier case.
enum AdmissionState: Int, Comparable, Sendable {
    case open
    /// Open until the queue is empty for the first time, then shut.
    case closing
    /// Added operations are refused.
    case shut
    /// Added operations are cancelled.
    case cancelling

    var accepts: Bool {
        switch self {
        case .open, .closing: true
        case .shut, .cancelling: false
        }
    }

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// The queued operations in the order in which a full queue drops them.
struct DropOrder: Sendable {
    private(set) var queued = EntryList()

    mutating func insert(_ entry: ReadyQueue.Entry) { queued.insert(RankedSlot(entry, .firstInFirstOut)) }

    mutating func remove(_ entry: ReadyQueue.Entry) { queued.remove(RankedSlot(entry, .firstInFirstOut)) }

    /// Removes the next operation to drop and returns its slot; nil if no operation can be dropped.
    ///
    /// - Parameter freePermits: The number of free permits. The oldest operations, for which permits are free, are not
    ///   dropped.
    mutating func popFirst(freePermits: Int) -> Int? {
        var kept: [RankedSlot] = []
        defer { for entry in kept { queued.insert(entry) } }
        while !queued.isEmpty {
            let entry = queued.removeFirst()
            if kept.count == freePermits { return entry.slot }
            kept.append(entry)
        }
        return nil
    }
}

// MARK: - Shutdown

extension SchedulerState {
    /// Returns whether the queue accepts an operation. The effects end a rejected operation. A full queue may accept
    /// the operation and drop another one.
    mutating func admitOrReject(_ element: Element) -> Bool {
        switch admission.state {
        case .open, .closing: return !isFull || makeRoom(for: element)
        case .shut: reject(element, .shutDown)
        case .cancelling: reject(element, .cancelled)
        }
        return false
    }

    private mutating func reject(_ element: Element, _ reason: Rejection.Reason) {
        effects.rejected.append(.init(element: element, reason: reason))
    }

    /// Drops a queued operation if the overflow policy allows it. Otherwise, rejects the new operation and returns
    /// false.
    private mutating func makeRoom(for element: Element) -> Bool {
        let freePermits = freePermitCount
        guard let slot = selection.optionalPolicies?.value.dropOrder?.popFirst(freePermits: freePermits) ?? nil else {
            admission.refusedCount += 1
            reject(element, .full)
            return false
        }
        drop(slot, .dropped)
        return true
    }

    /// Drops an operation that was just added, because its timeout has passed.
    mutating func dropLate(_ slot: Slot) {
        let entry = entry(slot)
        selection.optionalPolicies?.value.dropOrder?.remove(entry)
        drop(slot, .late)
    }

    /// Drops a queued operation. The effects end it. Until then it stays in the queue, uncounted.
    private mutating func drop(_ slot: Slot, _ reason: Rejection.Reason) {
        admission.droppedCount += 1
        if rows[slot].status == .ready { makeWait(slot) }
        finishing.insert(slot)
        reject(rows[slot].element, reason)
    }

    /// Advances the state of the admission. An earlier case has no effect. `.closing` shuts an empty queue at once.
    mutating func setAdmission(_ new: AdmissionState) {
        admission.advance(to: new == .closing && isEmpty ? .shut : new)
        if !admission.state.accepts { refuseProducers() }
    }

    /// Shuts a closing queue if it is empty and no task waits to add an operation.
    mutating func shutIfEmpty() {
        if isEmpty, admission.state == .closing, admission.producers.isEmpty { admission.advance(to: .shut) }
    }
}

// MARK: - Room

extension SchedulerState {
    /// The number of operations that have not started, without dropped operations.
    var queuedCount: Int { rows.count - startedCount - admission.droppedCount }

    @inline(__always)
    var isFull: Bool { admission.isBounded && queuedCount - freePermitCount >= admission.queuedLimit }

    /// The number of operations that the width allows to start now.
    private var freePermitCount: Int {
        let executing = startedCount - (finishing.count - admission.droppedCount)
        return isSuspended ? 0 : max(0, width.capacity - executing)
    }

    /// Whether all queued operations and one more would start at once. Always false with policies, because the answer
    /// then depends on the operation.
    var couldStartAnother: Bool {
        !selection.hasPolicies && !isHalted && admission.state == .open && !hasUnfinishedBarriers
            && !permits.isAwaitedBack && queuedCount < freePermitCount
    }

    mutating func setQueuedLimit(_ limit: Int) { admission.queuedLimit = limit }

    /// Records that a task waits for room to add its operation.
    ///
    /// - Parameter number: The unique number of the wait.
    mutating func waitForRoom(_ element: Element, _ waiter: Waiter, number: Int) {
        guard admission.state.accepts else {
            _ = admitOrReject(element)
            return effects.resumed.append(waiter)
        }
        admission.producers.append(.init(element: element, waiter: waiter), number: number)
    }

    /// Ends a wait for room. Returns false if the wait is already over or has not begun.
    mutating func stopWaitingForRoom(_ number: Int) -> Bool {
        guard let producer = admission.producers.remove(number) else { return false }
        effects.resumed.append(producer.waiter)
        return true
    }

    /// If the queue has room, resumes the first waiting task and returns its operation. The caller must add the
    /// operation at once. If no task is resumed, returns nil.
    mutating func nextAdmission() -> Element? {
        guard !isFull, let producer = admission.producers.removeFirst() else { return nil }
        effects.resumed.append(producer.waiter)
        return producer.element
    }

    /// Rejects the operations that wait for room, and resumes their tasks.
    private mutating func refuseProducers() {
        for producer in admission.producers.removeAll() {
            _ = admitOrReject(producer.element)
            effects.resumed.append(producer.waiter)
        }
    }
}
