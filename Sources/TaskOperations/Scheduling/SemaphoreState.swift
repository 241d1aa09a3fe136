/// Makes all decisions of a semaphore. It is a pure value.
///
/// Entries receive permits strictly by priority, then by arrival. An entry that needs many permits blocks every entry
/// behind it, and therefore cannot starve.
///
/// An entry is either a task or a claim. A task receives its permits and leaves the line. A claim belongs to a queue
/// whose operations are limited by the semaphore. The semaphore offers one permit to the claim. The claim stays in line
/// until the queue takes the permit or withdraws the claim.
struct SemaphoreState<Waiter: Sendable>: Sendable {
    struct Record: Sendable {
        let waiter: Waiter
        let entry: ReadyQueue.Entry
        let weight: Int
        var level: PriorityLevel
        let isClaim: Bool
        var isOffered = false
    }

    /// Identifies an entry in line. After the entry has left the line, the ticket identifies no entry.
    struct Ticket: Hashable, Sendable {
        fileprivate let entry: ReadyQueue.Entry
    }

    private(set) var permits: Permits
    private var records = SlotMap<Record>()
    private var line = ReadyQueue()
    private(set) var claimCount = 0

    init(capacity: Int) {
        permits = Permits(capacity: capacity)
    }

    var hasLine: Bool { !line.isEmpty }

    /// The number of waiting tasks.
    var waitingCount: Int { records.count - claimCount }

    /// Takes permits if enough permits are available and the line is empty. Returns false if it takes no permits.
    mutating func tryAcquire(_ weight: Int) -> Bool {
        guard line.isEmpty, permits.fits(weight) else { return false }
        permits.take(weight)
        return true
    }

    /// Adds an entry to the line.
    ///
    /// - Parameters:
    ///   - arrival: The arrival, which decides the order within a level.
    ///   - isClaim: Whether the entry is a claim. A claim receives an offer instead of a permit.
    mutating func wait(
        _ waiter: Waiter, weight: Int, level: PriorityLevel, arrival: LineArrival, isClaim: Bool = false
    ) -> Ticket {
        let entry = ReadyQueue.Entry(arrival: arrival.number, slot: records.nextSlot)
        records.insert(
            Record(waiter: waiter, entry: entry, weight: weight, level: level, isClaim: isClaim), at: entry.slot)
        line.insert(entry, at: level)
        if isClaim { claimCount += 1 }
        return Ticket(entry: entry)
    }

    /// Removes an entry. Returns its waiter; nil if the entry is no longer in line.
    @discardableResult
    mutating func leave(_ ticket: Ticket) -> Waiter? {
        guard isWaiting(ticket) else { return nil }
        line.remove(ticket.entry, at: records[ticket.entry.slot].level)
        return removeRecord(ticket.entry.slot).waiter
    }

    /// Raises the level of an entry. A lower level has no effect.
    mutating func raise(_ ticket: Ticket, to level: PriorityLevel) {
        guard isWaiting(ticket), records[ticket.entry.slot].level < level else { return }
        line.remove(ticket.entry, at: records[ticket.entry.slot].level)
        records[ticket.entry.slot].level = level
        line.insert(ticket.entry, at: level)
    }

    mutating func release(_ weight: Int) {
        permits.giveBack(weight)
    }

    mutating func setCapacity(_ capacity: Int) {
        permits.capacity = capacity
    }

    /// Serves the first entry if enough permits are available. A task receives its permits and leaves the line. A claim
    /// receives an offer of one permit and stays in line.
    ///
    /// - Returns: The served waiter. Nil if the line is empty, too few permits are available, or the first entry
    ///   already has an offer.
    mutating func next() -> Waiter? {
        guard let slot = line.first?.entry.slot, permits.fits(records[slot].weight) else { return nil }
        if records[slot].isClaim {
            if records[slot].isOffered { return nil }
            records[slot].isOffered = true
            return records[slot].waiter
        }
        _ = line.popFirst()
        let record = removeRecord(slot)
        permits.take(record.weight)
        return record.waiter
    }

    /// Whether a permit is free for an entry of this level and arrival, and no entry is ahead of it. The entry need not
    /// be in line.
    func admits(at level: PriorityLevel, arrival: LineArrival) -> Bool {
        guard permits.fits(1) else { return false }
        guard let (head, headLevel) = line.first else { return true }
        return headLevel < level || (headLevel == level && head.arrival >= arrival.first)
    }

    /// Takes one permit after `admits` has returned true.
    mutating func takeAdmitted() { permits.take(1) }

    /// The waiters in the order in which they are served. For tests. Takes linear time.
    var waitersInOrder: [Waiter] {
        var line = line
        var waiters: [Waiter] = []
        while let entry = line.popFirst() { waiters.append(records[entry.slot].waiter) }
        return waiters
    }

    private mutating func removeRecord(_ slot: Int) -> Record {
        let record = records.remove(at: slot)
        if record.isClaim { claimCount -= 1 }
        return record
    }

    private func isWaiting(_ ticket: Ticket) -> Bool {
        records.holds(ticket.entry.slot) && records[ticket.entry.slot].entry == ticket.entry
    }
}

/// The position of an entry in the order of arrival. A claim keeps its arrival when it leaves one line and enters
/// another. Each entry of the claim has its own number, because a `ReadyQueue` may still contain a removed entry.
struct LineArrival: Sendable {
    /// The lowest number of this arrival. All numbers of earlier arrivals are lower.
    let first: UInt64
    private(set) var number: UInt64

    /// - Parameter order: A number that is higher for later arrivals.
    init(_ order: Int) {
        first = UInt64(order) << 16
        number = first
    }

    /// Changes the number for the next entry. After 65,536 changes, the numbers repeat.
    mutating func renew() { number = first | (number &+ 1) & 0xffff }
}
