import Synchronization

/// The permits that an operation needs from one limit, and their cost. Requests are equal if their weights, their costs,
/// their limits and the numbers of their keys are equal.
struct LimitRequest: Hashable, Sendable {
    let limit: AsyncSemaphore
    /// The key for which the permits are taken; nil without a key.
    let key: LimitKey?
    let weight: Int
    /// The number of tokens of the limit's rates that the permits use.
    var cost = 1

    static func == (one: LimitRequest, other: LimitRequest) -> Bool {
        one.limit === other.limit && one.key?.number == other.key?.number && one.weight == other.weight
            && one.cost == other.cost
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(limit))
        hasher.combine(key?.number)
        hasher.combine(weight)
        if cost != 1 { hasher.combine(cost) }
    }

    /// Whether enough permits are free in total and for the key, and the rates have the tokens of the cost.
    var isFree: Bool {
        limit.storage.withLock { storage in
            let ofKey = key.map { key in
                storage.state.capacity(of: key.number) - storage.state.takenCount(of: key.number)
            }
            return storage.state.permits.fits(weight) && weight <= ofKey ?? .max
                && storage.state.hasTokens(for: key?.number, cost: cost)
        }
    }

    /// Whether the limit may hold back another attempt of a body that gives its permits back: it has a rate or a pause, or
    /// a capacity of 0 in total or for the key.
    var mayHoldBackAttempts: Bool {
        limit.storage.withLock { storage in
            let capacity = key.map { storage.state.capacity(of: $0.number) } ?? .max
            return storage.state.isTimed || min(storage.state.permits.capacity, capacity) == 0
        }
    }

    /// Puts back the tokens that the permits took from the rates. The release of the permits then serves the line.
    func giveBackTokens() { limit.storage.withLock { $0.state.giveBackTokens(of: cost, for: key?.number) } }

    /// The number of needed permits if it is not 1, the limit, the key and the use of the permits.
    var waitDescription: String {
        let limit = key?.waitDescription(cost: cost) ?? limit.waitDescription(cost: cost)
        return weight == 1 ? limit : "\(weight) permits of \(limit)"
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

    /// Adds requests to ordered ones. The last request for each limit applies.
    mutating func insert(inOrder others: [LimitRequest]) {
        for request in others {
            let index = partitioningIndex { $0.limit.number >= request.limit.number }
            if index < count, self[index].limit === request.limit {
                self[index] = request
            } else {
                insert(request, at: index)
            }
        }
    }

    /// The user's key for which permits of a semaphore are taken; nil if no permits are taken, or if they have no key.
    func key(of limit: AsyncSemaphore) -> (any Hashable & Sendable)? { first { $0.limit === limit }?.key?.userValue }
}

/// The room that an operation takes among the queued operations of limits that bound their number, from its addition until
/// it starts, ends or is withdrawn.
final class LimitRoom: Sendable {
    /// The requests that have room. Empty after the room was given back.
    private let held: Lock<[LimitRequest]>

    /// Takes room in each limit, or in none if one of them has no room.
    ///
    /// - Throws: `TaskOperationError.limitFull`.
    init(_ requests: [LimitRequest], of operation: AnyTaskOperation) throws(TaskOperationError) {
        for (index, request) in requests.enumerated() {
            guard let fullBound = request.addQueued() else { continue }
            for earlier in requests.prefix(index) { earlier.removeQueued() }
            throw .limitFull(
                OperationLabel(operation), semaphoreName: request.limit.name,
                key: fullBound == .ofKey ? "\(request.key!.userValue)" : nil)
        }
        held = Lock(requests)
    }

    /// Gives the room back, unless that was done before. Called with no lock held, because the requests may contain
    /// the last references to keys, which are user code.
    func giveBack() {
        let requests = held.withLock { held in
            defer { held = [] }
            return held
        }
        for request in requests { request.removeQueued() }
    }
}

extension LimitRequest {
    fileprivate func addQueued() -> AsyncSemaphore.State.QueuedBound? {
        limit.storage.withLock { $0.state.addQueued(for: key?.number) }
    }

    fileprivate func removeQueued() { limit.storage.withLock { $0.state.removeQueued(for: key?.number) } }
}

extension AnyTaskOperation {
    /// Takes room in the limits that bound their queued operations. If one has no room, ends the operation.
    func takeRoom(in limits: [LimitRequest]) {
        // Usually no limit has a bound, and a filter would copy each request.
        if !limits.contains(where: \.limit.boundsQueuedOperations) { return }
        let bounded = limits.filter { $0.limit.boundsQueuedOperations }
        let room: LimitRoom
        do {
            room = try LimitRoom(bounded, of: self)
        } catch {
            endUnlessStarted(LimitRefusal(error, limits: limits))
            return
        }
        let isQueued = record.withLock { record in
            if isFinished { return false }
            record.madeLinks().madeExtras().room = room
            return true
        }
        // The handler runs when the queue's interceptors have called the body.
        if !isQueued || !addStartHandler({ room.giveBack() }) { room.giveBack() }
    }
}

