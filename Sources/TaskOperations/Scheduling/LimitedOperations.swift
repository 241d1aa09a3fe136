/// The operations of a queue that have limits, and those of them that wait for their limits.
///
/// A ready operation with limits is among the other ready operations until its turn. If its limits are not free then, it is
/// parked: it waits apart, and the operations behind it start. All operations with the same limits, a set, are parked
/// together, and one claim is in line at the semaphores for all of them. When the limits are offered, the first of these
/// operations is unparked; when it has started, the next one.
///
/// Each call takes at most O(log n) time in the number of parked operations, and does not depend on the number of sets.
struct LimitedOperations: Sendable {
    typealias Entry = ReadyQueue.Entry

    /// Whether the limits of a set can be had.
    enum Availability: Hashable, Sendable {
        /// Unknown. The first operation tries to take the limits in its turn.
        case unknown
        /// They could not be taken. A claim of this level is in line.
        case claimed(PriorityLevel)
        /// The claim has come to the head of its line. The queue must start an operation or give the claim up.
        case offered
    }

    struct LimitSet: Sendable {
        /// Ready operations that wait for the limits.
        fileprivate(set) var parked: ReadyQueue
        fileprivate(set) var availability = Availability.unknown
        /// How many operations have the set, started or not.
        fileprivate(set) var operationCount = 0
    }

    /// A call of semaphores to make, by the number of the set.
    enum Change: Hashable, Sendable {
        /// Release one permit of each.
        case release(Int)
        /// Leave the lines.
        case withdraw(Int)
        /// Leave the lines, and forget the set: no operation has it any more.
        case forget(Int)
    }

    private struct Member: Sendable {
        let set: Int
        var isParked = false
        /// Whether the operation executes without its limits, which are lent.
        var isLent = false
    }

    private let order: OperationOrder
    private(set) var sets = SlotMap<LimitSet>()
    /// The operations that have limits, by slot.
    private var members: [Int: Member] = [:]
    /// The sets whose limits are offered.
    private(set) var offered: [Int] = []
    private var changes: [Change] = []

    init(order: OperationOrder) {
        self.order = order
    }

    @inline(__always)
    var isEmpty: Bool { members.isEmpty }

    func set(of slot: Int) -> Int? { members[slot]?.set }

    func isParked(_ slot: Int) -> Bool { members[slot]?.isParked ?? false }

    var hasChanges: Bool { !changes.isEmpty }

    mutating func takeChanges() -> [Change] {
        defer { changes = [] }
        return changes.filter { change in
            guard case .forget(let set) = change else { return true }
            // An operation may have come that has the set.
            guard sets.holds(set), sets[set].operationCount == 0 else { return false }
            offered.removeAll { $0 == set }
            sets.remove(at: set)
            return true
        }
    }
}

// MARK: - Operations

extension LimitedOperations {
    mutating func makeSet() -> Int {
        sets.insert(LimitSet(parked: ReadyQueue(order: order)))
    }

    /// An operation is about to arrive.
    mutating func arrive(_ slot: Int, _ set: Int) {
        members[slot] = Member(set: set)
        sets[set].operationCount += 1
    }

    /// An operation has left. It is not parked.
    mutating func leave(_ slot: Int, hasStarted: Bool) {
        guard let member = members.removeValue(forKey: slot) else { return }
        let set = member.set
        if members.isEmpty { members = [:] }
        if hasStarted, !member.isLent { changes.append(.release(set)) }
        sets[set].operationCount -= 1
        if sets[set].operationCount == 0 { changes.append(.forget(set)) }
    }

    /// An operation that was to start has to wait after all.
    mutating func undoStart(_ slot: Int) {
        if let set = set(of: slot) { changes.append(.release(set)) }
    }

    /// An executing operation lends its limits, or has taken them back.
    mutating func setLent(_ isLent: Bool, _ slot: Int) {
        members[slot]!.isLent = isLent
        if isLent { changes.append(.release(members[slot]!.set)) }
    }

    /// Whether a ready operation of a level may try to take its limits. If not, it is parked.
    func mayTry(_ set: Int, at level: PriorityLevel) -> Bool {
        if case .claimed(let claimed) = sets[set].availability { level > claimed } else { true }
    }

    /// Parks a ready operation.
    mutating func park(_ entry: Entry, at level: PriorityLevel) {
        let set = members[entry.slot]!.set
        members[entry.slot]!.isParked = true
        sets[set].parked.insert(entry, at: level)
    }

    /// Removes a parked operation. If the remaining parked operations have lower levels than the claim, the claim is given
    /// up.
    mutating func unpark(_ entry: Entry, at level: PriorityLevel) {
        let set = members[entry.slot]!.set
        members[entry.slot]!.isParked = false
        sets[set].parked.remove(entry, at: level)
        if case .claimed(let claimed) = sets[set].availability, sets[set].parked.highestLevel != claimed {
            decline(set)
        }
    }

    /// The highest level of the parked operations of a set.
    func highestLevel(of set: Int) -> PriorityLevel? { sets[set].parked.highestLevel }

    /// Removes the first parked operation of a level of a set, unless a claim waits for it.
    mutating func unparkFirst(of set: Int, at level: PriorityLevel) -> Entry? {
        if case .claimed = sets[set].availability { return nil }
        guard let entry = sets[set].parked.first(of: level) else { return nil }
        unpark(entry, at: level)
        return entry
    }
}

// MARK: - Limits

extension LimitedOperations {
    /// The limits of a set could not be taken, and are claimed at a level.
    mutating func claim(_ set: Int, at level: PriorityLevel) {
        setAvailability(.claimed(level), of: set)
    }

    /// An operation has taken the limits of a set.
    mutating func noteTaken(_ set: Int) {
        setAvailability(.unknown, of: set)
    }

    /// The claim of a set has come to the head of its line.
    mutating func noteOffer(_ set: Int) {
        setAvailability(.offered, of: set)
    }

    /// Gives up the claim of a set. Its operations try again in their turn.
    mutating func decline(_ set: Int) {
        setAvailability(.unknown, of: set)
        changes.append(.withdraw(set))
    }

    private mutating func setAvailability(_ availability: Availability, of set: Int) {
        if sets[set].availability == .offered { offered.removeAll { $0 == set } }
        if availability == .offered { offered.append(set) }
        sets[set].availability = availability
    }
}
