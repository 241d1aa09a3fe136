/// The permits of a queue, which operations lend out while they await others, and want back before they go on.
struct LendablePermits<Waiter: Sendable>: Sendable {
    typealias Entry = ReadyQueue.Entry

    private(set) var permits: Permits
    /// Operations that want their permits back.
    private(set) var returning = ReadyQueue()
    /// The tasks that wait for that, by the operation's slot.
    private var waiters: [Int: Waiter] = [:]

    init(capacity: Int) {
        permits = Permits(capacity: capacity)
    }

    mutating func setCapacity(_ capacity: Int) { permits.capacity = capacity }

    @inline(__always)
    mutating func take(_ weight: Int) { permits.take(weight) }

    @inline(__always)
    mutating func giveBack(_ weight: Int) { permits.giveBack(weight) }

    /// A task waits for an operation to have its permits back.
    mutating func awaitReturn(_ entry: Entry, at level: PriorityLevel, _ waiter: Waiter) {
        waiters[entry.slot] = waiter
        returning.insert(entry, at: level)
    }

    /// Such an operation has another level.
    mutating func changeLevel(_ entry: Entry, from: PriorityLevel, to: PriorityLevel) {
        returning.remove(entry, at: from)
        returning.insert(entry, at: to)
    }

    /// Such an operation does not wait any more. Returns the task that did, which goes on without permits.
    mutating func cancelReturn(_ entry: Entry, at level: PriorityLevel) -> Waiter {
        returning.remove(entry, at: level)
        return takeWaiter(entry.slot)
    }

    /// Gives the first operation that wants its permits back what it wants. If the capacity was lowered below a weight,
    /// they go on one after the other.
    mutating func nextReturn(weight: (_ slot: Int) -> Int) -> (slot: Int, waiter: Waiter)? {
        let entry = returning.popFirst { [permits] in permits.fitsBack(weight($0)) }
        guard let slot = entry?.slot else { return nil }
        permits.takeBack(weight(slot))
        return (slot, takeWaiter(slot))
    }

    private mutating func takeWaiter(_ slot: Int) -> Waiter {
        defer { if waiters.isEmpty { waiters = [:] } }
        return waiters.removeValue(forKey: slot)!
    }
}