/// The owner of a claim. An owner is a queue, or a body that takes back the permits of its limits.
protocol LimitClaimant: AnyObject, Sendable {
    /// Whether `claimWasServed` may read a clock that is user code. It calls no other user code. Never changes.
    var readsClock: Bool { get }

    /// Reports that a limit has served the claim, so that `take` may continue. Called with no lock held but that of
    /// `SemaphoreEffects.passOn`, and without that lock if the owner reads such a clock.
    ///
    /// - Returns: The effects, which the caller performs.
    func claimWasServed(_ claim: LimitClaim) -> ClaimEffects

    /// Takes the owner's lock and calls a function that changes a claim. The caller holds no lock.
    ///
    /// - Returns: The effects, which the caller performs.
    func change(
        _ claim: LimitClaim, _ change: @escaping @Sendable (LimitClaim, inout SemaphoreEffects) -> Void
    ) -> ClaimEffects
}

/// The effects of an owner's change to a claim.
struct ClaimEffects {
    var semaphores: SemaphoreEffects
    /// Performs the effects on the owner itself, after the effects on semaphores; nil if there are none.
    var onOwner: (() -> Void)?

    func perform() {
        semaphores.perform()
        onOwner?()
    }
}

/// A task or a claim that waits in the line of a semaphore.
enum SemaphoreWaiter: Sendable {
    case task(WaitContinuation<Bool>)
    case claim(LimitClaim)

    fileprivate var needsSeveralLimits: Bool {
        if case .claim(let claim) = self { claim.requests.count > 1 } else { false }
    }

    /// Tells a waiter that it has received its permits. Called with no lock held.
    ///
    /// - Parameter following: Receives the effects of the owner of a claim.
    fileprivate func serve(_ following: inout [ClaimEffects]) {
        switch self {
        case .task(let continuation): continuation.resume(returning: true)
        case .claim(let claim): following.append(claim.owner.claimWasServed(claim))
        }
    }
}

/// The effects of changes to semaphores. The caller performs these effects after releasing all locks.
struct SemaphoreEffects: Sendable {
    fileprivate(set) var served = TinyArray<SemaphoreWaiter>()
    fileprivate var keptPermits: [LimitClaim.KeptPermits] = []
    /// Semaphores with a rate, which must read their clocks and serve their lines.
    fileprivate var timed = TinyArray<AsyncSemaphore>()
    /// Claims that may have the last references to keys and clocks, which are user code.
    private var forgotten: [LimitClaim] = []

    init(serving served: TinyArray<SemaphoreWaiter> = TinyArray()) {
        self.served = served
    }

    var isEmpty: Bool { served.isEmpty && keptPermits.isEmpty && timed.isEmpty && forgotten.isEmpty }

    /// Keeps a claim with keys or clocks until the effects are performed.
    mutating func keep(_ claim: LimitClaim) {
        if claim.requests.contains(where: { $0.key != nil || $0.limit.hasClock }) { forgotten.append(claim) }
    }

    /// Removes the claim of an owner that was served last from `served`, and returns it; nil if there is none.
    ///
    /// A claim that must not keep permits gives them back if another limit is not free, and waits for that limit. In this
    /// order, only operations, tasks and claims that were served earlier can hold the other limit, so the claim does not
    /// return in this event. With the earliest claim first, claims could serve each other forever.
    mutating func nextServed(of owner: any LimitClaimant) -> LimitClaim? {
        for index in served.indices.reversed() {
            guard case .claim(let claim) = served[index], claim.owner === owner else { continue }
            served.remove(at: index)
            return claim
        }
        return nil
    }

    /// Removes the last served claim, and returns it with its queue. Returns nil if the effects are more than served
    /// claims of queues.
    mutating func takeLastServed() -> (claim: LimitClaim, scheduler: Scheduler)? {
        guard keptPermits.isEmpty, timed.isEmpty, let last = served.last, case .claim(let claim) = last,
            let scheduler = claim.owner as? Scheduler
        else { return nil }
        served.remove(at: served.count - 1)
        return (claim, scheduler)
    }

