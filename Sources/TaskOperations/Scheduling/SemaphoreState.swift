/// Every decision of a semaphore, as a pure value: who gets permits when.
///
/// Those who wait are served strictly in the order of priority, then arrival: one that wants many permits holds
/// back whoever comes after it, so that it cannot starve.
struct SemaphoreState<Waiter: Sendable>: Sendable {
    struct Record: Sendable {
        let waiter: Waiter
        let arrival: UInt64
        let weight: Int
        var level: PriorityLevel
    }

    /// Names a waiter for as long as it waits, and nothing afterwards.
    struct Ticket: Hashable, Sendable {
        fileprivate let entry: ReadyOrder.Entry
    }

    private(set) var permits: Permits
    private var records = SlotMap<Record>()
    private var order = ReadyOrder()
    private var arrivals: UInt64 = 0

    init(capacity: Int) {
        permits = Permits(capacity: capacity)
    }

    var waitingCount: Int { records.count }

    /// Takes permits, unless there are too few or somebody waits for them.
    mutating func tryAcquire(_ weight: Int) -> Bool {
        guard waitingCount == 0, weight <= permits.available else { return false }
        permits.take(weight)
        return true
    }

    mutating func wait(_ waiter: Waiter, weight: Int, level: PriorityLevel) -> Ticket {
        arrivals += 1
        let slot = records.insert(Record(waiter: waiter, arrival: arrivals, weight: weight, level: level))
        let entry = ReadyOrder.Entry(arrival: arrivals, slot: slot)
        order.insert(entry, at: level)
        return Ticket(entry: entry)
    }

    /// The waiter gives its place up. Returns it, or nil where it has its permits already.
    mutating func leave(_ ticket: Ticket) -> Waiter? {
        guard isWaiting(ticket) else { return nil }
        let record = records.remove(at: ticket.entry.slot)
        abandonEntry()
        return record.waiter
    }

    /// The waiter has become more urgent; it never becomes less so.
    mutating func raise(_ ticket: Ticket, to level: PriorityLevel) {
        guard isWaiting(ticket), records[ticket.entry.slot].level < level else { return }
        records[ticket.entry.slot].level = level
        abandonEntry()
        order.insert(ticket.entry, at: level)
    }

    mutating func release(_ weight: Int) {
        permits.giveBack(weight)
    }

    mutating func setCapacity(_ capacity: Int) {
        permits.capacity = capacity
    }

    /// Gives the first waiter its permits, where there are enough.
    mutating func next() -> Waiter? {
        while let (entry, level) = order.head {
            guard isCurrent(entry, level) else {
                order.removeHead(of: level, isAbandoned: true)
                continue
            }
            guard records[entry.slot].weight <= permits.available else { return nil }
            order.removeHead(of: level)
            let record = records.remove(at: entry.slot)
            permits.take(record.weight)
            return record.waiter
        }
        return nil
    }

    private func isWaiting(_ ticket: Ticket) -> Bool {
        records.holds(ticket.entry.slot) && records[ticket.entry.slot].arrival == ticket.entry.arrival
    }

    private func isCurrent(_ entry: ReadyOrder.Entry, _ level: PriorityLevel) -> Bool {
        records.holds(entry.slot) && records[entry.slot].arrival == entry.arrival
            && records[entry.slot].level == level
    }

    private mutating func abandonEntry() {
        if order.abandonOne() { order.sweep { [self] in isCurrent($0, $1) } }
    }
}
