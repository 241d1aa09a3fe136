// Selects the next operation in a queue with policies. Handles the events of rates, limits, and limits of levels.

extension SchedulerState {
    private mutating func preparePolicies() {
        if !selection.hasPolicies { selection.optionalPolicies = Boxed(SelectionPolicies(.init(order: order))) }
    }

    /// Records the arrival of an operation. Called if the queue has policies or if the operation's weight is not 1.
    mutating func arriveWithPolicies(_ entry: ReadyQueue.Entry) {
        preparePolicies()
        selection.policies.arrived(entry)
    }

    mutating func leavePolicies(_ slot: Slot, _ number: UInt64, _ status: Status, wasDropped: Bool) {
        let hasStarted = status != .waiting && status != .ready
        let entry = ReadyQueue.Entry(arrival: number, slot: slot)
        selection.policies.left(entry, hasStarted: hasStarted, isInDropOrder: !hasStarted && !wasDropped)
    }
}

// MARK: - Selection

extension SchedulerState {
    /// Takes the limits of a set for the next operation, which competes at a level.
    typealias TakeLimits = (_ set: Int, PriorityLevel) -> LimitedOperations.Attempt

    typealias Candidate = (slot: Slot, level: PriorityLevel, set: Int?, taskLevel: PriorityLevel)

    /// The next operation; nil if no operation may start.
    ///
    /// A level at its limit is skipped. An operation that is too heavy for the free permits of the queue is not
    /// skipped.
    ///
    /// The getter changes nothing. It is mutating, because the compiler would pass a copy of the state (1 KB) to each
    /// call of a getter that is not: Cost, row 24.
    var candidate: Candidate? {
        mutating get {
            var next = selection.highestLevel
            while let level = next {
                let (slot, set) = selection.first(of: level)!
                if permits.isOpen(level, for: rows[slot].weight) { return selected(slot, level, set) }
                next = selection.highestLevel(below: level)
            }
            return nil
        }
    }

    @inline(__always)
    private mutating func selected(_ slot: Slot, _ level: PriorityLevel, _ set: Int?) -> Candidate? {
        guard width.admits(rows[slot].weight) else { return nil }
        let floor = selection.optionalBarriers?.value.floor(of: rows[slot], at: slot) ?? .background
        return (slot, level, set, max(level, floor))
    }

    /// The first ready operation of each level, in the order in which these operations start.
    var firstOfLevels: [(slot: Slot, level: PriorityLevel, set: Int?)] {
        PriorityLevel.allCases.reversed().compactMap { level in
            selection.first(of: level).map { (slot: $0.slot, level: level, set: $0.set) }
        }
    }

    /// Like `nextStart`, in a queue with policies.
    mutating func startByPolicies(at level: PriorityLevel, _ takeLimits: TakeLimits) -> Slot? {
        guard startableCount > 0, let first = candidate, first.taskLevel == level,
            let next = firstWithLimits(first, takeLimits)
        else { return nil }
        return start(next)
    }

    /// Starts the next operation with the limits of the operation that has just ended, which are then not released.
    /// Returns nil if the next operation has other limits.
    ///
    /// - Parameter mayPassOn: Whether nothing but the claim of a set could receive the permits of the set.
    mutating func startWithReleasedLimits(at level: PriorityLevel, mayPassOn: (_ set: Int) -> Bool) -> Slot? {
        guard let set = selection.optionalPolicies?.value.limited.released, mayStartLimited,
            let next = candidate(withLimits: set), next.taskLevel == level, mayPassOn(set)
        else { return nil }
        selection.policies.limited.passOn()
        return start(next)
    }

    /// Starts an operation of a set whose claim has received the limits. Returns nil if the next operation has other
    /// limits. In that case, `claimWasServed` must follow.
    mutating func startServed(_ set: Int, at level: PriorityLevel) -> Slot? {
        guard mayStartLimited, let next = candidate(withLimits: set), next.taskLevel == level else { return nil }
        selection.policies.limited.noteTaken(set)
        return start(next)
    }

    /// The operation that starts next if the limits of a set are free; nil if that operation has other limits.
    private mutating func candidate(withLimits set: Int) -> Candidate? {
        let next = candidate
        if !selection.policies.limited.isClaimed(set) {
            return next.flatMap { $0.set == set && !selection.policies.limited.hasHeld(at: $0.level) ? $0 : nil }
        }
        // The operations of the set are parked.
        guard next != nil || selection.unparkedCount == 0,
            let level = selection.policies.limited.highestLevel(of: set),
            let parked = selection.policies.limited.firstParked(of: set, at: level),
            !selection.policies.limited.hasHeld(at: level),
            permits.isOpen(level, for: rows[parked.slot].weight)
        else { return nil }
        if let next, next.level >= level {
            let rank = order.rank(ofArrival: rows[next.slot].arrival)
            if next.level > level || rank < order.rank(ofArrival: parked.arrival) { return nil }
        }
        return selected(parked.slot, level, set)
    }

