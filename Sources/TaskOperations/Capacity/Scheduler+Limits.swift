// Limits of operations. A limit is a semaphore from which an operation takes permits when it starts. It releases the
// permits when it has ended.

/// The sets of semaphores that limit operations of a queue. The state numbers the sets.
final class QueueLimits: @unchecked Sendable {
    // One queue owns this object, and accesses it only under the lock of its scheduler.

    /// The claim of each set, by number.
    @exclusivity(unchecked) fileprivate var claims: [LimitClaim?] = []
    @exclusivity(unchecked) private var sets: [[LimitRequest]: Int] = [:]
    /// The number of the set that was found last.
    @exclusivity(unchecked) private var lastSet = 0
    /// The effects on semaphores, to perform after the lock of the scheduler is released.
    @exclusivity(unchecked) fileprivate var effects = SemaphoreEffects()

    /// The number of the set of some requests; nil if there is no such set.
    fileprivate func set(of requests: [LimitRequest]) -> Int? {
        // Most operations have the same limits as the last one, and need no search: Cost, row 21.
        if let last = claim(of: lastSet), last.requests == requests { return lastSet }
        guard let set = sets[requests] else { return nil }
        lastSet = set
        return set
    }

    fileprivate func claim(of set: Int) -> LimitClaim? { set < claims.count ? claims[set] : nil }

    fileprivate func insert(_ claim: LimitClaim) {
        while claims.count <= claim.set { claims.append(nil) }
        claims[claim.set] = claim
        sets[claim.requests] = claim.set
    }

    fileprivate func forget(_ set: Int) {
        guard let claim = claims[set].take() else { return }
        sets[claim.requests] = nil
        claim.withdraw(&effects)
        effects.keep(claim)
    }

    fileprivate var isEmpty: Bool { sets.isEmpty }

    /// Takes the permits of a set for an operation that competes at a level. If they are not free, its claim waits.
    fileprivate func take(_ set: Int, at level: PriorityLevel) -> LimitedOperations.Attempt {
        let claim = claims[set]!
        return claim.take(at: level, &effects) ? .taken : .waits(isKeeping: claim.isKeeping)
    }

    fileprivate func perform(_ change: LimitedOperations.Change, _ state: inout Scheduler.State) {
        switch change {
        case .release(let set): claims[set]!.release(&effects)
        case .withdraw(let set): claims[set]!.withdraw(&effects)
        case .forget(let set): if state.forgetLimitSet(set) { forget(set) }
        }
    }

    /// Removes and returns the effects; nil if there are none.
    fileprivate func takeEffects() -> SemaphoreEffects? {
        if effects.isEmpty { return nil }
        defer { effects = SemaphoreEffects() }
        return effects
    }
}

extension Scheduler: LimitClaimant {
    nonisolated func claimWasServed(_ claim: LimitClaim) -> ClaimEffects {
        withEffects { $0.claimWasServed(claim) }
    }

    nonisolated func change(
        _ claim: LimitClaim, _ change: @escaping @Sendable (LimitClaim, inout SemaphoreEffects) -> Void
    ) -> ClaimEffects {
        withEffects { core in
            if core.limits == nil { core.limits = QueueLimits() }
            change(claim, &core.limits!.effects)
        }
    }

    /// Applies an event to the state, and returns its effects.
    private nonisolated func withEffects(_ event: (inout SchedulerCore) -> Void) -> ClaimEffects {
        var effects = Effects()
        withCore(&effects, event)
        let semaphores = effects.takeSemaphores()
        if effects.isEmpty { return ClaimEffects(semaphores: semaphores) }
        return ClaimEffects(semaphores: semaphores) { [effects] in self.perform(effects) }
    }

    /// Records that an executing operation lends its limits or has taken them back. The operation is in the queue as
    /// long as its body executes.
    nonisolated func setLimitsLent(_ isLent: Bool, of operation: AnyTaskOperation) {
        withCore { core in core.state.setLimitsLent(isLent, core.slot(of: operation)!) }
    }
}

