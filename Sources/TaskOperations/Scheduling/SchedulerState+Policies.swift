// Selects the next operation in a queue with policies. Handles the events of rates, ageing, limits, and limits of
// levels.

extension SchedulerState {
    private mutating func preparePolicies() {
        if admission.policies == nil { admission.policies = Boxed(AdmissionPolicies(QueuePolicies(order: order))) }
    }

    /// Records the arrival of an operation. Called if the queue has policies or if the operation's weight is not 1.
    mutating func arriveWithPolicies(_ entry: ReadyQueue.Entry) {
        preparePolicies()
        admission.policies!.value.dropOrder?.insert(entry)
        admission.policies!.value.pace.arrive(entry.slot)
    }

    mutating func leavePolicies(_ slot: Slot, _ number: UInt64, _ status: Status, wasDropped: Bool) {
        let hasStarted = status != .waiting && status != .ready
        let entry = ReadyQueue.Entry(arrival: number, slot: slot)
        if !hasStarted, !wasDropped { admission.policies!.value.dropOrder?.remove(entry) }
        admission.policies!.value.pace.leave(slot)
        admission.policies!.value.limited.leave(slot, hasStarted: hasStarted)
    }
}

// MARK: - Selection

extension SchedulerState {
    typealias Selection = (slot: Slot, level: PriorityLevel, set: Int?, taskLevel: PriorityLevel)

    /// The next operation; nil if no operation may start.
    ///
    /// A level at its limit is skipped. An operation that is too heavy for the free permits of the queue is not
    /// skipped.
    var selection: Selection? {
        if hasAgeing {
            for (slot, level, set) in firstOfLevels {
                if permits.isOpen(level, for: records[slot].weight) { return selected(slot, level, set) }
            }
            return nil
        }
        for level in PriorityLevel.allCases.reversed() {
            guard let (slot, set) = admission.first(of: level) else { continue }
            if permits.isOpen(level, for: records[slot].weight) { return selected(slot, level, set) }
        }
        return nil
    }

    private func selected(_ slot: Slot, _ level: PriorityLevel, _ set: Int?) -> Selection? {
        width.admits(records[slot].weight) ? (slot, level, set, max(level, floor(of: slot))) : nil
    }

    /// The first ready operation of each level, in the order in which these operations start.
    var firstOfLevels: [(slot: Slot, level: PriorityLevel, set: Int?)] {
        let all = PriorityLevel.allCases.reversed().compactMap { level in
            admission.first(of: level).map { (slot: $0.slot, level: level, set: $0.set) }
        }
        return hasAgeing ? all.sorted { comesBefore(($0.slot, $0.level), ($1.slot, $1.level)) } : all
    }

    /// Whether ageing lets one operation start before another.
    private func comesBefore(
        _ one: (slot: Slot, level: PriorityLevel), _ other: (slot: Slot, level: PriorityLevel)
    ) -> Bool {
        let (level, otherLevel) = (orderLevel(of: one.slot, one.level), orderLevel(of: other.slot, other.level))
        return level == otherLevel ? records[one.slot].arrival < records[other.slot].arrival : level > otherLevel
    }

    /// The level at which an operation competes now.
    private func orderLevel(of slot: Slot, _ level: PriorityLevel) -> PriorityLevel {
        hasAgeing ? admission.policies!.value.pace.orderLevel(of: slot, level) : level
    }

    /// Like `nextStart`, in a queue with policies.
    mutating func startByPolicies(
        at level: PriorityLevel, _ takeLimits: (_ set: Int, PriorityLevel) -> Bool
    ) -> Slot? {
        guard startableCount > 0, let (slot, ownLevel, set, _) = firstWithLimits(at: level, takeLimits) else {
            return nil
        }
        admission.popFirst(of: ownLevel, set)
        start(slot, taking: records[slot].weight, at: ownLevel)
        admission.policies!.value.pace.noteStart()
        let entry = ReadyQueue.Entry(arrival: number(of: slot), slot: slot)
        admission.policies!.value.dropOrder?.remove(entry)
        return slot
    }

    /// Returns the first operation that has no limits, or whose limits `takeLimits` takes. Parks the operations before
    /// it. Returns nil if there is no such operation, or if its task needs another level.
    ///
    /// Parks at most 64 operations, because the caller holds a lock. The next worker continues.
    private mutating func firstWithLimits(
        at level: PriorityLevel, _ takeLimits: (_ set: Int, PriorityLevel) -> Bool
    ) -> Selection? {
        for _ in 0..<64 {
            guard let next = selection, next.taskLevel == level else { return nil }
            guard let set = next.set else { return next }
            let agedLevel = orderLevel(of: next.slot, next.level)
            let mayTry = admission.policies!.value.limited.mayTry(set, at: agedLevel)
            if mayTry, hasAgeing, unparkFirst(of: set, before: (next.slot, next.level)) { continue }
            if mayTry, take(set, at: agedLevel, takeLimits) { return next }
            admission.parkFirst(of: next.level)
        }
        return nil
    }

    /// Parks the operations at the head whose limits are not free, so that no worker starts for them.
    ///
    /// - Parameter areFree: Returns whether each semaphore of a set has a free permit. If a semaphore has none, enters
    ///   its line.
    mutating func parkBehindLimits(_ areFree: (_ set: Int, PriorityLevel) -> Bool) {
        guard startableCount > 0, let next = selection, startableCount > starting[next.taskLevel], let set = next.set,
            !admission.policies!.value.limited.isOffered(set)
        else { return }
        _ = firstWithLimits(at: next.taskLevel, areFree)
    }

