/// The policies that decide which operation of a queue starts next, and when.
///
/// A queue creates this value for its configuration, or for the first operation or call that needs a policy. The queue
/// keeps the value from then on.
struct AdmissionPolicies: Sendable {
    var pace: QueuePace
    var limited: LimitedOperations
    /// The order in which queued operations are dropped; nil if the queue drops no operations.
    var dropOrder: DropOrder?

    init(_ policies: QueuePolicies) {
        pace = QueuePace(rate: policies.rate, ageing: policies.ageing, shedsLoad: policies.shedsLoad)
        limited = LimitedOperations(order: policies.order)
        if policies.overflow.drops { dropOrder = DropOrder(policies.overflow) }
    }
}

/// The configured policies of a queue, without its width.
struct QueuePolicies: Sendable {
    var order = OperationOrder.firstInFirstOut
    /// The maximum number of queued operations; `Int.max` without a limit.
    var queuedLimit = Int.max
    var overflow = QueueOverflow.reject
    var rate: OperationRate?
    var ageing: OperationAgeing?
    var shedsLoad = false

    /// Whether the queue needs a clock.
    var needTime: Bool { rate != nil || ageing != nil || shedsLoad }

    /// Whether the queue needs `AdmissionPolicies`. The order needs no `AdmissionPolicies`, because `ReadyQueue`
    /// applies it.
    var changeAdmission: Bool { needTime || overflow.drops }
}

// MARK: - Limits

extension Admission {
    /// Parks a ready operation if a claim at its level or a higher level already waits for its limits. Returns false if
    /// the operation is not parked.
    mutating func park(_ entry: Entry, at level: PriorityLevel) -> Bool {
        guard let set = policies!.value.limited.set(of: entry.slot) else { return false }
        let orderLevel = policies!.value.pace.orderLevel(of: entry.slot, level)
        if policies!.value.limited.mayTry(set, at: orderLevel) { return false }
        policies!.value.limited.park(entry, at: level)
        return true
    }

    /// Removes a ready operation with limits, even if it is parked. If the operation has no limits, returns false and
    /// changes nothing.
    mutating func removeLimited(_ entry: Entry, at level: PriorityLevel) -> Bool {
        guard let set = policies!.value.limited.set(of: entry.slot) else { return false }
        if policies!.value.limited.isParked(entry.slot) {
            policies!.value.limited.unpark(entry, at: level)
        } else {
            ready.remove(entry, at: level)
            policies!.value.limited.noteUnready(entry.slot, set)
        }
        unparkFirst(of: set)
        return true
    }

    /// The first operation of a level in `ready`, and the set of its limits.
    func first(of level: PriorityLevel) -> (slot: Int, set: Int?)? {
        guard let entry = ready.first(of: level) else { return nil }
        return (entry.slot, policies?.value.limited.set(of: entry.slot))
    }

    /// Removes the first operation of a level, because the operation starts. If the operation has limits, records that
    /// it has taken them. `SchedulerState.claimNext` must follow.
    mutating func popFirst(of level: PriorityLevel, _ set: Int?) {
        ready.popFirst(of: level)
        if let set { policies!.value.limited.noteTaken(set) }
    }

    mutating func parkFirst(of level: PriorityLevel) {
        let entry = ready.first(of: level)!
        ready.popFirst(of: level)
        policies!.value.limited.park(entry, at: level)
    }

    /// Makes the first operation with a set of limits ready again, and returns its slot; nil if a claim waits for these
    /// limits, or if no operation is parked. With ageing, does so for each level, because an operation of any level may
    /// start next.
    @discardableResult
    mutating func unparkFirst(of set: Int) -> Int? {
        if policies!.value.limited.isClaimed(set) { return nil }
        if policies!.value.pace.hasAgeing {
            return PriorityLevel.allCases.reduce(nil) { slot, level in unparkFirst(of: set, at: level) ?? slot }
        }
        return policies!.value.limited.highestLevel(of: set).flatMap { unparkFirst(of: set, at: $0) }
    }

    @discardableResult
    mutating func unparkFirst(of set: Int, at level: PriorityLevel) -> Int? {
        guard let entry = policies!.value.limited.unparkFirst(of: set, at: level) else { return nil }
        ready.insert(entry, at: level)
        return entry.slot
    }
}