extension SchedulerCore {
    /// Returns the number of an operation's set of limits. Creates the set if it does not exist.
    mutating func limitSet(of operation: AnyTaskOperation, claimedBy scheduler: Scheduler) -> Int {
        let requests = operation.limitRequests
        if limits == nil { limits = QueueLimits() }
        if let set = limits!.set(of: requests) { return set }
        let set = state.makeLimitSet()
        limits!.insert(LimitClaim(of: scheduler, set: set, requests))
        return set
    }

    /// Starts the next operation of a level in a queue with limits. Returns its slot; nil if no operation may start.
    mutating func nextLimitedStart(at level: PriorityLevel, in scheduler: Scheduler) -> Int? {
        // Otherwise the workers write the memory of the limit in turn: Cost, row 22.
        let passedOn = state.startWithReleasedLimits(at: level) { limits!.claims[$0]!.isUndisputed }
        // A withdrawal must not follow a claim that the start makes.
        updateLimits(of: scheduler)
        guard let slot = passedOn ?? takeLimitsAndStart(at: level) else { return nil }
        if let set = state.limitSet(of: slot) { claimNext(of: set) }
        return slot
    }

    private mutating func claimNext(of set: Int) { state.claimNext(of: set) { limits!.take($0, at: $1) } }

    private mutating func takeLimitsAndStart(at level: PriorityLevel) -> Int? {
        let slot = state.nextStart(at: level) { limits!.take($0, at: $1) }
        if let slot, let set = state.limitSet(of: slot) { limits!.claims[set]!.transfer() }
        return slot
    }

    /// Continues with a claim that a limit has served.
    ///
    /// - Parameter level: The level at which an operation of the claim may start; nil if it must not start.
    /// - Returns: The slot of the operation that was started; nil if none was started.
    @discardableResult
    mutating func claimWasServed(_ claim: LimitClaim, startAt level: PriorityLevel? = nil) -> Int? {
        // The set may have been removed with its last operation, or the claim withdrawn.
        guard limits?.claim(of: claim.set) === claim, claim.isWaiting else { return nil }
        let isTaken = claim.take(&limits!.effects)
        if isTaken, let level, let slot = state.startServed(claim.set, at: level) {
            claim.transfer()
            claimNext(of: claim.set)
            return slot
        }
        state.claimWasServed(claim.set, isTaken ? .taken : .waits(isKeeping: claim.isKeeping))
        return nil
    }

    /// Changes semaphores as the state requests, and tells the state which of its claims were served.
    mutating func updateLimits(of scheduler: Scheduler) {
        state.claimReleasedLimits { limits!.take($0, at: $1) }
        while true {
            state.takeLimitChanges()?.forEach { limits!.perform($0, &state) }
            if limits!.effects.served.isEmpty { return }
            guard let claim = limits!.effects.nextServed(of: scheduler) else { return }
            claimWasServed(claim)
        }
    }

    /// Decides on the effects of a queue with limits. Gives back the permits that the queue cannot use now, and repeats,
    /// because another claim of the queue may receive these permits.
    mutating func computeEffectsWithLimits(of scheduler: Scheduler) {
        updateLimits(of: scheduler)
        state.takeLimitsOfNext { limits!.take($0, at: $1) }
        // Takes no limits again in this event: the queue could take and give back the same permits forever.
        repeat {
            updateLimits(of: scheduler)
            state.computeEffects { $0.permitWasReturned() }
        } while state.giveBackLimits()
    }

    /// Removes and returns the effects on semaphores; nil if there are none. Called at the end of an event of a queue with
    /// limits.
    mutating func takeSemaphoreEffects() -> SemaphoreEffects? {
        defer { if limits!.isEmpty { limits = nil } }
        return limits!.takeEffects()
    }
}
