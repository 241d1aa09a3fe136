/// The permits of a queue. Operations lend them while they await others, and need them back before they continue.
struct LendablePermits<Waiter: Sendable>: Sendable {
    typealias Entry = ReadyQueue.Entry

    private(set) var permits: Permits
    /// The permits that operations of each level may take; nil if no level was ever limited.
    private(set) var caps: LevelCaps?
    /// Operations that want their permits back.
    private(set) var returning = ReadyQueue()
    /// The tasks that wait for that, by the operation's slot.
    private var waiters: [Int: Waiter] = [:]

    init(capacity: Int) {
        permits = Permits(capacity: capacity)
    }

    /// Whether an operation waits for its permits, which come before any start.
    @inline(__always)
    var isAwaitedBack: Bool { !returning.isEmpty && (caps == nil || firstReturning != nil) }

    /// Whether a level has room for a weight. Whether the queue has is not asked.
    func isOpen(_ level: PriorityLevel, for weight: Int) -> Bool { caps.map { $0[level].admits(weight) } ?? true }

    /// Whether something of a level that wants its permits back is passed over.
    func isFull(_ level: PriorityLevel) -> Bool {
        caps.map { $0[level].available == 0 && $0[level].taken > 0 } ?? false
    }

    /// How many permits something of a level can take.
    func available(at level: PriorityLevel) -> Int {
        min(permits.available, caps.map { max(1, $0[level].available) } ?? .max)
    }

    mutating func setCapacity(_ capacity: Int) { permits.capacity = capacity }

    /// Limits the permits of the operations of a level.
    ///
    /// - Parameter taken: Returns the permits that operations of each level have taken. Called if no level was limited
    ///   before.
    mutating func setCapacity(_ capacity: Int, at level: PriorityLevel, taken: () -> [(Int, PriorityLevel)]) {
        if caps == nil {
            caps = LevelCaps()
            for (weight, level) in taken() { caps![level].takeRegardless(weight) }
        }
        caps![level].capacity = capacity
    }

    /// No level is closed from now on.
    mutating func openLevels() { caps?.open() }

    @inline(__always)
    mutating func take(_ weight: Int, at level: PriorityLevel) {
        permits.take(weight)
        if caps != nil { caps![level].take(weight) }
    }

    @inline(__always)
    mutating func giveBack(_ weight: Int, at level: PriorityLevel) {
        permits.giveBack(weight)
        if caps != nil { caps![level].giveBack(weight) }
    }

    /// An operation that holds permits has another level, which may exceed its capacity then.
    mutating func move(_ weight: Int, from: PriorityLevel, to: PriorityLevel) {
        if caps == nil { return }
        caps![from].giveBack(weight)
        caps![to].takeRegardless(weight)
    }

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

    /// Ends the wait of an operation for its permits. Returns its task, which continues without them.
    mutating func cancelReturn(_ entry: Entry, at level: PriorityLevel) -> Waiter {
        returning.remove(entry, at: level)
        return takeWaiter(entry.slot)
    }

    /// Returns its permits to the first operation that waits for them. If a capacity was lowered below a weight, such
    /// operations continue one after the other.
    mutating func nextReturn(weight: (_ slot: Int) -> Int) -> (slot: Int, waiter: Waiter)? {
        guard let (slot, level) = firstReturning else { return nil }
        let weight = weight(slot)
        guard permits.fitsBack(weight), caps?[level].fitsBack(weight) ?? true else { return nil }
        returning.popFirst(of: level)
        permits.takeBack(weight)
        caps?[level].takeBack(weight)
        return (slot, takeWaiter(slot))
    }

    /// The first of those whose level is not full.
    private var firstReturning: (slot: Int, level: PriorityLevel)? {
        if caps == nil { return returning.first.map { ($0.entry.slot, $0.level) } }
        for level in PriorityLevel.allCases.reversed() where !isFull(level) {
            if let entry = returning.first(of: level) { return (entry.slot, level) }
        }
        return nil
    }

    private mutating func takeWaiter(_ slot: Int) -> Waiter {
        defer { if waiters.isEmpty { waiters = [:] } }
        return waiters.removeValue(forKey: slot)!
    }
}
