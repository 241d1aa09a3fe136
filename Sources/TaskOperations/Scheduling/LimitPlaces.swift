/// The places of one claim in the lines of several limits. A limit is a semaphore. The claim needs one permit of each
/// limit.
///
/// The claim takes all permits in one step, or none. If a limit has no free permit, the claim waits only in the line of
/// that limit. Other claims can then use the remaining limits.
///
/// This rule alone would let other waiters overtake a claim for two limits forever. Each time the claim reaches the
/// head of one line, the other limit might be taken. Therefore a claim that was overtaken 16 times stays at the head of
/// a line while it waits for a later limit. A permit of the first line is then kept free for the claim. Claims lock
/// limits, and keep them free, in the order in which the semaphores were created.
///
/// A claim keeps its arrival for a turn of at most 16 operations, as long as its queue has another operation for the
/// permits. Otherwise, a limit would go to another queue, and thus to another thread, after each operation.
struct LimitPlaces<Waiter: Sendable>: Sendable {
    typealias Ticket = LimitState<Waiter>.Ticket

    /// Calls `change` with the semaphore at an index, under the semaphore's lock.
    typealias Access = (_ index: Int, _ change: (inout LimitState<Waiter>) -> Int?) -> Int?

    struct Attempt: Sendable {
        /// The index of the first limit without a free permit; nil if the claim has taken all permits.
        var lacking: Int?
        /// The limits whose waiters the caller must serve.
        var unserved = TinyArray<Int>()
        /// The limits that are kept free for the claim.
        var kept: [Int] = []
    }

    /// The number of times that other waiters may overtake a claim at the head of a line.
    static var passingLimit: Int { 16 }

    /// The number of times that a claim takes permits before later arrivals.
    static var turnLength: Int { 16 }

    private var level = PriorityLevel.background
    /// The arrival of the claim in every line; nil before the first attempt of each turn.
    private var arrival: LineArrival?
    /// The number of times that the claim has taken permits in this turn.
    private(set) var takenCount = 0
    /// The claim's ticket in the line of each limit; nil if the claim is not in that line.
    private var tickets: [Ticket?]
    private(set) var passedCount = 0

    init(count: Int) {
        tickets = Array(repeating: nil, count: count)
    }

    func isInLine(at index: Int) -> Bool { tickets[index] != nil }

    /// The indices of the limits in whose lines the claim is.
    private var lines: TinyArray<Int> {
        var lines = TinyArray<Int>()
        for index in tickets.indices where isInLine(at: index) { lines.append(index) }
        return lines
    }

    /// Takes a permit of each limit, or enters the line of the first limit without a free permit.
    ///
    /// - Parameters:
    ///   - arrival: The claim's arrival if it has none yet. It is later than the arrivals of all entries in all lines.
    ///   - isTrial: Whether free permits stay where they are.
    ///   - waiter: The waiter that represents the claim in a line.
    mutating func take(
        at level: PriorityLevel, arrival: LineArrival, isTrial: Bool = false, _ waiter: Waiter,
        access: @escaping Access
    ) -> Attempt {
        var attempt = Attempt()
        if level != self.level { attempt.unserved = leaveAll(access: access) }
        self.level = level
        let former = self.arrival
        self.arrival = former ?? arrival
        let inLine = lines
        attempt.lacking = take(from: 0, isTrial: isTrial, waiter, access)
        if let lacking = attempt.lacking {
            leaveOthers(lacking: lacking, &attempt, access)
        } else if isTrial {
            self.arrival = former
        } else {
            takenCount += 1
            if takenCount == Self.turnLength { endTurn() }
            passedCount = 0
            inLine.forEach { attempt.unserved.append($0) }
        }
        return attempt
    }

    /// Takes a permit of each limit from `index` on. Returns the first limit without a free permit; nil if the claim
    /// has taken all permits.
    private mutating func take(
        from index: Int, isTrial: Bool, _ waiter: Waiter, _ access: @escaping Access
    ) -> Int? {
        if index == tickets.count { return nil }
        return access(index) { semaphore in
            let former = tickets[index].take()
            guard semaphore.admits(at: level, arrival: arrival!) else {
                if let former { semaphore.leave(former) }
                arrival!.renew()
                tickets[index] = semaphore.wait(waiter, weight: 1, level: level, arrival: arrival!, isClaim: true)
                return index
            }
            let lacking = take(from: index + 1, isTrial: isTrial, waiter, access)
            if lacking != nil || isTrial {
                tickets[index] = former
                return lacking
            }
            semaphore.takeAdmitted(at: level)
            if let former { semaphore.leave(former) }
            return nil
        }
    }

    private mutating func leaveOthers(lacking: Int, _ attempt: inout Attempt, _ access: @escaping Access) {
        // The claim is in the line of the lacking limit.
        if lines.count > 1 { passedCount += 1 }
        for index in lines where index != lacking {
            if passedCount > Self.passingLimit, index < lacking {
                attempt.kept.append(index)
            } else {
                leave(index, access)
                attempt.unserved.append(index)
            }
        }
    }

    /// Called before a permit of each limit is released. If the claim needs the permits again and others wait, enters
    /// the line of the first limit. The claim is then the first one of its level in that line. Otherwise ends the turn.
    mutating func prepareRelease(isNeededNext: Bool, _ waiter: Waiter, access: @escaping Access) {
        guard arrival != nil, lines.isEmpty else { return }
        if isNeededNext {
            _ = access(0) { semaphore in
                if semaphore.hasLine {
                    arrival!.renew()
                    tickets[0] = semaphore.wait(waiter, weight: 1, level: level, arrival: arrival!, isClaim: true)
                }
                return nil
            }
        }
        endTurn()
    }

    /// Ends the turn if the claim has taken permits in it and is in no line. Later attempts arrive later.
    private mutating func endTurn() {
        if takenCount == 0 || !lines.isEmpty { return }
        arrival = nil
        takenCount = 0
    }

    /// Leaves every line, and ends the turn. Returns the limits whose waiters the caller must serve.
    mutating func withdraw(access: @escaping Access) -> TinyArray<Int> {
        defer { endTurn() }
        return leaveAll(access: access)
    }

    private mutating func leaveAll(access: @escaping Access) -> TinyArray<Int> {
        let indices = lines
        for index in indices { leave(index, access) }
        return indices
    }

    /// Leaves every line except the last, so that no limit is kept free. Returns the limits whose waiters the caller
    /// must serve.
    mutating func leaveKept(access: @escaping Access) -> TinyArray<Int> {
        passedCount = 0
        var indices = lines
        _ = indices.popLast()
        for index in indices { leave(index, access) }
        return indices
    }

    private mutating func leave(_ index: Int, _ access: @escaping Access) {
        guard let ticket = tickets[index].take() else { return }
        _ = access(index) { semaphore in
            semaphore.leave(ticket)
            return nil
        }
    }
}