    /// Performs the effects, and all effects that follow from them. Uses lists instead of recursion, because thousands of
    /// queues may pass on a permit that they cannot use, for example because they are suspended.
    func perform() {
        var following = perform([])
        if following.isEmpty { return }
        var effectsOnOwners: [() -> Void] = []
        while let next = following.popLast() {
            if let onOwner = next.onOwner { effectsOnOwners.append(onOwner) }
            following = next.semaphores.perform(following)
        }
        for onOwner in effectsOnOwners.reversed() { onOwner() }
    }

    /// Performs the effects. Adds the effects that follow to a list, so that the first of them are at its end.
    private func perform(_ later: consuming [ClaimEffects]) -> [ClaimEffects] {
        let count = later.count
        if served.contains(where: \.needsSeveralLimits) {
            later += Self.passOn(served)
        } else {
            for waiter in served { waiter.serve(&later) }
        }
        for semaphore in timed { later.append(ClaimEffects(semaphores: semaphore.serveAtOwnTime())) }
        for keptPermits in keptPermits { later.append(keptPermits.claim.insertEdges(for: keptPermits)) }
        later[count...].reverse()
        return later
    }
}

extension SemaphoreEffects {
    /// Held while claims that need several limits pass on permits.
    ///
    /// Without this lock, two threads could pass on permits of two limits at once. Each claim could then find that the other
    /// thread has the permit that it lacks, and wait for that limit instead. The claims could change lines forever. With
    /// this lock, a thread passes on its permits until they are used or no claim waits for them. The number of these claims
    /// is not bounded, but a thread waits for the lock only if it serves a claim to several limits.
    private static let passing = ContendedLock()

    /// Tells claims that they were served, and all claims to which these pass on their permits. Tasks are not resumed here:
    /// the returned effects resume them. Owners with a clock of the user are told after unlocking.
    ///
    /// A claim tries its limits only after the permits of the previous claim are used or free. Two claims of one thread could
    /// otherwise change lines forever, too.
    private static func passOn(_ served: TinyArray<SemaphoreWaiter>) -> [ClaimEffects] {
        var (following, passed): ([ClaimEffects], [SemaphoreWaiter]) = ([], [])
        var clocked: [LimitClaim] = []
        passing.withLock {
            // The first waiters are at the end.
            var waiters = Array(served.reversed())
            while let waiter = waiters.popLast() {
                switch waiter {
                case .task:
                    following.append(ClaimEffects(semaphores: SemaphoreEffects(serving: TinyArray(only: waiter))))
                case .claim(let claim) where claim.owner.readsClock: clocked.append(claim)
                case .claim(let claim):
                    var effects = claim.owner.claimWasServed(claim)
                    waiters += effects.semaphores.served.reversed()
                    effects.semaphores.served = TinyArray()
                    following.append(effects)
                    passed.append(waiter)
                }
            }
        }
        // Released after unlocking, because a claim may have the last reference to its queue.
        extendLifetime(passed)
        for claim in clocked { following.append(claim.owner.claimWasServed(claim)) }
        return following
    }
}

/// A claim to permits of each limit of a set. A queue has one claim for all its operations that have exactly these
/// limits, with the same keys, weights and costs. See `ClaimState`.
///
/// The claim may keep permits of a limit while it waits for another limit. Operations that need the kept permits then
/// indirectly wait for that other limit. In the wait graph, this wait is an edge between the permits of the two limits.
/// If the edge would close a cycle, or if a task waits for the kept permits, the claim stops keeping permits. The wait
/// graph does not contain tasks that are not bodies of operations.
final class LimitClaim: @unchecked Sendable {
    // `state` and `edges` are accessed only under the lock of `owner`, and need no exclusivity check at run time. All
    // other properties are constant.

    /// Permits that a claim keeps while it waits.
    struct KeptPermits: Sendable {
        let claim: LimitClaim
        /// The number of limits whose permits are kept. These are the first limits of the claim.
        let count: Int
        /// The index of the limit for which the claim waits.
        let awaited: Int
    }

    let owner: any LimitClaimant
    /// The owner's number for this set of limits.
    let set: Int
    /// The limits, in the order in which they are taken.
    let requests: [LimitRequest]
    @exclusivity(unchecked) private var state: ClaimState<SemaphoreWaiter>
    /// The edges for kept permits; nil if there are none.
    @exclusivity(unchecked) private var edges: (count: Int, awaited: Int)?

    /// - Parameter requests: The limits, in the order in which they are taken.
    init(of owner: any LimitClaimant, set: Int, _ requests: [LimitRequest]) {
        self.owner = owner
        self.set = set
        self.requests = requests
        state = ClaimState(requests.map { .init(weight: $0.weight, key: $0.key?.number, cost: $0.cost) })
    }

    /// Whether the claim waits in a line, or was served there since the last call of `take`.
    var isWaiting: Bool { state.place != nil }

