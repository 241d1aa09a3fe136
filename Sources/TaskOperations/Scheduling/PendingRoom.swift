/// What becomes of an operation that is added to a queue in which as many are pending as may be.
public enum QueueOverflow: Hashable, Sendable {
    /// It fails at once with `TaskOperationError.queueFull`.
    case refuse
    /// It is taken in. The pending operation that was added first, whatever its priority, fails with
    /// `TaskOperationError.dropped` instead. (RxJava's `DROP_OLDEST`.)
    case dropOldest
    /// It is taken in. The pending operation that was added last before it, whatever its priority, fails with
    /// `TaskOperationError.dropped` instead. (RxJava's `DROP_LATEST`.)
    case dropNewest
}

extension QueueOverflow {
    /// Whether another operation gives way to one for which there is no room.
    var drops: Bool { self != .refuse }
}

/// How many operations may be pending in a queue, which of them gives way, and what waits for room.
///
/// An operation is pending until it starts. One that is dropped is so no longer, though it stays until it has ended.
struct PendingRoom<Element: Sendable, Waiter: Sendable>: Sendable {
    /// An operation that is to be added, and the task that waits for that.
    struct Producer: Sendable {
        let element: Element
        let waiter: Waiter
    }

    let overflow: QueueOverflow
    /// How many may be pending; `Int.max` if nothing limits that. More are if this was lowered.
    var limit: Int
    var producers = WaitingList<Producer>()
    /// What is pending, the first to be dropped first. Kept only if anything ever is.
    private(set) var pending: ReadyQueue
    /// How many are dropped and have not left.
    private var droppedCount = 0

    init(limit: Int, overflow: QueueOverflow) {
        self.limit = limit
        self.overflow = overflow
        pending = ReadyQueue(order: overflow == .dropNewest ? .lastInFirstOut : .firstInFirstOut)
    }

    @inline(__always)
    var isLimited: Bool { limit != .max }

    /// Whether what is pending has to be told: `enter` and `leave` are to be called.
    @inline(__always)
    var drops: Bool { overflow.drops }

    /// How many are pending of those that have not started.
    func count(ofUnstarted count: Int) -> Int { count - droppedCount }

    /// Whether no other one may be pending.
    @inline(__always)
    func isFull(ofUnstarted count: Int) -> Bool { isLimited && self.count(ofUnstarted: count) >= limit }

    /// An operation is pending from now on.
    @inline(__always)
    mutating func enter(_ entry: ReadyQueue.Entry) { pending.insert(entry, at: .medium) }

    /// An operation that was pending is not any more: it has started or ended.
    @inline(__always)
    mutating func leave(_ entry: ReadyQueue.Entry) { pending.remove(entry, at: .medium) }

    /// Takes the operation that gives way to a newcomer.
    mutating func drop() -> Int? {
        guard let slot = pending.popFirst(fitting: { _ in true })?.slot else { return nil }
        droppedCount += 1
        return slot
    }

    /// An operation that was dropped has ended.
    mutating func droppedLeft() { droppedCount -= 1 }
}
