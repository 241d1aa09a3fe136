// Limits of operations: semaphores that are taken as they start, and given back when they have ended.

/// The sets of semaphores that operations of a queue have as limits, by the numbers that the state gives them.
struct QueueLimits: Sendable {
    fileprivate var claimants: [Int: AsyncSemaphore.Claimant] = [:]
    fileprivate var sets: [[ObjectIdentifier]: Int] = [:]
    /// The sets by the numbers of their claims.
    fileprivate var setOfClaim: [Int: Int] = [:]
    /// What is to be carried out after the scheduler is left.
    fileprivate var effects = AsyncSemaphore.LimitEffects()

    /// Whether there is anything here.
    @inline(__always)
    var isInUse: Bool { !claimants.isEmpty || !effects.isEmpty }

    fileprivate mutating func remove(_ set: Int) {
        guard let claimant = claimants.removeValue(forKey: set) else { return }
        sets[claimant.limits.map { ObjectIdentifier($0) }] = nil
        setOfClaim[claimant.number] = nil
    }
}

extension Scheduler: LimitClaimant {
    /// The number of an operation's limits.
    func limitSet(of operation: AnyTaskOperation) -> Int {
        let semaphores = operation.limits
        let key = semaphores.map { ObjectIdentifier($0) }
        if let set = limits.sets[key] { return set }
        let set = state.makeLimitSet()
        let claimant = AsyncSemaphore.Claimant(owner: self, number: Rank.next(), limits: semaphores)
        limits.claimants[set] = claimant
        limits.sets[key] = set
        limits.setOfClaim[claimant.number] = set
        return set
    }

    func nextLimitedStart(at level: PriorityLevel) -> Int? {
        let claimants = limits.claimants
        return state.nextStart(at: level) { set, level in AsyncSemaphore.take(claimants[set]!, at: level) }
    }

    nonisolated func limitsWereTaken(_ claimant: AsyncSemaphore.Claimant) {
        apply(claimant) { scheduler, claimant in scheduler.noteTaken(claimant) }
    }

    private func noteTaken(_ claimant: AsyncSemaphore.Claimant) {
        if let set = limits.setOfClaim[claimant.number] {
            state.limitsWereTaken(set)
        } else {
            // The last operation that has these limits has left.
            limits.effects.append(AsyncSemaphore.release(claimant.limits))
        }
    }

    /// Does to semaphores what has come of operations, so that the next one finds them so. Returns whether anything was to
    /// be done.
    @discardableResult
    func releaseLimits() -> Bool {
        let claimants = limits.claimants
        let changes = state.takeLimitChanges { set, level in AsyncSemaphore.mayKeep(claimants[set]!.limits, at: level) }
        if changes.isEmpty { return false }
        for set in changes.returned { limits.effects.append(AsyncSemaphore.release(limits.claimants[set]!.limits)) }
        for set in changes.withdrawn { limits.effects.append(AsyncSemaphore.withdraw(limits.claimants[set]!)) }
        for set in changes.forgotten { limits.remove(set) }
        // What is taken for this queue is known at once.
        for claimant in limits.effects.removeTaken(by: self) { noteTaken(claimant) }
        return true
    }

    /// As the last step before the scheduler is left.
    func settleLimits(_ effects: inout AsyncSemaphore.LimitEffects?) {
        while releaseLimits() { state.settle { $0.permitWasReturned() } }
        if limits.effects.isEmpty { return }
        effects = effects ?? AsyncSemaphore.LimitEffects()
        effects!.append(limits.effects)
        limits.effects = AsyncSemaphore.LimitEffects()
    }
}

extension Scheduler {
    /// How many claims for limits have not been served.
    nonisolated var claimCount: Int {
        apply { scheduler in scheduler.state.operations.admission.limited.sets.all.count { $0.hasClaim } }
    }
}
