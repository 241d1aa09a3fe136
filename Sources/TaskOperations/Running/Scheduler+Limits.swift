// Limits of operations. A limit is a semaphore from which an operation takes a permit when it starts. It releases the
// permit when it has ended.

/// The sets of semaphores that limit operations of a queue. The state numbers the sets.
struct QueueLimits: Sendable {
    fileprivate var claims: [Int: LimitClaim] = [:]
    fileprivate var sets: [[ObjectIdentifier]: Int] = [:]
    /// The effects on semaphores, to perform after the lock of the scheduler is released.
    fileprivate var effects = SemaphoreEffects()

    fileprivate mutating func forget(_ set: Int) {
        guard let claim = claims.removeValue(forKey: set) else { return }
        sets[claim.limits.map { ObjectIdentifier($0) }] = nil
        claim.withdraw(&effects)
    }
}

extension Scheduler: LimitClaimant {
    nonisolated func limitsWereOffered(to claim: LimitClaim) {
        withCore { $0.noteOffer(to: claim) }
    }

    nonisolated func change(
        _ claim: LimitClaim, _ change: @escaping @Sendable (LimitClaim, inout SemaphoreEffects) -> Void
    ) {
        withCore { core in
            if core.limits == nil { core.limits = Boxed(QueueLimits()) }
            change(claim, &core.limits!.value.effects)
        }
    }

    /// Records that an executing operation lends its limits or has taken them back. The operation is in the queue as
    /// long as its body executes.
    nonisolated func setLimitsLent(_ isLent: Bool, of operation: AnyTaskOperation) {
        withCore { core in core.state.setLimitsLent(isLent, core.slot(of: operation)!) }
    }

    /// The number of claimed sets of limits.
    nonisolated var claimCount: Int {
        withCore { core in
            core.state.limited.map { limited in limited.sets.slots.count { limited.isClaimed($0) } } ?? 0
        }
    }
}

extension SchedulerCore {
    /// Returns the number of an operation's set of limits. Creates the set if it does not exist.
    mutating func limitSet(of operation: AnyTaskOperation, claimedBy scheduler: Scheduler) -> Int {
        let semaphores = operation.limits
        let key = semaphores.map { ObjectIdentifier($0) }
        if let set = limits?.value.sets[key] { return set }
        let set = state.makeLimitSet()
        if limits == nil { limits = Boxed(QueueLimits()) }
        limits!.value.claims[set] = LimitClaim(of: scheduler, set: set, limits: semaphores)
        limits!.value.sets[key] = set
        return set
    }

    /// Starts the next operation of a level in a queue with limits. Returns its slot; nil if no operation may start.
    mutating func nextLimitedStart(at level: PriorityLevel) -> Int? {
        withClaims(isTrial: false) { state, takeLimits in state.nextStart(at: level, takeLimits: takeLimits) }
    }

    /// Calls a function with the state and with the way to take the limits of a set.
    ///
    /// - Parameter isTrial: Whether free permits stay where they are.
    private mutating func withClaims<Result>(
        isTrial: Bool, _ body: (inout Scheduler.State, _ takeLimits: (Int, PriorityLevel) -> Bool) -> Result
    ) -> Result {
        let claims = limits!.value.claims
        var effects = SemaphoreEffects()
        swap(&effects, &limits!.value.effects)
        defer { limits!.value.effects = effects }
        return body(&state) { set, level in claims[set]!.take(at: level, isTrial: isTrial, &effects) }
    }

    mutating func noteOffer(to claim: LimitClaim) {
        // The set may have been removed with its last operation.
        if limits?.value.claims[claim.set] === claim { state.limitsWereOffered(claim.set) }
    }

    /// Changes semaphores as the state requests, and reports offers to the state.
    mutating func updateLimits(of scheduler: Scheduler) {
        while true {
            state.takeLimitChanges().forEach { perform($0) }
            guard let claim = limits!.value.effects.nextOffer(to: scheduler) else { return }
            noteOffer(to: claim)
        }
    }

    private mutating func perform(_ change: LimitedOperations.Change) {
        switch change {
        case .release(let set, let isNeededNext):
            limits!.value.claims[set]!.release(isNeededNext: isNeededNext, &limits!.value.effects)
        case .withdraw(let set): limits!.value.claims[set]!.withdraw(&limits!.value.effects)
        case .forget(let set): if state.forgetLimitSet(set) { limits!.value.forget(set) }
        }
    }

    /// Decides on the effects of a queue with limits. Declines the offers that the queue cannot use, and repeats,
    /// because declined offers may cause new ones.
    ///
    /// - Returns: The effects on semaphores, to perform after unlocking; nil if there are none.
    mutating func computeEffectsWithLimits(of scheduler: Scheduler) -> SemaphoreEffects? {
        repeat {
            updateLimits(of: scheduler)
            withClaims(isTrial: true) { state, areFree in state.parkBehindLimits(areFree) }
            state.computeEffects { $0.permitWasReturned() }
        } while state.declineOffers()
        defer {
            if limits!.value.claims.isEmpty { limits = nil } else { limits!.value.effects = SemaphoreEffects() }
        }
        return limits!.value.effects.isEmpty ? nil : limits!.value.effects
    }
}
