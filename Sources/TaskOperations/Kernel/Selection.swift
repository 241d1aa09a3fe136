/// The ready operations of a queue, and the rules that decide which of them starts next.
///
/// A plain queue has neither barriers nor policies, and the first entry of `ready` starts next.
struct Selection: Sendable {
    typealias Entry = ReadyQueue.Entry

    /// The ready operations that no barrier holds back. An operation with limits is parked if its limits are not free
    /// at its turn.
    var ready: ReadyQueue
    /// Nil until a barrier arrives, or a wait until the queue is empty raises the operations.
    var optionalBarriers: Boxed<QueueBarriers>?
    /// Nil if only the levels and the order decide which operation starts.
    var optionalPolicies: Boxed<SelectionPolicies>?

    init(_ configuration: borrowing TaskOperationQueue.Configuration) {
        ready = ReadyQueue(order: configuration.order)
        if configuration.needsPolicies { optionalPolicies = Boxed(SelectionPolicies(configuration)) }
    }

    var hasBarriers: Bool { optionalBarriers != nil }

    var hasPolicies: Bool { optionalPolicies != nil }

    // A coroutine would copy less than the getters of the next two properties. However, in a debug build of Swift 6.3, a
    // caller that reads a property of the yielded value reads it after the coroutine has freed its frame.

    /// The barriers of a queue that has barriers.
    var barriers: QueueBarriers {
        get { optionalBarriers!.value }
        _modify { yield &optionalBarriers!.value }
    }

    /// The policies of a queue that has policies.
    var policies: SelectionPolicies {
        get { optionalPolicies!.value }
        _modify { yield &optionalPolicies!.value }
    }

    mutating func insert(_ entry: Entry, at level: PriorityLevel, isBarrier: Bool) {
        if hasBarriers, !admits(entry, isBarrier) { return }
        if hasPolicies, park(entry, at: level) { return }
        ready.insert(entry, at: level)
    }

    mutating func remove(_ entry: Entry, at level: PriorityLevel, isBarrier: Bool) {
        if hasBarriers, !barriers.line.admits(entry.arrival) {
            if !isBarrier { barriers.heldBack.remove(RankedSlot(entry, .firstInFirstOut)) }
            return
        }
        if hasPolicies, removeLimited(entry, at: level) { return }
        ready.remove(entry, at: level)
    }
}

// MARK: - Barriers

extension Selection {
    /// Returns whether barriers let a ready operation start. If they do not, holds the operation back.
    private mutating func admits(_ entry: Entry, _ isBarrier: Bool) -> Bool {
        if barriers.line.admits(entry.arrival) { return true }
        if !isBarrier { barriers.heldBack.insert(RankedSlot(entry, .firstInFirstOut)) }
        return false
    }

    /// Records that an operation has arrived. The operation need not be ready.
    mutating func operationArrived(_ entry: Entry, isBarrier: Bool) {
        if isBarrier {
            barriers.line.barrierArrived(entry.arrival, slot: entry.slot)
        } else {
            barriers.line.operationArrived()
        }
    }

    /// Records that an operation has ended. After the end of the first barrier, the operations up to the next barrier
    /// may start. A barrier may start when it waits for no operation.
    ///
    /// - Parameter readyLevel: Returns the level of the operation at a slot; nil if the operation is not ready.
    mutating func operationEnded(_ arrival: UInt64, isBarrier: Bool, readyLevel: (_ slot: Int) -> PriorityLevel?) {
        let (first, open) = (barriers.line.first?.slot, barriers.line.open?.slot)
        if isBarrier {
            barriers.line.barrierEnded(arrival)
        } else {
            barriers.line.operationEnded(arrival)
        }
        if first != barriers.line.first?.slot { releaseHeldBack(readyLevel) }
        if let opened = barriers.line.open, opened.slot != open, let level = readyLevel(opened.slot) {
            insert(Entry(arrival: opened.arrival, slot: opened.slot), at: level, isBarrier: true)
        }
    }

    private mutating func releaseHeldBack(_ readyLevel: (_ slot: Int) -> PriorityLevel?) {
        while let held = barriers.heldBack.first, barriers.line.admits(held.rank) {
            barriers.heldBack.removeFirst()
            if let level = readyLevel(held.slot) {
                insert(Entry(arrival: held.rank, slot: held.slot), at: level, isBarrier: false)
            }
        }
    }
}

/// The policies that decide which operation of a queue starts next, and when.
///
/// A queue creates this value for its configuration, or for the first operation or call that needs a policy. The queue
/// keeps the value from then on.
struct SelectionPolicies: Sendable {
    var pace: QueuePace
    var limited: LimitedOperations
    /// The order in which queued operations are dropped; nil if the queue drops no operations.
    var dropOrder: DropOrder?

    init(_ configuration: borrowing TaskOperationQueue.Configuration) {
        pace = QueuePace(rate: configuration.rate)
        limited = LimitedOperations(order: configuration.order)
        if configuration.overflow.drops { dropOrder = DropOrder() }
    }

    mutating func arrived(_ entry: ReadyQueue.Entry) { dropOrder?.insert(entry) }

    mutating func started(_ entry: ReadyQueue.Entry) {
        pace.noteStart()
        dropOrder?.remove(entry)
    }

    mutating func left(_ entry: ReadyQueue.Entry, hasStarted: Bool, isInDropOrder: Bool) {
        if isInDropOrder { dropOrder?.remove(entry) }
        limited.leave(entry.slot, hasStarted: hasStarted)
    }
}