    mutating func undoStartByPolicies(_ slot: Slot) {
        let entry = ReadyQueue.Entry(arrival: number(of: slot), slot: slot)
        admission.policies!.value.limited.undoStart(slot)
        admission.policies!.value.pace.undoStart()
        admission.policies!.value.dropOrder?.insert(entry)
    }

    /// Requests workers. Requests a wake for the time at which the rate allows the next start.
    mutating func computeEffectsOfPolicies() {
        if let level = nextLevel { startWorkers(for: min(startableCount, permits.available(at: level)), at: level) }
        if isHalted || permits.isAwaitedBack || width.available == 0 { return }
        if let time = admission.policies!.value.pace.nextWake(for: admission.ready.count) { effects.wakeTime = time }
    }
}

// MARK: - Limits

extension SchedulerState {
    var limited: LimitedOperations? { admission.policies?.value.limited }

    /// Takes the limits of a set. If the limits are not free, records a claim. Returns whether the limits were taken.
    private mutating func take(
        _ set: Int, at level: PriorityLevel, _ takeLimits: (_ set: Int, PriorityLevel) -> Bool
    ) -> Bool {
        if takeLimits(set, level) { return true }
        admission.policies!.value.limited.claim(set, at: level)
        return false
    }

    /// Unparks an operation that has aged beyond the level of its claim, and must therefore start before another
    /// operation of its set. Returns false if there is none. An operation of a level at its limit stays parked.
    private mutating func unparkFirst(of set: Int, before other: (slot: Slot, level: PriorityLevel)) -> Bool {
        if !admission.policies!.value.limited.isClaimed(set) { return false }
        let older = PriorityLevel.allCases.first { level in
            guard let first = admission.policies!.value.limited.firstParked(of: set, at: level) else { return false }
            return permits.isOpen(level, for: records[first.slot].weight) && comesBefore((first.slot, level), other)
        }
        guard let older else { return false }
        admission.unparkFirst(of: set, at: older)
        return true
    }

    /// Creates a set of limits for operations that are added later.
    mutating func makeLimitSet() -> Int {
        preparePolicies()
        return admission.policies!.value.limited.makeSet()
    }

    /// Sets the limits of an operation that is about to be added at a slot.
    mutating func setLimits(_ set: Int, of slot: Slot) {
        admission.policies!.value.limited.arrive(slot, set)
    }

    mutating func setLimitsLent(_ isLent: Bool, _ slot: Slot) {
        admission.policies!.value.limited.setLent(isLent, slot)
    }

    mutating func limitsWereOffered(_ set: Int) {
        admission.policies!.value.limited.noteOffer(set)
        admission.unparkFirst(of: set)
    }

    /// Declines every offer of limits, except the offer to the operation that starts next. Otherwise, a limit could be
    /// kept free for an operation that cannot start. Returns whether an offer was declined.
    mutating func declineOffers() -> Bool {
        guard let offered = admission.policies?.value.limited.offered, !offered.isEmpty else { return false }
        let next = nextLevel == nil ? nil : selection?.set
        let declined = offered.filter { $0 != next }
        for set in declined {
            admission.policies!.value.limited.decline(set)
            admission.unparkFirst(of: set)
        }
        return !declined.isEmpty
    }

    mutating func takeLimitChanges() -> TinyArray<LimitedOperations.Change> {
        admission.policies == nil ? TinyArray() : admission.policies!.value.limited.takeChanges()
    }

    /// Removes a set of limits, unless an operation has these limits. Returns whether the set was removed.
    mutating func forgetLimitSet(_ set: Int) -> Bool { admission.policies!.value.limited.forget(set) }
}

// MARK: - Limits of levels

extension SchedulerState {
    mutating func setCap(_ capacity: Int, at level: PriorityLevel) {
        preparePolicies()
        permits.setCap(isDraining ? max(1, capacity) : capacity, at: level) { [records] in
            records.all.filter { $0.status == .executing }.map { ($0.weight, $0.level) }
        }
    }
}

// MARK: - Time

extension SchedulerState {
    /// The state of the rate and of ageing. Without policies, the queue has neither.
    var pace: QueuePace { admission.policies?.value.pace ?? QueuePace(rate: nil, ageing: nil) }

    /// Whether operations are raised as they wait. Reading `pace` would copy it.
    @inline(__always)
    private var hasAgeing: Bool { admission.policies?.value.pace.hasAgeing ?? false }

    /// Whether the rate prevents every start now.
    var isRateReached: Bool { pace.startableCount(atMost: 1) == 0 }

    mutating func advance(to now: Duration, mayBeOld: Bool = false) {
        admission.policies?.value.pace.advance(to: now, mayBeOld: mayBeOld)
    }

    mutating func setRate(_ rate: OperationRate?) {
        preparePolicies()
        admission.policies!.value.pace.setRate(rate)
    }

    /// Uses a token of the rate for another attempt. Returns the time at which the attempt may begin; nil without a
    /// rate.
    mutating func reserveStart() -> Duration? { admission.policies?.value.pace.reserveStart() ?? nil }

    /// Puts back the token of an operation that has started.
    mutating func giveBackStart() { admission.policies?.value.pace.undoStart() }

    mutating func noteWake() { admission.policies?.value.pace.noteWake() }
}
