/// Decides whether a queue accepts another operation, and keeps the tasks that wait for room.
///
/// An operation is queued until it starts or is dropped. A dropped operation stays until it has ended. A queue accepts as
/// many operations as it has free permits beyond its limit, whether or not their workers have begun.
struct Acceptance<Element: Sendable, Waiter: Sendable>: Sendable {
    /// An operation that waits for room, and the task that adds it.
    struct Producer: Sendable {
        let element: Element
        let waiter: Waiter
    }

    let overflow: QueueOverflow
    /// The number of operations that may be queued; `Int.max` without a limit. If the limit was lowered, more may be
    /// queued.
    var limit: Int
    private(set) var intake = QueueIntake.open
    /// The number of dropped operations that have not left the queue.
    var droppedCount = 0
    var producers = WaitingList<Producer>()

    init(limit: Int, overflow: QueueOverflow) {
        self.limit = limit
        self.overflow = overflow
    }

    @inline(__always)
    var isLimited: Bool { limit != .max }

    /// Moves the intake on; it never goes back.
    mutating func setIntake(_ intake: QueueIntake) { self.intake = max(self.intake, intake) }
}

/// Whether a queue accepts operations. It never returns to an earlier case.
enum QueueIntake: Int, Comparable, Sendable {
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
    private let overflow: QueueOverflow
    private(set) var queued: ReadyQueue

    init(_ overflow: QueueOverflow) {
        self.overflow = overflow
        queued = ReadyQueue(order: overflow == .dropNewest ? .lastInFirstOut : .firstInFirstOut)
    }

    mutating func insert(_ entry: ReadyQueue.Entry) { queued.insert(entry, at: .medium) }

    mutating func remove(_ entry: ReadyQueue.Entry) { queued.remove(entry, at: .medium) }

    /// Removes the operation to drop for a new one; nil if there is none.
    ///
    /// - Parameter freePermits: The number of first operations that are not dropped, since a permit is free for each.
    mutating func popFirst(freePermits: Int) -> Int? {
        var kept: [ReadyQueue.Entry] = []
        defer { for entry in kept { insert(entry) } }
        while let entry = queued.popFirst(fitting: { _ in true }) {
            if overflow == .dropNewest || kept.count == freePermits { return entry.slot }
            kept.append(entry)
        }
        return nil
    }
}

// MARK: - Shutdown

extension SchedulerState {
    /// Whether the queue accepts an operation. If not, the effects end the operation. If the queue is full, it may drop another
    /// operation.
    mutating func accepts(_ element: Element) -> Bool {
        switch acceptance.intake {
        case .open, .closing: return !isFull || makeRoom(for: element)
        case .shut: reject(element, .shutDown)
        case .cancelling: reject(element, .cancelled)
        }
        return false
    }

    private mutating func reject(_ element: Element, _ reason: Rejection.Reason) {
        effects.rejected.append(.init(element: element, reason: reason))
    }

    /// Drops a queued operation for a new one if that is the policy. Otherwise rejects the new one.
    private mutating func makeRoom(for element: Element) -> Bool {
        let freePermits = freePermitCount
        guard let slot = admission.policies?.value.dropOrder?.popFirst(freePermits: freePermits) ?? nil else {
            reject(element, .full)
            return false
        }
        acceptance.droppedCount += 1
        if records[slot].status == .ready { makeWait(slot) }
        finishing.insert(slot)
        reject(records[slot].element, .dropped)
        return true
    }

    /// Advances the intake; it never returns to an earlier case. `.closing` shuts an empty queue at once.
    mutating func setIntake(_ intake: QueueIntake) {
        acceptance.setIntake(intake == .closing && isEmpty ? .shut : intake)
        if !acceptance.intake.accepts { refuseProducers() }
    }
}

// MARK: - Room

extension SchedulerState {
    /// The number of operations that were added and have not started.
    var queuedCount: Int { unstartedCount - acceptance.droppedCount }

    /// Whether the queue has no room for another operation.
    @inline(__always)
    var isFull: Bool { acceptance.isLimited && queuedCount - freePermitCount >= acceptance.limit }

    /// The number of further operations that the width lets execute.
    private var freePermitCount: Int {
        let executing = startedCount - (finishing.count - acceptance.droppedCount)
        return isSuspended ? 0 : max(0, width.capacity - executing)
    }

    /// Whether one more operation would start at once, together with all queued operations. False if that is not
    /// certain: with policies, it depends on the operation.
    var couldStartAnother: Bool {
        admission.policies == nil && !isHalted && acceptance.intake == .open && !hasUnfinishedBarriers
            && !permits.isAwaitedBack && queuedCount < freePermitCount
    }

    mutating func setQueuedLimit(_ limit: Int) { acceptance.limit = limit }

    /// A task waits until an operation is added.
    ///
    /// - Parameter number: A number for the wait, which no other has.
    mutating func waitForRoom(_ element: Element, _ waiter: Waiter, number: Int) {
        guard acceptance.intake.accepts else {
            _ = accepts(element)
            return effects.resumed.append(waiter)
        }
        acceptance.producers.append(.init(element: element, waiter: waiter), number: number)
    }

    /// Ends a wait for room. Returns false if the wait is over already, or has not begun.
    mutating func stopWaitingForRoom(_ number: Int) -> Bool {
        guard let producer = acceptance.producers.remove(number) else { return false }
        effects.resumed.append(producer.waiter)
        return true
    }

    /// Resumes the first task that waits for room, if there is room. Returns its operation, which must be added now.
    mutating func nextAdmission() -> Element? {
        guard !isFull, let producer = acceptance.producers.removeFirst() else { return nil }
        effects.resumed.append(producer.waiter)
        return producer.element
    }

    /// Ends all waits for room without room.
    private mutating func refuseProducers() {
        for producer in acceptance.producers.removeAll() {
            _ = accepts(producer.element)
            effects.resumed.append(producer.waiter)
        }
    }
}
