/// Decides whether a queue accepts another operation and which operation it drops for it, and keeps the waiting producers.
///
/// An operation is queued until it starts or is dropped. A dropped operation stays until it has ended. A queue accepts as
/// many operations as it has free permits beyond its limit, whether or not their workers have begun.
struct QueueCapacity<Element: Sendable, Waiter: Sendable>: Sendable {
    /// An operation that waits for room, and the task that adds it.
    struct Producer: Sendable {
        let element: Element
        let waiter: Waiter
    }

    let overflow: QueueOverflow
    /// The number of operations that may be queued; `Int.max` without a limit. After it is lowered, more may be queued.
    var limit: Int
    var producers = WaitingList<Producer>()
    /// The queued operations in the order in which they are dropped. Empty unless the policy drops operations.
    private(set) var queued: ReadyQueue
    /// The number of dropped operations that have not left the queue.
    private(set) var droppedCount = 0

    init(limit: Int, overflow: QueueOverflow) {
        self.limit = limit
        self.overflow = overflow
        queued = ReadyQueue(order: overflow == .dropNewest ? .lastInFirstOut : .firstInFirstOut)
    }

    @inline(__always)
    var isLimited: Bool { limit != .max }

    /// True if `enter` and `leave` have to be called for queued operations.
    @inline(__always)
    var drops: Bool { overflow.drops }

    /// The number of queued operations, given the number of those that have not started.
    func count(ofUnstarted count: Int) -> Int { count - droppedCount }

    /// Whether the queue has no room for another operation.
    func isFull(ofUnstarted count: Int, freePermits: Int) -> Bool {
        self.count(ofUnstarted: count) - freePermits >= limit
    }

    /// Notes that an operation is queued.
    @inline(__always)
    mutating func enter(_ entry: ReadyQueue.Entry) { queued.insert(entry, at: .medium) }

    /// Notes that a queued operation has started or ended.
    @inline(__always)
    mutating func leave(_ entry: ReadyQueue.Entry) { queued.remove(entry, at: .medium) }

    /// Removes the operation to drop for a new one; nil if there is none.
    ///
    /// - Parameter freePermits: The number of first operations that are not dropped, since a permit is free for each.
    mutating func drop(freePermits: Int) -> Int? {
        var kept: [ReadyQueue.Entry] = []
        defer { for entry in kept { enter(entry) } }
        while let entry = queued.popFirst(fitting: { _ in true }) {
            if overflow == .dropNewest || kept.count == freePermits {
                droppedCount += 1
                return entry.slot
            }
            kept.append(entry)
        }
        return nil
    }

    /// Notes that a dropped operation has left the queue.
    mutating func droppedLeft() { droppedCount -= 1 }
}
