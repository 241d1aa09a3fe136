import Synchronization

/// The owner of a claim. An owner is a queue, or a body that takes back the permits of its limits.
protocol LimitClaimant: AnyObject, Sendable {
    /// Reports that a limit has a free permit, and that the claim is first in the line of this limit. Called with no
    /// lock held.
    func limitsWereOffered(to claim: LimitClaim)

    /// Takes the owner's lock and calls a function that changes a claim. The caller holds no lock.
    func change(_ claim: LimitClaim, _ change: @escaping @Sendable (LimitClaim, inout SemaphoreEffects) -> Void)
}

/// A task or a claim that waits in the line of a semaphore.
enum SemaphoreWaiter: Sendable {
    case task(WaitContinuation<Bool>)
    case claim(LimitClaim)

    /// Resumes a task that has received its permits, or tells the owner of a claim that a permit is free. Called with
    /// no lock held.
    func serve() {
        switch self {
        case .task(let continuation): continuation.resume(returning: true)
        case .claim(let claim): claim.owner.limitsWereOffered(to: claim)
        }
    }
}

/// The effects of changes to semaphores. The caller performs these effects after releasing all locks.
struct SemaphoreEffects: Sendable {
    fileprivate(set) var served = TinyArray<SemaphoreWaiter>()
    fileprivate var keptFree: [LimitClaim.KeptFree] = []

    var isEmpty: Bool { served.isEmpty && keptFree.isEmpty }

    /// Removes a claim of an owner from `served`, and returns it; nil if there is none.
    mutating func nextOffer(to owner: any LimitClaimant) -> LimitClaim? {
        for (index, waiter) in served.enumerated() {
            guard case .claim(let claim) = waiter, claim.owner === owner else { continue }
            served.remove(at: index)
            return claim
        }
        return nil
    }

    /// Removes the last offer, and returns it with its queue. Returns nil if the effects are more than offers to claims
    /// of queues.
    mutating func takeLastOffer() -> (claim: LimitClaim, host: Scheduler)? {
        guard keptFree.isEmpty, let last = served.last, case .claim(let claim) = last,
            let host = claim.owner as? Scheduler
        else { return nil }
        served.remove(at: served.count - 1)
        return (claim, host)
    }

    func perform() {
        for waiter in served { waiter.serve() }
        for keptFree in keptFree { keptFree.claim.insertEdge(for: keptFree) }
    }
}

/// A claim to one permit from each limit of a set. A queue has one claim for all its operations that have exactly
/// these limits. See `LimitPlaces`.
///
/// A permit of a limit may be kept free while the claim waits for another limit. Operations that need the kept permit
/// then indirectly wait for that other limit. In the wait graph, this wait is an edge between the permits of the two
/// limits. If the edge would close a cycle, the permit is not kept free.
final class LimitClaim: @unchecked Sendable {
    // `places` is accessed only under the lock of `owner`. All other properties are constant.

    let owner: any LimitClaimant
    /// The owner's number for this set of limits.
    let set: Int
    /// The limits, in the order in which they are locked.
    let limits: [AsyncSemaphore]
    private var places: LimitPlaces<SemaphoreWaiter>

    /// - Parameter limits: The limits, in the order in which they are locked.
    init(of owner: any LimitClaimant, set: Int, limits: [AsyncSemaphore]) {
        self.owner = owner
        self.set = set
        self.limits = limits
        places = LimitPlaces(count: limits.count)
    }

    /// Takes a permit of each limit, or enters the line of the first limit that has no free permit. Returns whether the
    /// permits were taken. Called under the owner's lock.
    ///
    /// - Parameter isTrial: Whether free permits stay where they are.
    func take(at level: PriorityLevel, isTrial: Bool = false, _ effects: inout SemaphoreEffects) -> Bool {
        let attempt = places.take(
            at: level, arrival: LineArrival(Rank.next()), isTrial: isTrial, .claim(self), access: access)
        serve(attempt.unserved, &effects)
        guard let lacking = attempt.lacking else { return true }
        for index in attempt.kept { effects.keptFree.append(KeptFree(claim: self, index: index, lacking: lacking)) }
        return false
    }

    /// Stops waiting for all limits. Called under the owner's lock.
    func withdraw(_ effects: inout SemaphoreEffects) {
        serve(places.withdraw(access: access), &effects)
    }

    /// Releases a permit of each limit. Called under the owner's lock.
    ///
    /// - Parameter isNeededNext: Whether the owner may take the permits again at once. Its turn then lasts.
    func release(isNeededNext: Bool, _ effects: inout SemaphoreEffects) {
        places.prepareRelease(isNeededNext: isNeededNext, .claim(self), access: access)
        for limit in limits { limit.storage.withLock { $0.state.release(1) } }
        serve(limits.indices, &effects)
    }

    /// Serves the first waiters of the limits at `indices`. If the claim no longer waits for such a limit, also removes
    /// the edge for the permit that was kept free.
    private func serve(_ indices: some Collection<Int>, _ effects: inout SemaphoreEffects) {
        for index in indices {
            if !places.isInLine(at: index) { limits[index].permit.removeEdge(of: self) }
            limits[index].storage.withLock { $0.serve(&effects.served) }
        }
    }

    private var access: LimitPlaces<SemaphoreWaiter>.Access {
        { [limits] index, change in limits[index].storage.withLock { change(&$0.state) } }
    }
}

// MARK: - Limits that are kept free

extension LimitClaim: PermitKeeper {
    /// Records that a permit of the limit at `index` is kept free while the claim waits for the limit at `lacking`.
    struct KeptFree: Sendable {
        let claim: LimitClaim
        let index: Int
        let lacking: Int
    }

    /// Adds the edge for a permit that is kept free. If the edge would close a cycle, stops keeping permits free for
    /// the claim. Called with no lock held.
    fileprivate func insertEdge(for keptFree: KeptFree) {
        let (node, target) = (limits[keptFree.index].permit, limits[keptFree.lacking].permit)
        let cycle = WaitOrder.insert(from: .permit(node), to: [.permit(target)]) {
            node.insertEdge(of: self, to: target)
        }
        owner.change(self) { claim, effects in
            if cycle != nil { claim.leaveKept(&effects) }
            // The claim may have left the line meanwhile.
            if !claim.places.isInLine(at: keptFree.index) { node.removeEdge(of: claim) }
        }
    }

    func stopKeeping() {
        owner.change(self) { claim, effects in claim.leaveKept(&effects) }
    }

    private func leaveKept(_ effects: inout SemaphoreEffects) {
        serve(places.leaveKept(access: access), &effects)
    }
}
