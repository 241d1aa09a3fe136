/// What happens to an operation that is added to a full queue; see `TaskOperationQueue.maxQueuedOperationCount`.
public enum QueueOverflow: Hashable, Sendable {
    /// It fails at once with `TaskOperationError.queueFull`.
    case reject
    /// It is accepted. The pending operation that was added first, whatever its priority, fails with
    /// `TaskOperationError.dropped` instead. While permits are free, as many of the first ones are kept for these.
    /// (RxJava's `DROP_OLDEST`.)
    case dropOldest
    /// It is accepted. The pending operation that was added last before it, whatever its priority, fails with
    /// `TaskOperationError.dropped` instead. (RxJava's `DROP_LATEST`.)
    case dropNewest
}

extension QueueOverflow {
    /// Whether another operation gives way to one for which there is no room.
    var drops: Bool { self != .reject }
}

/// Decides whether a queue accepts another operation, which operation it drops for that, and what waits for room.
///
/// An operation is queued until it starts or is dropped. A dropped operation stays until it has ended. A queue accepts as
/// many operations as it has free permits beyond its limit: whether their workers have begun makes no difference.
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
    private(set) var droppedCount = 0

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

    /// Whether the queue has no room for another operation.
    func isFull(ofUnstarted count: Int, freePermits: Int) -> Bool {
        self.count(ofUnstarted: count) - freePermits >= limit
    }

    /// An operation is pending from now on.
    @inline(__always)
    mutating func enter(_ entry: ReadyQueue.Entry) { pending.insert(entry, at: .medium) }

    /// An operation that was pending is not any more: it has started or ended.
    @inline(__always)
    mutating func leave(_ entry: ReadyQueue.Entry) { pending.remove(entry, at: .medium) }

    /// Removes the operation to be dropped for a newcomer; nil if the policy drops none.
    ///
    /// - Parameter freePermits: How many of the oldest operations are not dropped, as they find a free permit.
    mutating func drop(freePermits: Int) -> Int? {
        var kept: [ReadyQueue.Entry] = []
        defer { for entry in kept { enter(entry) } }
        while let entry = pending.popFirst(fitting: { _ in true }) {
            if overflow == .dropNewest || kept.count == freePermits {
                droppedCount += 1
                return entry.slot
            }
            kept.append(entry)
        }
        return nil
    }

    /// An operation that was dropped has ended.
    mutating func droppedLeft() { droppedCount -= 1 }
}
