import Synchronization

/// The permits that an operation needs from one limit.
struct LimitRequest: Sendable {
    let limit: AsyncSemaphore
    /// The key for which the permits are taken; nil without a key.
    let key: LimitKey?
    let weight: Int

    /// Whether enough permits are free in total and for the key.
    var isFree: Bool {
        limit.storage.withLock { storage in
            let ofKey = key.map { storage.state.capacityPerKey - storage.state.takenCount(of: $0.number) } ?? .max
            return storage.state.permits.fits(weight) && weight <= ofKey
        }
    }

    /// The limit, the key and the use of the permits.
    var waitDescription: String { key?.waitDescription ?? limit.waitDescription }

    /// Requests by the identities of their limits and keys.
    struct List: Hashable, Sendable {
        private struct Element: Hashable, Sendable {
            let limit: ObjectIdentifier
            let key: Int?
            let weight: Int

            init(_ request: LimitRequest) {
                limit = ObjectIdentifier(request.limit)
                key = request.key?.number
                weight = request.weight
            }
        }

        /// Nil if there are no requests, because the operation has ended.
        private let first: Element?
        private let others: [Element]

        init(_ requests: [LimitRequest]) {
            first = requests.first.map { Element($0) }
            others = requests.count < 2 ? [] : requests.dropFirst().map { Element($0) }
        }
    }
}

extension [LimitRequest] {
    /// The last request for each limit, in the order in which the semaphores were created.
    var ordered: [LimitRequest] {
        if count < 2 { return self }
        var ordered: [LimitRequest] = []
        // Equal numbers keep their order, because the sort is stable.
        for request in sorted(by: { $0.limit.number < $1.limit.number }) {
            if ordered.last?.limit === request.limit { ordered.removeLast() }
            ordered.append(request)
        }
        return ordered
    }
}

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
    /// Claims that may have the last references to keys, which are user code.
    private var forgotten: [LimitClaim] = []

    var isEmpty: Bool { served.isEmpty && keptFree.isEmpty && forgotten.isEmpty }

    /// Keeps a claim with keys until the effects are performed.
    mutating func keep(_ claim: LimitClaim) {
        if claim.requests.contains(where: { $0.key != nil }) { forgotten.append(claim) }
    }

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

/// A claim to permits of each limit of a set. A queue has one claim for all its operations that have exactly these
/// limits, with the same keys and weights. See `LimitPlaces`.
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
    let requests: [LimitRequest]
    private var places: LimitPlaces<SemaphoreWaiter>

    /// - Parameter limits: The limits, in the order in which they are locked.
    init(of owner: any LimitClaimant, set: Int, _ requests: [LimitRequest]) {
        self.owner = owner
        self.set = set
        self.requests = requests
        places = LimitPlaces(requests.map { .init(weight: $0.weight, key: $0.key?.number) })
    }

    /// Takes the permits of each limit, or enters the line of the first limit that has too few free permits. Returns
    /// whether the permits were taken. Called under the owner's lock.
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

    /// Releases the permits of each limit. Called under the owner's lock.
    func release(_ effects: inout SemaphoreEffects) {
        for request in requests {
            request.limit.storage.withLock { $0.state.release(request.weight, for: request.key?.number) }
        }
        serve(requests.indices, &effects)
    }

    /// Serves the first waiters of the limits at `indices`. If the claim no longer waits for such a limit, also removes
    /// the edge for the permit that was kept free.
    private func serve(_ indices: some Collection<Int>, _ effects: inout SemaphoreEffects) {
        for index in indices {
            if !places.isInLine(at: index) { requests[index].limit.permit.removeEdge(of: self) }
            requests[index].limit.storage.withLock { $0.serve(&effects.served) }
        }
    }

    private var access: LimitPlaces<SemaphoreWaiter>.Access {
        { [requests] index, change in requests[index].limit.storage.withLock { change(&$0.state) } }
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
        let (node, target) = (requests[keptFree.index].limit.permit, requests[keptFree.lacking].limit.permit)
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
