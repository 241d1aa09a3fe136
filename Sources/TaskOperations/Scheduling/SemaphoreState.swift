/// Every decision of a semaphore, as a pure value: which waiting task, or which queue, gets permits when.
///
/// Permits are given strictly in the order of priority, then arrival: an entry that wants many permits blocks every entry
/// behind it, so that it cannot starve. A task in line gets its permits. A queue in line has a claim for operations whose
/// limits include the semaphore: it is offered one permit, and stays in line until it takes the permit or leaves.
struct SemaphoreState<Waiter: Sendable>: Sendable {
    struct Record: Sendable {
        let waiter: Waiter
        let entry: ReadyQueue.Entry
        let weight: Int
        var level: PriorityLevel
        let isClaim: Bool
        var isOffered = false
    }

    /// Names an entry for as long as it is in line, and nothing afterwards.
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

    /// How many tasks wait.
    var waitingCount: Int { records.count - claimCount }

    /// Takes permits, unless there are too few or an entry waits for them.
    mutating func tryAcquire(_ weight: Int) -> Bool {
        guard line.isEmpty, permits.fits(weight) else { return false }
        permits.take(weight)
        return true
    }

    /// Adds an entry to the line.
    ///
    /// - Parameters:
    ///   - arrival: Orders entries of one level.
    ///   - isClaim: Whether it is a claim, which is offered permits instead of getting them.
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

    /// Removes an entry. Returns its waiter; nil if it is not in line any more.
    @discardableResult
    mutating func leave(_ ticket: Ticket) -> Waiter? {
        guard isWaiting(ticket) else { return nil }
        line.remove(ticket.entry, at: records[ticket.entry.slot].level)
        return removeRecord(ticket.entry.slot).waiter
    }

    /// The waiter has become more urgent; it never becomes less so.
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

    /// Serves the first entry if enough permits are available. A task gets its permits and leaves the line. A claim is offered
    /// one permit and stays.
    ///
    /// - Returns: The served waiter; nil if too few permits are available, or if the first entry is a claim that has not
    ///   answered its offer.
    mutating func next() -> Waiter? {
        guard let slot = line.first?.entry.slot, permits.fits(records[slot].weight) else { return nil }
        if records[slot].isClaim {
            if records[slot].isOffered { return nil }
            records[slot].isOffered = true
            return records[slot].waiter
        }
        _ = line.popFirst { _ in true }
        let record = removeRecord(slot)
        permits.take(record.weight)
        return record.waiter
    }

    /// Whether one permit may be taken by an entry with this place in line, in line or not.
    func admits(at level: PriorityLevel, arrival: LineArrival) -> Bool {
        guard permits.fits(1) else { return false }
        guard let (head, headLevel) = line.first else { return true }
        return headLevel < level || (headLevel == level && head.arrival >= arrival.first)
    }

    /// Takes the permit that `admits` allows.
    mutating func takeAdmitted() { permits.take(1) }

    /// The entries in line, the first to be served first. Linear; for tests.
    var waitersInOrder: [Waiter] {
        var line = line
        var waiters: [Waiter] = []
        while let entry = line.popFirst(fitting: { _ in true }) { waiters.append(records[entry.slot].waiter) }
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

/// The place of an entry in the order of arrival. A claim that leaves one line and enters another keeps its arrival. Each of
/// its entries has a different number, because a `ReadyQueue` may still contain an entry that was removed.
struct LineArrival: Sendable {
    /// Before the numbers of all entries with this arrival, and behind those of earlier arrivals.
    let first: UInt64
    private(set) var number: UInt64

    /// - Parameter order: Higher for later arrivals.
    init(_ order: Int) {
        first = UInt64(order) << 16
        number = first
    }

    /// Gives the next entry another number, of 65,536.
    mutating func renew() { number = first | (number &+ 1) & 0xffff }
}