    /// Whether nothing else waits for the limits, and one operation of the claim can leave its permits to another one.
    var isUndisputed: Bool { requests.allSatisfy { $0.limit.isUndisputed(by: self) } }

    /// Whether the claim keeps permits while it waits.
    var isKeeping: Bool { isWaiting && state.heldCount > 0 }

    /// Takes the permits of each limit, or waits in the line of the first limit that has too few free permits. Returns
    /// whether the claim holds all permits. Called under the owner's lock.
    ///
    /// - Parameter level: The level of the claim; nil if it does not change.
    func take(at level: PriorityLevel? = nil, _ effects: inout SemaphoreEffects) -> Bool {
        if state.isComplete { return true }
        // See `ClaimState.takeOrWait`.
        let isTimeKnown = state.keepsNothing
        let isTaken = state.take(at: level, arrival: LineArrival(Rank.next()), .claim(self)) { index, change in
            self.change(index, &effects, isTimeKnown: isTimeKnown, change)
        }
        updateEdges(&effects)
        return isTaken
    }

    /// Transfers all permits to an operation. Called under the owner's lock.
    func transfer() { state.transfer() }

    /// Leaves the line and gives all permits back. Called under the owner's lock.
    func withdraw(_ effects: inout SemaphoreEffects) {
        state.withdraw { change($0, &effects, $1) }
        updateEdges(&effects)
    }

    /// Releases the permits of an operation. Called under the owner's lock.
    func release(_ effects: inout SemaphoreEffects) {
        for index in requests.indices {
            _ = change(index, &effects) { limit in
                limit.release(requests[index].weight, for: requests[index].key?.number)
                return nil
            }
        }
    }

    /// Changes a limit and serves its line. If the limit has a rate and its time is not known, its line is served after
    /// the owner is unlocked. See `ClaimState.Access`.
    private func change(
        _ index: Int, _ effects: inout SemaphoreEffects, isTimeKnown: Bool = false,
        _ change: (inout AsyncSemaphore.State) -> AsyncSemaphore.State.Ticket?
    ) -> Bool {
        let limit = requests[index].limit
        let (isTimed, isWaiting) = limit.storage.withLock { storage in
            storage.state.noteOldTime()
            let ticket = change(&storage.state)
            let isTimed = storage.state.isTimed
            if isTimed, let key = requests[index].key { storage.keepForTokens(key) }
            if !isTimed || isTimeKnown { storage.serve(&effects.served, of: limit) }
            return (isTimed, ticket.map(storage.state.isWaiting) ?? false)
        }
        if isTimed { effects.timed.append(limit) }
        return isWaiting
    }
}

// MARK: - Kept permits

extension LimitClaim: PermitKeeper {
    private func updateEdges(_ effects: inout SemaphoreEffects) {
        let current = isKeeping ? (state.heldCount, state.place!.index) : nil
        if current == nil, edges == nil { return }
        if let current, let edges, current == edges { return }
        if let edges { removeEdges(edges.count, edges.awaited) }
        edges = current
        if let current { effects.keptPermits.append(.init(claim: self, count: current.0, awaited: current.1)) }
    }

    /// Adds the edges for kept permits. Called with no lock held.
    fileprivate func insertEdges(for kept: KeptPermits) -> ClaimEffects {
        let target = requests[kept.awaited].limit.permit
        var closesCycle = false
        for request in requests.prefix(kept.count) where !closesCycle {
            let node = request.limit.permit
            let cycle = WaitOrder.insert(from: .permit(node), to: [.permit(target)]) {
                node.insertEdge(of: self, to: target)
            }
            closesCycle = cycle != nil
        }
        return owner.change(self) { [closesCycle] claim, effects in
            let isCurrent = claim.edges.map { $0 == (kept.count, kept.awaited) } ?? false
            if !isCurrent { return claim.removeEdges(kept.count, kept.awaited) }
            // A task that begins to wait after this check finds the edges.
            if closesCycle || claim.isAwaitedByTask(kept.count) { claim.stopKeeping(&effects) }
        }
    }

    private func isAwaitedByTask(_ count: Int) -> Bool {
        requests.prefix(count).contains { $0.limit.storage.withLock { $0.state.waitingCount > 0 } }
    }

    private func removeEdges(_ count: Int, _ awaited: Int) {
        let target = requests[awaited].limit.permit
        for request in requests.prefix(count) { request.limit.permit.removeEdges(of: self, to: target) }
    }

    func stopKeeping() {
        owner.change(self) { claim, effects in claim.stopKeeping(&effects) }.perform()
    }

    private func stopKeeping(_ effects: inout SemaphoreEffects) {
        state.stopKeeping { change($0, &effects, $1) }
        updateEdges(&effects)
    }
}
