/// Counts the permits of a queue or of an `AsyncSemaphore`. A weight is the number of permits that one operation takes.
struct Permits: Hashable, Sendable {
    /// The number of permits. A decrease revokes no permit, so `taken` may exceed the capacity.
    var capacity: Int
    private(set) var taken = 0

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// The number of permits that can be taken now; never negative.
    var available: Int { max(0, capacity - taken) }

    /// Whether `weight` permits are available now.
    func fits(_ weight: Int) -> Bool { weight <= available }

    /// Whether an operation of this weight may start. If no permit is taken, the weight may exceed the capacity.
    func admits(_ weight: Int) -> Bool { weight <= available || (taken == 0 && capacity > 0) }

    /// Whether lent permits can be taken back. If no permit is taken, the weight may exceed any capacity, even 0.
    func fitsBack(_ weight: Int) -> Bool { weight <= available || taken == 0 }

    mutating func take(_ weight: Int) {
        require(admits(weight), "took \(weight) permits of \(available)")
        taken += weight
    }

    /// Takes lent permits back. Requires `fitsBack`.
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

/// The permits of a queue. An operation lends its permits while it awaits other operations, and takes them back before
/// it continues.
struct QueuePermits<Waiter: Sendable>: Sendable {
    typealias Entry = ReadyQueue.Entry

    /// The operations that wait to take their permits back, and the waiting tasks.
    private struct Returns: Sendable {
        var queue = ReadyQueue()
        /// The waiting task of each operation, by slot.
        var waiters: [Int: Waiter] = [:]
    }

    /// The width of the queue, and the number of taken permits.
    private(set) var width: Permits
    /// The permits that operations of each level may take; nil if no level was ever limited.
    private var boxedCaps: Boxed<PerLevel<Permits>>?
    /// Nil if no operation waits to take its permits back.
    private var returns: Boxed<Returns>?

    init(width: Int) {
        self.width = Permits(capacity: width)
    }

    var caps: PerLevel<Permits>? { boxedCaps?.value }

    /// The operations that wait to take their permits back.
    var returning: ReadyQueue { returns?.value.queue ?? ReadyQueue() }

    @inline(__always)
    var hasReturns: Bool { returns != nil }

    /// Whether an operation of a level that is not full waits to take its permits back. Such an operation takes
    /// precedence over every start.
    @inline(__always)
    var isAwaitedBack: Bool { returns != nil && (boxedCaps == nil || firstReturning != nil) }

    /// Whether the limit of a level lets an operation of this weight start. Ignores the width of the queue.
    func isOpen(_ level: PriorityLevel, for weight: Int) -> Bool {
        boxedCaps.map { $0.value[level].admits(weight) } ?? true
    }

    /// Whether operations of a level hold permits, and the level has no free permit. Operations of this level that wait
    /// to take their permits back are then skipped.
    func isFull(_ level: PriorityLevel) -> Bool {
        boxedCaps.map { $0.value[level].available == 0 && $0.value[level].taken > 0 } ?? false
    }

    /// The number of permits that operations of a level can take, if at least one of them may start.
    func available(at level: PriorityLevel) -> Int {
        min(width.available, boxedCaps.map { max(1, $0.value[level].available) } ?? .max)
    }

    mutating func setWidth(_ count: Int) { width.capacity = count }

    /// Limits the number of permits that operations of a level may take.
    ///
    /// - Parameter taken: Returns the weight and the level of each operation that has taken permits. Called only if no
    ///   level was limited before.
    mutating func setCap(_ capacity: Int, at level: PriorityLevel, taken: () -> [(Int, PriorityLevel)]) {
        if boxedCaps == nil {
            var caps = PerLevel(Permits(capacity: .max))
            for (weight, level) in taken() { caps[level].takeRegardless(weight) }
            boxedCaps = Boxed(caps)
        }
        boxedCaps!.value[level].capacity = capacity
    }

    /// Raises each limit of 0 to 1, so that operations of every level can start.
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

    /// Moves the permits of an operation to its new level. The taken permits of that level may then exceed its
    /// capacity.
    mutating func move(_ weight: Int, from: PriorityLevel, to: PriorityLevel) {
        boxedCaps?.value[from].giveBack(weight)
        boxedCaps?.value[to].takeRegardless(weight)
    }
}

// MARK: - Lent permits

extension QueuePermits {
    /// Records that a task waits until an operation has its permits back.
    mutating func awaitReturn(_ entry: Entry, at level: PriorityLevel, _ waiter: Waiter) {
        if returns == nil { returns = Boxed(Returns()) }
        returns!.value.waiters[entry.slot] = waiter
        returns!.value.queue.insert(entry, at: level)
    }

    /// Changes the level of an operation that waits to take its permits back.
    mutating func changeLevel(_ entry: Entry, from: PriorityLevel, to: PriorityLevel) {
        returns!.value.queue.remove(entry, at: from)
        returns!.value.queue.insert(entry, at: to)
    }

    /// Ends an operation's wait for its permits. Returns the waiting task, which continues without permits.
    mutating func cancelReturn(_ entry: Entry, at level: PriorityLevel) -> Waiter {
        returns!.value.queue.remove(entry, at: level)
        return takeWaiter(entry.slot)
    }

    /// Lets the first waiting operation take its permits back. Operations whose weights exceed the capacity continue
    /// one after the other.
    mutating func nextReturn(weight: (_ slot: Int) -> Int) -> (slot: Int, waiter: Waiter)? {
        guard let (slot, level) = firstReturning else { return nil }
        let weight = weight(slot)
        guard width.fitsBack(weight), boxedCaps?.value[level].fitsBack(weight) ?? true else { return nil }
        returns!.value.queue.popFirst(of: level)
        width.takeBack(weight)
        boxedCaps?.value[level].takeBack(weight)
        return (slot, takeWaiter(slot))
    }

    /// The first waiting operation among the levels that are not full.
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

// Permits that bodies lend while they await other operations.

extension SchedulerState {
    /// Records that a task of an executing operation awaits another operation. The operation's permits are free until its
    /// last wait is over. The operation's other tasks continue without permits, because the operation may need these tasks
    /// in order to end. Has no effect if the permits are already lent.
    mutating func lend(_ slot: Slot) {
        let (status, level, weight) = rows.update(slot) { row in
            defer { row.status = .lent }
            return (row.status, row.level, row.weight)
        }
        switch status {
        case .executing:
            permits.giveBack(weight, at: level)
            if changes.isOn { report(.lent, slot) }
        case .returning: effects.resumed.append(permits.cancelReturn(entry(slot), at: level))
        case .lent: break
        case .waiting, .ready: preconditionFailure("an operation that is \(status) began a wait")
        }
    }

    /// Records that a wait within an operation is over. After the last wait, the task continues when the operation has
    /// its permits back. After any other wait, the task continues at once.
    mutating func endWait(_ slot: Slot, _ waiter: Waiter, isLast: Bool) {
        precondition(rows[slot].status == .lent, "a wait ended in an operation that is \(rows[slot].status)")
        if !isLast { return effects.resumed.append(waiter) }
        rows[slot].status = .returning
        permits.awaitReturn(entry(slot), at: rows[slot].level, waiter)
    }

    /// Lets the first waiting operation take its permits back. Such an operation has already started, so it precedes
    /// every start, even on a suspended queue.
    mutating func nextReturn() -> Slot? {
        guard let (slot, waiter) = permits.nextReturn(weight: { [rows] in rows[$0].weight }) else { return nil }
        rows[slot].status = .executing
        effects.resumed.append(waiter)
        if changes.isOn { report(.returned, slot) }
        return slot
    }
}
