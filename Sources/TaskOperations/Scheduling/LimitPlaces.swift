/// The places in line of a claim for several limits. A limit is a semaphore; the claim needs one permit of each.
///
/// The claim takes all permits in one step, or none. If a limit has no permit, the claim waits in the line of that
/// limit only, so that other claims can use the remaining limits. With this rule alone, others could overtake a claim
/// for two limits forever: each time it reaches the head of one line, the other limit is taken. After 16 times, the
/// claim therefore stays at the head of a line while it waits for a later limit, and a permit is kept free for it. All
/// claims keep limits free in the order in which the semaphores were created. The limits are locked in the same order.
struct LimitPlaces<Waiter: Sendable>: Sendable {
    typealias Ticket = SemaphoreState<Waiter>.Ticket

    /// Changes a semaphore under its lock, by the index of the limit.
    typealias Access = (_ index: Int, _ change: (inout SemaphoreState<Waiter>) -> Int?) -> Int?

    /// The result of an attempt to take all permits.
    struct Attempt: Sendable {
        /// The first limit that has no permit; nil if all permits are taken.
        var lacking: Int?
        /// The limits whose lines must be served.
        var unserved: [Int] = []
        /// The limits that are kept free.
        var kept: [Int] = []
    }

    /// The number of times that a claim may be overtaken at the head of a line.
    static var passingLimit: Int { 16 }

    private let count: Int
    private var level = PriorityLevel.background
    /// The arrival that orders the claim in every line; nil if the claim has not been in a line since it last took the
    /// permits.
    private var arrival: LineArrival?
    private var tickets: [Int: Ticket] = [:]
    private(set) var passedCount = 0

    /// - Parameter count: The number of limits.
    init(count: Int) {
        self.count = count
    }

    func isInLine(at index: Int) -> Bool { tickets[index] != nil }

    /// Takes a permit of each limit, or enters the line of the first limit that has no permit.
    ///
    /// - Parameters:
    ///   - arrival: An arrival that is later than the arrivals of all entries in any line.
    ///   - waiter: The entry of the claim in a line.
    mutating func take(
        at level: PriorityLevel, arrival: LineArrival, _ waiter: Waiter, access: @escaping Access
    ) -> Attempt {
        var attempt = Attempt()
        if level != self.level { attempt.unserved = leaveAll(access: access) }
        self.level = level
        self.arrival = self.arrival ?? arrival
        let inLine = tickets.keys.sorted()
        attempt.lacking = take(from: 0, waiter, access)
        if let lacking = attempt.lacking {
            leaveOthers(lacking: lacking, &attempt, access)
        } else {
            self.arrival = nil
            passedCount = 0
            attempt.unserved += inLine
        }
        return attempt
    }

    /// Takes permits of the limits from an index on. Returns the first limit that has no permit; nil if all permits are
    /// taken.
    private mutating func take(from index: Int, _ waiter: Waiter, _ access: @escaping Access) -> Int? {
        if index == count { return nil }
        return access(index) { semaphore in
            let former = tickets.removeValue(forKey: index)
            guard semaphore.admits(at: level, arrival: arrival!) else {
                if let former { semaphore.leave(former) }
                arrival!.renew()
                tickets[index] = semaphore.wait(waiter, weight: 1, level: level, arrival: arrival!, isClaim: true)
                return index
            }
            if let lacking = take(from: index + 1, waiter, access) {
                tickets[index] = former
                return lacking
            }
            semaphore.takeAdmitted()
            if let former { semaphore.leave(former) }
            return nil
        }
    }

    private mutating func leaveOthers(lacking: Int, _ attempt: inout Attempt, _ access: @escaping Access) {
        let others = tickets.keys.filter { $0 != lacking }.sorted()
        if !others.isEmpty { passedCount += 1 }
        for index in others {
            if passedCount > Self.passingLimit, index < lacking {
                attempt.kept.append(index)
            } else {
                leave(index, access)
                attempt.unserved.append(index)
            }
        }
    }

    /// Leaves every line. Returns the limits whose lines must be served.
    mutating func leaveAll(access: @escaping Access) -> [Int] {
        let indices = tickets.keys.sorted()
        for index in indices { leave(index, access) }
        return indices
    }

    /// Leaves every line except the last, so that no limit is kept free. Returns the limits whose lines must be served.
    mutating func leaveKept(access: @escaping Access) -> [Int] {
        passedCount = 0
        let indices = tickets.keys.sorted().dropLast()
        for index in indices { leave(index, access) }
        return Array(indices)
    }

    private mutating func leave(_ index: Int, _ access: @escaping Access) {
        guard let ticket = tickets.removeValue(forKey: index) else { return }
        _ = access(index) { semaphore in
            // The result, the waiter, is not needed: the caller has it.
            semaphore.leave(ticket)
            return nil
        }
    }
}
