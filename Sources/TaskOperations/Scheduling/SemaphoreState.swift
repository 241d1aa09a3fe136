/// Every decision of a semaphore, as a pure value: which waiting task gets permits when.
///
/// Waiting tasks are served strictly in the order of priority, then arrival: one that wants many permits holds back
/// whatever comes after it, so that it cannot starve.
struct SemaphoreState<Waiter: Sendable>: Sendable {
    struct Record: Sendable {
        let waiter: Waiter
        let arrival: UInt64
        let weight: Int
        var level: PriorityLevel
    }

    /// Names a waiter for as long as it waits, and nothing afterwards.
    struct Ticket: Hashable, Sendable {
        fileprivate let entry: ReadyQueue.Entry
    }

    private(set) var permits: Permits
    private var records = SlotMap<Record>()
    private var queue = ReadyQueue()
    private var arrivals: UInt64 = 0

    init(capacity: Int) {
        permits = Permits(capacity: capacity)
    }

    var waitingCount: Int { records.count }

    /// Takes permits, unless there are too few or somebody waits for them.
    mutating func tryAcquire(_ weight: Int) -> Bool {
        guard waitingCount == 0, permits.fits(weight) else { return false }
        permits.take(weight)
        return true
    }

    mutating func wait(_ waiter: Waiter, weight: Int, level: PriorityLevel) -> Ticket {
        arrivals += 1
        let slot = records.insert(Record(waiter: waiter, arrival: arrivals, weight: weight, level: level))
        let entry = ReadyQueue.Entry(arrival: arrivals, slot: slot)
        queue.insert(entry, at: level)
        return Ticket(entry: entry)
    }

    /// The waiter gives its place up. Returns it, or nil if it has its permits already.
    mutating func leave(_ ticket: Ticket) -> Waiter? {
        guard isWaiting(ticket) else { return nil }
        let record = records.remove(at: ticket.entry.slot)
        queue.remove(ticket.entry, at: record.level)
        return record.waiter
    }

    /// The waiter has become more urgent; it never becomes less so.
    mutating func raise(_ ticket: Ticket, to level: PriorityLevel) {
        guard isWaiting(ticket), records[ticket.entry.slot].level < level else { return }
        queue.remove(ticket.entry, at: records[ticket.entry.slot].level)
        records[ticket.entry.slot].level = level
        queue.insert(ticket.entry, at: level)
    }

    mutating func release(_ weight: Int) {
        permits.giveBack(weight)
    }

    mutating func setCapacity(_ capacity: Int) {
        permits.capacity = capacity
    }

    /// Gives the first waiter its permits, if there are enough.
    mutating func next() -> Waiter? {
        let entry = queue.popFirst { [permits, records] in permits.fits(records[$0].weight) }
        guard let entry else { return nil }
        let record = records.remove(at: entry.slot)
        permits.take(record.weight)
        return record.waiter
    }

    private func isWaiting(_ ticket: Ticket) -> Bool {
        records.holds(ticket.entry.slot) && records[ticket.entry.slot].arrival == ticket.entry.arrival
    }
}