    /// `claimNext` must follow if the operation has limits.
    private mutating func start(_ next: Candidate) -> Slot {
        if next.set != nil, selection.policies.limited.isParked(next.slot) {
            selection.policies.limited.unpark(entry(next.slot), at: next.level)
        } else {
            selection.popFirst(of: next.level, next.slot, next.set)
        }
        start(next.slot, taking: rows[next.slot].weight, at: next.level)
        selection.policies.started(ReadyQueue.Entry(arrival: number(of: next.slot), slot: next.slot))
        return next.slot
    }

    /// Returns the first operation that has no limits, or whose limits `takeLimits` takes. Parks the operations before
    /// it, and moves those that have just taken their limits behind those that were served before. Returns nil if there
    /// is no such operation, or if its task needs another level than that of `first`.
    ///
    /// Parks at most 64 operations, because the caller holds a lock. The next worker continues.
    ///
    /// - Parameter first: The current candidate.
    private mutating func firstWithLimits(_ first: Candidate, _ takeLimits: TakeLimits) -> Candidate? {
        var next = first
        for _ in 0..<64 {
            guard let set = next.set else { return next }
            if selection.policies.limited.mayTry(set, at: next.level), take(set, at: next.level, takeLimits) {
                let isBehind = selection.policies.limited.isBehindHeld(
                    next.slot, next.level, set, freePermits: width.available)
                if !isBehind { return next }
                selection.holdFirst(of: next.level, set)
            } else {
                selection.parkFirst(of: next.level)
            }
            guard let other = candidate, other.taskLevel == first.taskLevel else { return nil }
            next = other
        }
        return nil
    }

    /// Takes the limits of the next operation if another worker would start it. Parks the operations at the head whose
    /// limits are not free, so that no worker starts for them.
    mutating func takeLimitsOfNext(_ takeLimits: TakeLimits) {
        let count = min(startableCount, workerLimit)
        guard count > 0, let next = candidate, count > starting[next.taskLevel], let set = next.set,
            !selection.policies.limited.isHeld(set)
        else { return }
        guard let first = firstWithLimits(next, takeLimits), let set = first.set,
            !selection.policies.limited.isHeld(set)
        else { return }
        selection.holdFirst(of: first.level, set)
    }

    /// Lets the claims of operations that have not tried their limits wait in line, before limits are released that are
    /// exhausted. Otherwise, if the queue is full or lacks threads, the set of the ended operation would receive its
    /// limits again and again, because no other set waits for them.
    ///
    /// Parks at most 64 operations, because the caller holds a lock.
    mutating func claimReleasedLimits(_ takeLimits: TakeLimits) {
        guard selection.hasPolicies, selection.policies.limited.releasesForSeveralSets, mayStartLimited
        else { return }
        for _ in 0..<64 {
            guard selection.policies.limited.held.count < min(width.available, workerLimit),
                let (entry, level) = selection.ready.first, let set = limitSet(of: entry.slot),
                permits.isOpen(level, for: rows[entry.slot].weight), width.admits(rows[entry.slot].weight)
            else { return }
            let holder = selection.policies.limited.holder(of: set)
            if let holder, holder.level < level { return }
            let mayTry = holder == nil && selection.policies.limited.mayTry(set, at: level)
            if holder?.level == level || mayTry && take(set, at: level, takeLimits) {
                selection.holdFirst(of: level, set)
            } else {
                selection.parkFirst(of: level)
            }
        }
    }

    /// Takes the limits of a set for its next parked operation, after an operation of the set has started. If they are
    /// not free, the claim waits again at once. Without this rule, the operations of another set that were added earlier
    /// would receive the permits, regardless of shares.
    mutating func claimNext(of set: Int, _ takeLimits: TakeLimits) {
        guard !selection.policies.limited.isClaimed(set),
            let level = selection.policies.limited.highestLevel(of: set)
        else { return }
        if !mayStartLimited {
            selection.unparkFirst(of: set)
        } else if take(set, at: level, takeLimits) {
            _ = selection.holdParked(set)
        }
    }

    /// Requests workers. Requests a wake for the time at which the rate allows the next start.
    mutating func computeEffectsOfPolicies() {
        // An event can compute its effects several times, but the clock plans only the last wake.
        if let unplanned = effects.wake.take() { noteWake(unplanned) }
        let (count, hasRate) = (startableCount, selection.policies.pace.hasRate)
        guard count > 0 || hasRate, let level = candidate?.taskLevel else { return }
        if count > 0 { startWorkers(for: min(count, permits.available(at: level)), at: level) }
        if !hasRate || isHalted || permits.isAwaitedBack || width.available == 0 { return }
        if let wake = selection.policies.pace.nextWake(for: selection.unparkedCount, at: level) { effects.wake = wake }
    }
}

// MARK: - Limits

extension SchedulerState {
    var limited: LimitedOperations? { selection.optionalPolicies?.value.limited }

