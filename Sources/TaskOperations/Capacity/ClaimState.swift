/// The permits that one claim holds and awaits. A claim needs permits of several limits, and takes them in the order in
/// which the limits were created. It is a pure value.
///
/// 1. The claim takes the permits of one limit after the other. At the first limit without enough free permits, it
///    enters the line, and keeps the permits that it holds.
/// 2. A limit serves the claim as it serves a task. The next `take` finds this, and continues with the next limit.
/// 3. The claim keeps its arrival until it holds all permits. Its next arrival is behind all others. Therefore, queues
///    that share a limit take turns of one operation.
/// 4. If the kept permits could cause a deadlock, the owner calls `stopKeeping`. From then on, the claim takes all
///    permits in one step, or waits with none, until it has held all of them. The same holds once the claim waits for a
///    limit that tasks use: the wait graph does not contain a wait of a task for another limit.
/// 5. A claim with a limit that has a rate takes all permits in one step, too. Otherwise, each claim that waits for
///    another limit would have a token, and all of them could start at once. A claim that waits for a token would hold
///    the other limits meanwhile.
struct ClaimState<Waiter: Sendable>: Sendable {
    typealias Limit = LimitState<Waiter>

    /// The permits that a claim needs from one limit.
    struct Need: Hashable, Sendable {
        var weight = 1
        var key: Limit.Key?
        /// The number of tokens that the permits use.
        var cost = 1
    }

    /// Changes the limit at an index, and then serves its line, under the lock of the limit. Returns whether the entry
    /// whose ticket the change returns is then still in line.
    typealias Access = (_ index: Int, _ change: (inout Limit) -> Limit.Ticket?) -> Bool

    private let needs: [Need]
    /// The number of limits whose permits the claim holds. These are the first limits.
    private(set) var heldCount = 0
    /// The line in which the claim waits; nil if it waits in no line. The limit may have served the claim since the
    /// last call.
    private(set) var place: (index: Int, ticket: Limit.Ticket)?
    private var level = PriorityLevel.background
    /// Nil if the claim is new, or has held all permits since its last wait.
    private var arrival: LineArrival?
    private(set) var keepsNothing = false
    /// Whether the claim has ever found a rate at one of its limits.
    private var hasRate = false

    init(_ needs: [Need]) {
        self.needs = needs
    }

    var isComplete: Bool { heldCount == needs.count }

    /// Takes the permits of each limit, or waits in the line of the first limit without enough free permits. Returns
    /// whether the claim holds all permits.
    ///
    /// - Parameters:
    ///   - level: The level of the claim. While the claim waits, a lower level has no effect. Nil if the level does not
    ///     change.
    ///   - newArrival: An arrival that is later than all other arrivals.
    ///   - waiter: The waiter that represents the claim in a line.
    mutating func take(
        at level: PriorityLevel? = nil, arrival newArrival: @autoclosure @escaping () -> LineArrival, _ waiter: Waiter,
        access: Access
    ) -> Bool {
        var served: Int?
        if let (index, ticket) = place {
            if isWaiting(index, ticket, raisedTo: level, access) { return false }
            (served, place) = (index, nil)
        }
        if let level { self.level = level }
        for index in heldCount..<needs.count where index != served {
            if takeOrWait(index, newArrival, waiter, access) { continue }
            if !keepsNothing {
                heldCount = index
                return false
            }
            for other in needs.indices where other < index || other == served {
                giveBack(other, isUnused: other >= heldCount, access)
            }
            heldCount = 0
            return false
        }
        (heldCount, arrival, keepsNothing) = (needs.count, nil, false)
        return true
    }

    /// Returns whether a limit has not served the claim. If so, raises the level of the claim.
    private mutating func isWaiting(
        _ index: Int, _ ticket: Limit.Ticket, raisedTo level: PriorityLevel?, _ access: Access
    ) -> Bool {
        access(index) { limit in
            if limit.isTimed { hasRate = true }
            if let level, level > self.level, limit.isWaiting(ticket) {
                limit.raise(ticket, to: level)
                self.level = level
            }
            return ticket
        }
    }

    private mutating func takeOrWait(
        _ index: Int, _ newArrival: @escaping () -> LineArrival, _ waiter: Waiter, _ access: Access
    ) -> Bool {
        let (need, level, keepsNothing) = (needs[index], level, keepsNothing)
        let isWaiting = access(index) { limit in
            if limit.isTimed { hasRate = true }
            // A claim that takes all permits in one step does not wait for a reading of the clock. Two limits with rates
            // would otherwise serve it in turn, forever.
            let isTaken = limit.tryAcquire(
                need.weight, for: need.key, cost: need.cost, level: level, isClaim: true, isTimeKnown: keepsNothing)
            if isTaken { return nil }
            var arrival = arrival ?? newArrival()
            arrival.renew()
            self.arrival = arrival
            let ticket = limit.wait(
                waiter, weight: need.weight, for: need.key, cost: need.cost, level: level, arrival: arrival,
                isClaim: true)
            place = (index, ticket)
            if index > 0, limit.servesTasks || hasRate { self.keepsNothing = true }
            return ticket
        }
        // The limit may have served a new entry at once, before less urgent entries.
        if !isWaiting { place = nil }
        return !isWaiting
    }

    /// Transfers the permits of a claim that holds all of them to an operation.
    mutating func transfer() {
        require(isComplete, "a claim that holds \(heldCount) of \(needs.count) limits was transferred")
        heldCount = 0
    }

    /// Leaves the line, and gives all permits back.
    mutating func withdraw(access: Access) {
        if let (index, ticket) = place {
            _ = access(index) { [need = needs[index]] limit in
                if limit.leave(ticket) == nil {
                    limit.release(need.weight, for: need.key, cost: need.cost, isUnused: true)
                }
                return nil
            }
        }
        for index in 0..<heldCount { giveBack(index, isUnused: isComplete, access) }
        (heldCount, place, arrival, keepsNothing) = (0, nil, nil, false)
    }

    /// Gives the permits back that the claim keeps while it waits. The claim stays in line.
    mutating func stopKeeping(access: Access) {
        if place == nil { return }
        for index in 0..<heldCount { giveBack(index, isUnused: false, access) }
        (heldCount, keepsNothing) = (0, true)
    }

    /// - Parameter isUnused: Whether the tokens of the permits are put back. The tokens of permits that were kept are
    ///   lost: others have replaced them meanwhile, so that the rate would be exceeded.
    private func giveBack(_ index: Int, isUnused: Bool, _ access: Access) {
        _ = access(index) { limit in
            limit.release(needs[index].weight, for: needs[index].key, cost: needs[index].cost, isUnused: isUnused)
            return nil
        }
    }
}

// MARK: - For tests

extension ClaimState {
    var weights: [Int] { needs.map(\.weight) }
}
