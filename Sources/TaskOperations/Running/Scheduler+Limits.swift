// Limits of operations: semaphores that are taken as they start, and released when they have ended.

/// The sets of semaphores that operations of a queue have as limits, by the numbers that the state gives them.
struct QueueLimits: Sendable {
    fileprivate var claims: [Int: LimitClaim] = [:]
    fileprivate var sets: [[ObjectIdentifier]: Int] = [:]
    /// What to carry out after the scheduler is left.
    fileprivate var effects = SemaphoreEffects()

    @inline(__always)
    var isInUse: Bool { !claims.isEmpty || !effects.isEmpty }

    fileprivate mutating func forget(_ set: Int) {
        guard let claim = claims.removeValue(forKey: set) else { return }
        sets[claim.limits.map { ObjectIdentifier($0) }] = nil
        claim.withdraw(&effects)
    }
}

extension Scheduler: LimitClaimant {
    /// The number of an operation's set of limits.
    func limitSet(of operation: AnyTaskOperation) -> Int {
        let semaphores = operation.limits
        let key = semaphores.map { ObjectIdentifier($0) }
        if let set = limits.sets[key] { return set }
        let set = state.makeLimitSet()
        limits.claims[set] = LimitClaim(of: self, set: set, limits: semaphores)
        limits.sets[key] = set
        return set
    }

    func nextLimitedStart(at level: PriorityLevel) -> Int? {
        let claims = limits.claims
        var effects = SemaphoreEffects()
        swap(&effects, &limits.effects)
        defer { limits.effects = effects }
        return state.nextStart(at: level) { set, level in claims[set]!.take(at: level, &effects) }
    }

    nonisolated func limitsWereOffered(to claim: LimitClaim) {
        apply(claim) { scheduler, claim in scheduler.noteOffer(to: claim) }
    }

    nonisolated func change(
        _ claim: LimitClaim, _ change: @escaping @Sendable (LimitClaim, inout SemaphoreEffects) -> Void
    ) {
        apply((claim, change)) { scheduler, input in input.1(input.0, &scheduler.limits.effects) }
    }

    /// An executing operation lends its limits, or has taken them back. It is in the queue as long as its body executes.
    nonisolated func setLimitsLent(_ isLent: Bool, of operation: AnyTaskOperation) {
        apply((isLent, operation)) { scheduler, input in
            scheduler.state.setLimitsLent(input.0, scheduler.slot(of: input.1)!)
        }
    }

    private func noteOffer(to claim: LimitClaim) {
        // The last operation of the set may have left.
        if limits.claims[claim.set] === claim { state.limitsWereOffered(claim.set) }
    }

    /// Does to semaphores what the state asks for, and answers offers to this queue.
    func updateLimits() {
        while true {
            for change in state.takeLimitChanges() { carryOut(change) }
            let offers = limits.effects.takeOffers(to: self)
            if offers.isEmpty { return }
            for claim in offers { noteOffer(to: claim) }
        }
    }

    private func carryOut(_ change: LimitedOperations.Change) {
        switch change {
        case .release(let set): limits.claims[set]!.release(&limits.effects)
        case .withdraw(let set): limits.claims[set]!.withdraw(&limits.effects)
        case .forget(let set): limits.forget(set)
        }
    }

    /// Declines the offers that the queue cannot use. To be called after the state is settled.
    func declineOffers() {
        while state.declineOffers() {
            updateLimits()
            settleState()
        }
    }

    func takeSemaphoreEffects() -> SemaphoreEffects? {
        if limits.effects.isEmpty { return nil }
        defer { limits.effects = SemaphoreEffects() }
        return limits.effects
    }
}

extension Scheduler {
    /// How many sets of limits are claimed.
    nonisolated var claimCount: Int {
        apply { scheduler in
            scheduler.state.operations.admission.limited.sets.all.count {
                if case .claimed = $0.availability { true } else { false }
            }
        }
    }
}
