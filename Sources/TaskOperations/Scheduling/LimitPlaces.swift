/// The places of one claim in the lines of several limits. A limit is a semaphore. The claim needs a number of permits
/// of each limit.
///
/// The claim takes all permits in one step, or none. If a limit has too few free permits, the claim waits only in the
/// line of that limit. Other claims can then use the remaining limits. Each time that the claim takes permits, its next
/// wait begins behind all others of the same level. Therefore, queues that share a limit take turns of one operation.
///
/// This rule alone would let other waiters overtake a claim for two limits forever. Each time the claim reaches the
/// head of one line, the other limit might be taken. Therefore a claim that was overtaken 16 times stays at the head of
/// a line while it waits for a later limit. The permits of the first line are then kept free for the claim. Claims lock
/// limits, and keep them free, in the order in which the semaphores were created.
struct LimitPlaces<Waiter: Sendable>: Sendable {
    typealias State = LimitState<Waiter>
    typealias Ticket = State.Ticket

    /// The permits that a claim needs from one limit.
    struct Need: Hashable, Sendable {
        var weight = 1
        var key: State.Key?
    }

    /// Calls `change` with the semaphore at an index, under the semaphore's lock.
    typealias Access = (_ index: Int, _ change: (inout State) -> Int?) -> Int?

    struct Attempt: Sendable {
        /// The index of the first limit without enough free permits; nil if the claim has taken all permits.
        var lacking: Int?
        /// The limits whose waiters the caller must serve.
        var unserved = TinyArray<Int>()
        /// The limits that are kept free for the claim.
        var kept: [Int] = []
    }

    /// The number of times that other waiters may overtake a claim at the head of a line.
    static var passingLimit: Int { 16 }

    private let needs: [Need]
    private var level = PriorityLevel.background
    /// The arrival of the claim in every line; nil if the claim is in no line.
    private var arrival: LineArrival?
    /// The claim's ticket in the line of each limit; nil if the claim is not in that line.
    private var tickets: [Ticket?]
    private(set) var passedCount = 0

    init(_ needs: [Need]) {
        self.needs = needs
        tickets = Array(repeating: nil, count: needs.count)
    }

    func isInLine(at index: Int) -> Bool { tickets[index] != nil }

    /// The indices of the limits in whose lines the claim is.
    private var lines: TinyArray<Int> {
        var lines = TinyArray<Int>()
        for index in tickets.indices where isInLine(at: index) { lines.append(index) }
        return lines
    }

    /// Takes the permits of each limit, or enters the line of the first limit without enough free permits.
    ///
    /// - Parameters:
    ///   - arrival: The claim's arrival if it is in no line. It is later than the arrivals of all entries in all lines.
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
            self.arrival = nil
            passedCount = 0
            inLine.forEach { attempt.unserved.append($0) }
        }
        return attempt
    }

    /// Takes the permits of each limit from `index` on. Returns the first limit without enough free permits; nil if the
    /// claim has taken all permits.
    private mutating func take(
        from index: Int, isTrial: Bool, _ waiter: Waiter, _ access: @escaping Access
    ) -> Int? {
        if index == tickets.count { return nil }
        let need = needs[index]
        return access(index) { semaphore in
            let former = tickets[index].take()
            guard semaphore.admits(need.weight, for: need.key, at: level, arrival: arrival!) else {
                if let former { semaphore.leave(former) }
                arrival!.renew()
                tickets[index] = semaphore.wait(
                    waiter, weight: need.weight, for: need.key, level: level, arrival: arrival!, isClaim: true)
                return index
            }
            let lacking = take(from: index + 1, isTrial: isTrial, waiter, access)
            if lacking != nil || isTrial {
                tickets[index] = former
                return lacking
            }
            semaphore.takeAdmitted(need.weight, for: need.key, at: level)
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

    /// Leaves every line. Returns the limits whose waiters the caller must serve.
    mutating func withdraw(access: @escaping Access) -> TinyArray<Int> {
        defer { arrival = nil }
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
