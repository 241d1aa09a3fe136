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

    /// What is served next.
    enum Next: Sendable {
        /// It has its permits.
        case waiter(Waiter)
        /// It may take its permit, if its other limits have room too.
        case claim(Int)
    }

    private(set) var permits: Permits
    private(set) var claims = LimitClaims()
    private var records = SlotMap<Record>()
    private var queue = ReadyQueue()
    private var arrivals: UInt64 = 0

    init(capacity: Int) {
        permits = Permits(capacity: capacity)
    }

    var waitingCount: Int { records.count }

    /// When the waiting tasks came.
    var waitingArrivals: [UInt64] { records.all.map(\.arrival) }

    /// Takes permits, unless there are too few or somebody waits for them.
    mutating func tryAcquire(_ weight: Int) -> Bool {
        guard waitingCount == 0, permits.fits(weight) else { return false }
        if !claims.isEmpty {
            if claims.isBlocked(at: .background, .max) { return false }
            claims.noteOvertaking(from: .background, .max)
        }
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

    /// Gives the first waiter its permits, if there are enough; or says which claim comes before it.
    ///
    /// - Parameter tried: Claims that cannot take what they want now.
    mutating func next(tried: [Int] = []) -> Next? {
        let head = queue.first
        for claim in claims.inOrder {
            if let head, !claim.comes(before: head.level, head.entry.arrival) { break }
            if !tried.contains(claim.number) { return permits.fits(1) ? .claim(claim.number) : nil }
            if !claim.waitsElsewhere { return nil }
        }
        let entry = queue.popFirst { [permits, records] in permits.fits(records[$0].weight) }
        guard let entry else { return nil }
        let record = records.remove(at: entry.slot)
        permits.take(record.weight)
        if !claims.isEmpty { claims.noteOvertaking(from: record.level, record.arrival) }
        return .waiter(record.waiter)
    }

    private func isWaiting(_ ticket: Ticket) -> Bool {
        records.holds(ticket.entry.slot) && records[ticket.entry.slot].arrival == ticket.entry.arrival
    }
}

// MARK: - Claims

extension SemaphoreState {
    /// Whether a claim, made or not, may take a permit: there is one, and nothing that comes before it waits for it.
    func admits(_ number: Int, at level: PriorityLevel) -> Bool {
        guard permits.fits(1) else { return false }
        let arrival = place(of: number, at: level)
        if let head = queue.first, head.level > level || (head.level == level && head.entry.arrival < arrival) {
            return false
        }
        return !claims.isBlocked(at: level, arrival)
    }

    /// Whether an operation that has ended may hand its permit to one of a level that wants the same: nothing more urgent
    /// waits, and nothing that was passed too often.
    func mayKeep(at level: PriorityLevel) -> Bool {
        if permits.taken > permits.capacity { return false }
        if let waiting = queue.highestLevel, waiting > level { return false }
        return !claims.inOrder.contains { $0.level > level || $0.isOverdue }
    }

    /// A claim that is admitted takes its permit.
    mutating func take(_ number: Int, at level: PriorityLevel) {
        let arrival = place(of: number, at: level)
        claims.remove(number)
        claims.noteOvertaking(from: level, arrival)
        permits.take(1)
    }

    /// Makes a claim, or notes how it stands.
    mutating func claim(_ number: Int, at level: PriorityLevel, waitsElsewhere: Bool) {
        arrivals += 1
        claims.set(number, at: level, arrival: arrivals, waitsElsewhere: waitsElsewhere)
    }

    mutating func withdraw(_ number: Int) { claims.remove(number) }

    /// When a claim was made; if it was not, it comes after all of its level.
    private func place(of number: Int, at level: PriorityLevel) -> UInt64 {
        claims[number].flatMap { $0.level == level ? $0.arrival : nil } ?? .max
    }
}