    /// The number of an operation's set of limits; nil if it has no limits.
    func limitSet(of slot: Slot) -> Int? { selection.optionalPolicies?.value.limited.set(of: slot) ?? nil }

    /// Takes the limits of a set. If the limits are not free, records a claim. Returns whether the limits were taken.
    private mutating func take(_ set: Int, at level: PriorityLevel, _ takeLimits: TakeLimits) -> Bool {
        guard case .waits(let isKeeping) = takeLimits(set, level) else { return true }
        selection.policies.limited.claim(set, at: level, isKeeping: isKeeping)
        return false
    }

    /// Creates a set of limits for operations that are added later.
    mutating func makeLimitSet() -> Int {
        preparePolicies()
        return selection.policies.limited.makeSet()
    }

    /// Sets the limits of an operation that is about to be added at a slot.
    mutating func setLimits(_ set: Int, of slot: Slot) {
        selection.policies.limited.arrive(slot, set)
    }

    mutating func setLimitsLent(_ isLent: Bool, _ slot: Slot) {
        selection.policies.limited.setLent(isLent, slot)
    }

    /// Records the result of another attempt of a waiting claim.
    mutating func claimWasServed(_ set: Int, _ attempt: LimitedOperations.Attempt) {
        if case .waits(let isKeeping) = attempt {
            return selection.policies.limited.noteKept(set, isKeeping: isKeeping)
        }
        if !selection.holdParked(set) { selection.policies.limited.decline(set) }
    }

    /// Gives back the limits that claims hold for operations that cannot start now. A queue that is suspended or has a
    /// width of 0 also gives back the permits that its waiting claims keep. Returns whether there were such claims.
    ///
    /// The waiting claims of a full queue keep their permits. Otherwise, each operation of a queue of width 1 would withdraw
    /// and renew all of them.
    mutating func giveBackLimits() -> Bool {
        if !selection.hasPolicies || !selection.policies.limited.holdsPermits { return false }
        var useless = isHalted || width.capacity == 0 ? selection.policies.limited.keeping.sorted() : []
        for set in useless { selection.withdrawClaim(of: set) }
        let mayStart = mayStartLimited && candidate != nil
        for level in PriorityLevel.allCases {
            while let holder = selection.policies.limited.firstHeld(of: level),
                !mayStart || !permits.isOpen(level, for: rows[holder.entry.slot].weight)
            {
                let set = limitSet(of: holder.entry.slot)!
                useless.append(set)
                selection.withdrawClaim(of: set)
            }
        }
        return !useless.isEmpty
    }

    /// Whether the queue could start an operation if the limits of the operation were free.
    private var mayStartLimited: Bool {
        !isHalted && !permits.isAwaitedBack && width.available > 0 && !isRateReached
    }

    /// Removes and returns the calls that must be made on semaphores; nil if there are none.
    mutating func takeLimitChanges() -> TinyArray<LimitedOperations.Change>? {
        // A mutation would copy the policies if a capture shares them.
        if selection.optionalPolicies?.value.limited.hasChanges != true { return nil }
        return selection.policies.limited.takeChanges()
    }

    /// Removes a set of limits, unless an operation has these limits. Returns whether the set was removed.
    mutating func forgetLimitSet(_ set: Int) -> Bool { selection.policies.limited.forget(set) }
}

// MARK: - Limits of levels

extension SchedulerState {
    mutating func setCap(_ capacity: Int, at level: PriorityLevel) {
        preparePolicies()
        permits.setCap(isDraining ? max(1, capacity) : capacity, at: level) { [rows] in
            rows.all.filter { $0.status == .executing }.map { ($0.weight, $0.level) }
        }
    }
}

// MARK: - Time

extension SchedulerState {
    /// The state of the rate. Without policies, the queue has none.
    var pace: QueuePace { selection.optionalPolicies?.value.pace ?? QueuePace(rate: nil) }

    /// Whether the rate prevents every start now.
    var isRateReached: Bool { selection.optionalPolicies.map { $0.value.pace.startableCount(atMost: 1) == 0 } ?? false }

    mutating func advance(to now: Duration, mayBeOld: Bool = false) {
        selection.optionalPolicies?.value.pace.time.advance(to: now, mayBeOld: mayBeOld)
    }

    mutating func setRate(_ rate: OperationRate?) {
        preparePolicies()
        selection.policies.pace.setRate(rate)
    }

    /// Uses a token of the rate for another attempt. Returns the clock's reading at which the attempt may begin; nil
    /// without a rate.
    mutating func reserveStart() -> Duration? { selection.optionalPolicies?.value.pace.reserveStart() ?? nil }

    /// Puts back the token of an operation that has started.
    mutating func giveBackStart() { selection.optionalPolicies?.value.pace.giveBackStart() }

    mutating func noteWake(_ wake: QueueTime.Wake) { selection.optionalPolicies?.value.pace.time.noteWake(wake) }
}
