/// A queue that claims limits for its operations.
protocol LimitClaimant: AnyObject, Sendable {
    /// Called when the claim is first in a line, with no lock held.
    func limitsWereOffered(to claim: LimitClaim)

    /// Changes a claim under the lock of the queue. Called with no lock held.
    func change(_ claim: LimitClaim, _ change: @escaping @Sendable (LimitClaim, inout SemaphoreEffects) -> Void)
}

/// An entry in the line of a semaphore.
enum SemaphoreWaiter: Sendable {
    case task(WaitContinuation<Bool>)
    case claim(LimitClaim)

    /// Resumes a task that has its permits, or offers a permit to a claim. Called with no lock held.
    func serve() {
        switch self {
        case .task(let continuation): continuation.resume(returning: true)
        case .claim(let claim): claim.owner.limitsWereOffered(to: claim)
        }
    }
}

/// The effects of changes of semaphores, to perform with no lock held.
struct SemaphoreEffects: Sendable {
    fileprivate(set) var served: [SemaphoreWaiter] = []
    fileprivate var keptFree: [LimitClaim.KeptFree] = []

    var isEmpty: Bool { served.isEmpty && keptFree.isEmpty }

    /// Removes the offers to claims of an owner. Returns these claims.
    mutating func takeOffers(to owner: any LimitClaimant) -> [LimitClaim] {
        if served.isEmpty { return [] }
        var offers: [LimitClaim] = []
        served.removeAll { waiter in
            guard case .claim(let claim) = waiter, claim.owner === owner else { return false }
            offers.append(claim)
            return true
        }
        return offers
    }

    func carryOut() {
        for waiter in served { waiter.serve() }
        for keptFree in keptFree { keptFree.claim.insertEdge(for: keptFree) }
    }
}

/// The claim of a queue for a set of limits. One claim serves all operations of the queue with exactly these limits;
/// see `LimitPlaces`.
///
/// If a limit is kept free for a claim, operations that need this limit wait for the limit that the claim still lacks.
/// This wait is an edge of the wait graph between two permits. If the edge would close a cycle, the limit is not kept
/// free.
final class LimitClaim: @unchecked Sendable {
    // `places` is accessed under the lock of `owner`. Everything else is constant.

    let owner: any LimitClaimant
    /// The number of the set of limits in the queue.
    let set: Int
    /// The limits of the set, in the order in which they are locked.
    let limits: [AsyncSemaphore]
    private var places: LimitPlaces<SemaphoreWaiter>

    /// - Parameter limits: The limits of the set, in the order in which they are locked.
    init(of owner: any LimitClaimant, set: Int, limits: [AsyncSemaphore]) {
        self.owner = owner
        self.set = set
        self.limits = limits
        places = LimitPlaces(count: limits.count)
    }

    /// Takes a permit of each limit, or enters the line of a limit. Returns whether it took the permits. Like all
    /// following functions, it is called under the lock of the owner.
    func take(at level: PriorityLevel, _ effects: inout SemaphoreEffects) -> Bool {
        let attempt = places.take(at: level, arrival: LineArrival(Rank.next()), .claim(self), access: access)
        serve(attempt.unserved, &effects)
        guard let lacking = attempt.lacking else { return true }
        effects.keptFree += attempt.kept.map { KeptFree(claim: self, index: $0, lacking: lacking) }
        return false
    }

    /// Leaves every line.
    func withdraw(_ effects: inout SemaphoreEffects) {
        serve(places.leaveAll(access: access), &effects)
    }

    /// Releases a permit of each limit.
    func release(_ effects: inout SemaphoreEffects) {
        for limit in limits { limit.storage.withLock { $0.state.release(1) } }
        serve(Array(limits.indices), &effects)
    }

    /// Serves the lines of limits, and stops keeping them free.
    private func serve(_ indices: [Int], _ effects: inout SemaphoreEffects) {
        for index in indices {
            if !places.isInLine(at: index) { limits[index].permit.removeEdge(of: self) }
            effects.served += limits[index].storage.withLock { $0.serve() }
        }
    }

    private var access: LimitPlaces<SemaphoreWaiter>.Access {
        { [limits] index, change in limits[index].storage.withLock { change(&$0.state) } }
    }
}

// MARK: - Limits that are kept free

extension LimitClaim: PermitKeeper {
    /// A limit that is kept free for a claim that waits for a later limit.
    struct KeptFree: Sendable {
        let claim: LimitClaim
        let index: Int
        let lacking: Int
    }

    /// Makes the edge of a limit that is kept free. Called with no lock held.
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
