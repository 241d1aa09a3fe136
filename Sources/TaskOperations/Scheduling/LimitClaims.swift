/// What operations want of a semaphore that is one of their limits, in the order in which they are served.
///
/// A claim is made by a queue for the first of its operations with the same limits, at all of these at once; so there are
/// few. It wants one permit of each, takes all or none, and holds none while it waits.
struct LimitClaims: Sendable {
    struct Claim: Hashable, Sendable {
        /// Names it, at all of its limits.
        let number: Int
        let level: PriorityLevel
        let arrival: UInt64
        /// Whether others may pass it here, as it waits for another limit: a permit would be of no use to it.
        var waitsElsewhere: Bool
        /// How often others have passed it here.
        var overtakenCount = 0

        var isOverdue: Bool { overtakenCount >= LimitClaims.overtakingLimit }
    }

    /// By level, then by arrival.
    private(set) var inOrder: [Claim] = []

    var isEmpty: Bool { inOrder.isEmpty }

    /// How often a claim is passed before it holds others up: at the first of its limits for which it waits, in the order
    /// in which semaphores were made. With one order for all, those that nest their acquiring likewise cannot deadlock.
    static var overtakingLimit: Int { 16 }

    subscript(number: Int) -> Claim? { inOrder.first { $0.number == number } }

    /// Whether something holds up what comes at a place.
    func isBlocked(at level: PriorityLevel, _ arrival: UInt64) -> Bool {
        inOrder.contains { $0.comes(before: level, arrival) && !$0.waitsElsewhere }
    }

    /// Makes a claim, or notes how an earlier one of the same level stands. One of another level is made anew.
    mutating func set(_ number: Int, at level: PriorityLevel, arrival: UInt64, waitsElsewhere: Bool) {
        if let index = inOrder.firstIndex(where: { $0.number == number && $0.level == level }) {
            inOrder[index].waitsElsewhere = waitsElsewhere
            return
        }
        remove(number)
        let place = inOrder.firstIndex { !$0.comes(before: level, arrival) } ?? inOrder.endIndex
        inOrder.insert(
            Claim(number: number, level: level, arrival: arrival, waitsElsewhere: waitsElsewhere), at: place)
    }

    mutating func remove(_ number: Int) { inOrder.removeAll { $0.number == number } }

    /// What came at a place has taken permits.
    mutating func noteOvertaking(from level: PriorityLevel, _ arrival: UInt64) {
        for index in inOrder.indices where inOrder[index].comes(before: level, arrival) {
            inOrder[index].overtakenCount += 1
        }
    }
}

extension LimitClaims.Claim {
    func comes(before level: PriorityLevel, _ arrival: UInt64) -> Bool {
        self.level > level || (self.level == level && self.arrival < arrival)
    }
}

/// An attempt to take one permit of each of some semaphores, all or none: first each is looked at, in the order in which
/// they were made, and then each takes what the looks have led to. Their locks are held from the first look on.
struct LimitAttempt: Sendable {
    let number: Int
    private var level: PriorityLevel?
    private var hasRoom: [Bool] = []
    private var overtakenCount = 0

    /// - Parameter level: Nil for a claim that was made before, and stays as it is.
    init(number: Int, level: PriorityLevel?) {
        self.number = number
        self.level = level
    }

    /// How many semaphores were looked at.
    var lookCount: Int { hasRoom.count }

    var succeeds: Bool { !hasRoom.contains(false) }

    /// Looks at the next semaphore. Returns false if the claim that was made before is gone: then nothing is to be done.
    mutating func look(at state: SemaphoreState<some Sendable>) -> Bool {
        let claim = state.claims[number]
        guard let level = level ?? claim?.level else { return false }
        self.level = level
        hasRoom.append(state.admits(number, at: level))
        overtakenCount = max(overtakenCount, claim?.overtakenCount ?? 0)
        return true
    }

    /// Whether the claim waits for another limit than the one with this index. If it was overtaken too often, only limits
    /// before that one count: so it has one after the other kept free for it.
    func waitsElsewhere(than index: Int) -> Bool {
        let isOverdue = overtakenCount >= LimitClaims.overtakingLimit
        return hasRoom.indices.contains { !hasRoom[$0] && (isOverdue ? $0 < index : $0 != index) }
    }

    /// Takes the permit of the semaphore with this index, or makes the claim for it.
    func settle(_ state: inout SemaphoreState<some Sendable>, _ index: Int) {
        if succeeds {
            state.take(number, at: level!)
        } else {
            state.claim(number, at: level!, waitsElsewhere: waitsElsewhere(than: index))
        }
    }
}
