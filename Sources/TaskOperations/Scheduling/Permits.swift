/// Counts permits: the width of a queue, or the capacity of an `AsyncSemaphore`, and how many permits are taken. A weight is
/// the number of permits that one operation takes.
struct Permits: Hashable, Sendable {
    /// More may be taken than there are, after the capacity was lowered: lowering it takes nothing back.
    var capacity: Int
    private(set) var taken = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The number of permits that can be taken now; never negative.
    var available: Int { max(0, capacity - taken) }

    /// Whether a weight can be taken now.
    func fits(_ weight: Int) -> Bool { weight <= available }

    /// Whether an operation of a weight may start. If nothing else is taken, it may weigh more than the capacity.
    func admits(_ weight: Int) -> Bool { weight <= available || (taken == 0 && capacity > 0) }

    /// Whether a lent weight can be taken back. If nothing else is taken, it may exceed the capacity, which may have been
    /// lowered in the meantime.
    func fitsBack(_ weight: Int) -> Bool { weight <= available || taken == 0 }

    mutating func take(_ weight: Int) {
        require(admits(weight), "took \(weight) permits of \(available)")
        taken += weight
    }

    /// Takes lent permits back, even if fewer are available.
    mutating func takeBack(_ weight: Int) {
        require(fitsBack(weight), "took \(weight) permits back of \(available)")
        taken += weight
    }

    /// Takes permits, even if fewer are available.
    mutating func takeRegardless(_ weight: Int) { taken += weight }

    mutating func giveBack(_ weight: Int) {
        require(weight <= taken, "gave back \(weight) permits, but only \(taken) are taken")
        taken -= weight
    }
}

/// The permits of a queue. Operations lend them while they await others, and need them back before they continue.
struct QueuePermits<Waiter: Sendable>: Sendable {
    typealias Entry = ReadyQueue.Entry

    /// The operations that want their permits back.
    private struct Returns: Sendable {
        var queue = ReadyQueue()
        /// The tasks that wait for that, by the operation's slot.
        var waiters: [Int: Waiter] = [:]
    }

    /// The width of the queue, and the permits that are taken.
    private(set) var width: Permits
    /// The permits that operations of each level may take; nil if no level was ever limited.
    private var boxedCaps: Boxed<PerLevel<Permits>>?
    /// Nil if no operation wants its permits back.
    private var returns: Boxed<Returns>?

    init(width: Int) {
        self.width = Permits(capacity: width)
    }

    /// The permits that operations of each level may take; nil if no level was ever limited.
    var caps: PerLevel<Permits>? { boxedCaps?.value }

    /// The operations that want their permits back.
    var returning: ReadyQueue { returns?.value.queue ?? ReadyQueue() }

    @inline(__always)
    var hasReturns: Bool { returns != nil }

    /// Whether an operation waits for its permits, which come before any start.
    @inline(__always)
    var isAwaitedBack: Bool { returns != nil && (boxedCaps == nil || firstReturning != nil) }

    /// Whether a level has room for a weight, whether or not the queue has.
    func isOpen(_ level: PriorityLevel, for weight: Int) -> Bool {
        boxedCaps.map { $0.value[level].admits(weight) } ?? true
    }

    /// Whether operations of a level that want their permits back are passed over.
    func isFull(_ level: PriorityLevel) -> Bool {
        boxedCaps.map { $0.value[level].available == 0 && $0.value[level].taken > 0 } ?? false
    }

    /// The number of permits that operations of a level can take.
    func available(at level: PriorityLevel) -> Int {
        min(width.available, boxedCaps.map { max(1, $0.value[level].available) } ?? .max)
    }

    mutating func setWidth(_ count: Int) { width.capacity = count }

    /// Limits the permits of the operations of a level.
    ///
    /// - Parameter taken: Returns the permits that operations of each level have taken. Called if no level was limited
    ///   before.
    mutating func setCap(_ capacity: Int, at level: PriorityLevel, taken: () -> [(Int, PriorityLevel)]) {
        if boxedCaps == nil {
            var caps = PerLevel(Permits(capacity: .max))
            for (weight, level) in taken() { caps[level].takeRegardless(weight) }
            boxedCaps = Boxed(caps)
        }
        boxedCaps!.value[level].capacity = capacity
    }

    /// No level is closed from now on.
    mutating func openLevels() {
        if boxedCaps == nil { return }
        for level in PriorityLevel.allCases where boxedCaps!.value[level].capacity == 0 {
            boxedCaps!.value[level].capacity = 1
        }
    }

    @inline(__always)
    mutating func take(_ weight: Int, at level: PriorityLevel) {
        width.take(weight)
        if boxedCaps != nil { boxedCaps!.value[level].take(weight) }
    }

    @inline(__always)
    mutating func giveBack(_ weight: Int, at level: PriorityLevel) {
        width.giveBack(weight)
        if boxedCaps != nil { boxedCaps!.value[level].giveBack(weight) }
    }

    /// An operation that holds permits has another level, which may exceed its capacity then.
    mutating func move(_ weight: Int, from: PriorityLevel, to: PriorityLevel) {
        boxedCaps?.value[from].giveBack(weight)
        boxedCaps?.value[to].takeRegardless(weight)
    }
}

// MARK: - Lent permits

extension QueuePermits {
    /// A task waits for an operation to have its permits back.
    mutating func awaitReturn(_ entry: Entry, at level: PriorityLevel, _ waiter: Waiter) {
        if returns == nil { returns = Boxed(Returns()) }
        returns!.value.waiters[entry.slot] = waiter
        returns!.value.queue.insert(entry, at: level)
    }

    /// An operation that wants its permits back has another level.
    mutating func changeLevel(_ entry: Entry, from: PriorityLevel, to: PriorityLevel) {
        returns!.value.queue.remove(entry, at: from)
        returns!.value.queue.insert(entry, at: to)
    }

    /// Ends the wait of an operation for its permits. Returns its task, which continues without them.
    mutating func cancelReturn(_ entry: Entry, at level: PriorityLevel) -> Waiter {
        returns!.value.queue.remove(entry, at: level)
        return takeWaiter(entry.slot)
    }

    /// Returns its permits to the first operation that waits for them. If a capacity was lowered below a weight, such
    /// operations continue one after the other.
    mutating func nextReturn(weight: (_ slot: Int) -> Int) -> (slot: Int, waiter: Waiter)? {
        guard let (slot, level) = firstReturning else { return nil }
        let weight = weight(slot)
        guard width.fitsBack(weight), boxedCaps?.value[level].fitsBack(weight) ?? true else { return nil }
        returns!.value.queue.popFirst(of: level)
        width.takeBack(weight)
        boxedCaps?.value[level].takeBack(weight)
        return (slot, takeWaiter(slot))
    }

    /// The first operation whose level is not full.
    private var firstReturning: (slot: Int, level: PriorityLevel)? {
        guard let returns else { return nil }
        if boxedCaps == nil { return returns.value.queue.first.map { ($0.entry.slot, $0.level) } }
        for level in PriorityLevel.allCases.reversed() where !isFull(level) {
            if let entry = returns.value.queue.first(of: level) { return (entry.slot, level) }
        }
        return nil
    }

    private mutating func takeWaiter(_ slot: Int) -> Waiter {
        defer { if returns!.value.queue.isEmpty { returns = nil } }
        return returns!.value.waiters.removeValue(forKey: slot)!
    }
}
