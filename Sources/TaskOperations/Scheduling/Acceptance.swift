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
    /// The number of operations that may be queued; `Int.max` without a limit. After it is lowered, more may be queued.
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

/// Whether a queue accepts operations. It never goes back to a case before.
enum QueueIntake: Int, Comparable, Sendable {
    case open
    /// Open until the queue is empty for the first time, then shut.
    case closing
    /// Added operations are refused.
    case shut
    /// Added operations are cancelled.
    case cancelling

    var accepts: Bool { self < .shut }

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