// MARK: - Limits

extension Selection {
    /// Parks a ready operation if a claim at its level or a higher level already waits for its limits. If the claim holds
    /// the limits for an operation of the same level that arrived later, parks that operation instead. Returns false if
    /// the operation must be inserted into `ready`.
    mutating func park(_ entry: Entry, at level: PriorityLevel) -> Bool {
        guard let set = policies.limited.set(of: entry.slot) else { return false }
        if policies.limited.passHold(of: set, to: entry, at: level) { return true }
        if policies.limited.mayTry(set, at: level) { return false }
        policies.limited.park(entry, at: level)
        return true
    }

    /// Removes a ready operation with limits, even if it is parked. If the operation has no limits, returns false and
    /// changes nothing.
    mutating func removeLimited(_ entry: Entry, at level: PriorityLevel) -> Bool {
        guard let set = policies.limited.set(of: entry.slot) else { return false }
        if policies.limited.isParked(entry.slot) {
            policies.limited.unpark(entry, at: level)
        } else if policies.limited.holder(of: set)?.entry == entry {
            policies.limited.decline(set)
        } else {
            ready.remove(entry, at: level)
        }
        unparkFirst(of: set)
        return true
    }

    /// The number of operations that are ready and not parked.
    var unparkedCount: Int { ready.count + (optionalPolicies?.value.limited.held.count ?? 0) }

    /// The highest level of an operation that is ready and not parked.
    var highestLevel: PriorityLevel? { highestLevel { $0.highestLevel } }

    func highestLevel(below level: PriorityLevel) -> PriorityLevel? {
        highestLevel { $0.highestLevel(below: level) }
    }

    private func highestLevel(_ level: (borrowing ReadyQueue) -> PriorityLevel?) -> PriorityLevel? {
        guard let held = optionalPolicies.flatMap({ level($0.value.limited.held) }) else { return level(ready) }
        return level(ready).map { max($0, held) } ?? held
    }

    /// The first operation of a level that is ready and not parked, and the set of its limits.
    func first(of level: PriorityLevel) -> (slot: Int, set: Int?)? {
        var first = ready.first(of: level)
        if let served = optionalPolicies?.value.limited.firstHeld(of: level)?.entry {
            let order = ready.order
            // An operation that has not tried its limits tries them at its place. See `isBehindHeld`.
            let isNext = first.map { order.rank(ofArrival: served.arrival) < order.rank(ofArrival: $0.arrival) } ?? true
            if isNext { first = served }
        }
        return first.map { ($0.slot, optionalPolicies?.value.limited.set(of: $0.slot)) }
    }

    /// Removes the first operation of a level, because the operation starts. If the operation has limits, records that
    /// it has taken them. `SchedulerState.claimNext` must follow.
    mutating func popFirst(of level: PriorityLevel, _ slot: Int, _ set: Int?) {
        let holder = set.flatMap { policies.limited.noteTaken($0) }
        if holder?.entry.slot == slot { return }
        ready.popFirst(of: level)
        if let holder { ready.insert(holder.entry, at: holder.level) }
    }

    /// Records that the claim of a set holds the limits for the first operation of a level in `ready`. If the claim holds
    /// them for an operation that precedes it, parks the operation.
    mutating func holdFirst(of level: PriorityLevel, _ set: Int) {
        let entry = ready.popFirst(of: level)
        if policies.limited.passHold(of: set, to: entry, at: level) { return }
        if policies.limited.isHeld(set) {
            policies.limited.park(entry, at: level)
        } else {
            policies.limited.hold(set, for: entry, at: level)
        }
    }

    /// Records that the claim of a set holds the limits. Unparks the first operation of the set. Returns false if no
    /// operation of the set is parked.
    mutating func holdParked(_ set: Int) -> Bool {
        guard let level = policies.limited.highestLevel(of: set),
            let parked = policies.limited.firstParked(of: set, at: level)
        else { return false }
        // An earlier operation of the set may have been unparked before, while the queue was full.
        if let first = ready.first(of: level), policies.limited.set(of: first.slot) == set,
            ready.order.rank(ofArrival: first.arrival) < ready.order.rank(ofArrival: parked.arrival)
        {
            holdFirst(of: level, set)
            return true
        }
        _ = policies.limited.unparkFirst(of: set, at: level)
        policies.limited.hold(set, for: parked, at: level)
        return true
    }

    /// Withdraws the claim of a set that the queue cannot use now.
    mutating func withdrawClaim(of set: Int) {
        if let holder = policies.limited.decline(set) { ready.insert(holder.entry, at: holder.level) }
        unparkFirst(of: set)
    }

    mutating func parkFirst(of level: PriorityLevel) {
        let entry = ready.first(of: level)!
        ready.popFirst(of: level)
        policies.limited.park(entry, at: level)
    }

    /// Makes the first operation with a set of limits ready again, and returns its slot; nil if a claim waits for these
    /// limits, or if no operation is parked.
    @discardableResult
    mutating func unparkFirst(of set: Int) -> Int? {
        if policies.limited.isClaimed(set) { return nil }
        return policies.limited.highestLevel(of: set).flatMap { unparkFirst(of: set, at: $0) }
    }

    @discardableResult
    mutating func unparkFirst(of set: Int, at level: PriorityLevel) -> Int? {
        guard let entry = policies.limited.unparkFirst(of: set, at: level) else { return nil }
        ready.insert(entry, at: level)
        return entry.slot
    }
}
