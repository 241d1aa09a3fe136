/// The operations of a queue that have limits, including the operations that wait for their limits.
///
/// A ready operation with limits is among the other ready operations until its turn. If its limits are not free at that
/// time, it is parked: it waits in a separate list, and the operations behind it may start. All operations with the
/// same set of limits are parked together, and one claim waits at the semaphores for all of them. When the limits are
/// offered, the first of these operations is unparked. When that operation has started, the next one is unparked.
///
/// Each call takes at most O(log n) time in the number of parked operations, and does not depend on the number of sets.
struct LimitedOperations: Sendable {
    typealias Entry = ReadyQueue.Entry

    /// Whether the limits of a set are available.
    enum Availability: Hashable, Sendable {
        /// Unknown. The first operation tries to take the limits when it is its turn.
        case unknown
        /// The limits could not be taken. A claim of this level is in line.
        case claimed(PriorityLevel)
        /// The claim is now at the head of its line. The queue must start an operation or withdraw the claim.
        case offered
    }

    struct LimitSet: Sendable {
        /// Ready operations that wait for the limits.
        fileprivate(set) var parked: ReadyQueue
        fileprivate(set) var availability = Availability.unknown
        /// The number of operations with this set, started or not.
        fileprivate(set) var operationCount = 0
    }

    /// A call to make on the semaphores of a set. The value is the number of the set.
    enum Change: Hashable, Sendable {
        /// Release one permit of each semaphore.
        case release(Int)
        /// Leave the lines.
        case withdraw(Int)
        /// Leave the lines, and remove the set, because no operation has it any more.
        case forget(Int)
    }

    private struct Member: Sendable {
        let set: Int
        var isParked = false
        /// Whether the operation is executing while its limits are lent.
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
            // A new operation may have the same set.
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

    /// Records that an operation is about to arrive.
    mutating func arrive(_ slot: Int, _ set: Int) {
        members[slot] = Member(set: set)
        sets[set].operationCount += 1
    }

    /// Records that an operation has left the queue. The operation must not be parked.
    mutating func leave(_ slot: Int, hasStarted: Bool) {
        guard let member = members.removeValue(forKey: slot) else { return }
        let set = member.set
        if members.isEmpty { members = [:] }
        if hasStarted, !member.isLent { changes.append(.release(set)) }
        sets[set].operationCount -= 1
        if sets[set].operationCount == 0 { changes.append(.forget(set)) }
    }

    /// Records that an operation that took its limits must wait again.
    mutating func undoStart(_ slot: Int) {
        if let set = set(of: slot) { changes.append(.release(set)) }
    }

    /// Records that an executing operation lends its limits or has taken them back.
    mutating func setLent(_ isLent: Bool, _ slot: Int) {
        members[slot]!.isLent = isLent
        if isLent { changes.append(.release(members[slot]!.set)) }
    }

    /// Whether a ready operation of a level may try to take its limits. If it may not, the caller parks it.
    func mayTry(_ set: Int, at level: PriorityLevel) -> Bool {
        if case .claimed(let claimed) = sets[set].availability { level > claimed } else { true }
    }

    /// Parks a ready operation.
    mutating func park(_ entry: Entry, at level: PriorityLevel) {
        let set = members[entry.slot]!.set
        members[entry.slot]!.isParked = true
        sets[set].parked.insert(entry, at: level)
    }

    /// Removes a parked operation. If the remaining parked operations have lower levels than the claim, withdraws the
    /// claim.
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
    /// Records that the limits of a set could not be taken and are claimed at a level.
    mutating func claim(_ set: Int, at level: PriorityLevel) {
        setAvailability(.claimed(level), of: set)
    }

    /// Records that an operation has taken the limits of a set.
    mutating func noteTaken(_ set: Int) {
        setAvailability(.unknown, of: set)
    }

    /// Records that the claim of a set is now at the head of its line.
    mutating func noteOffer(_ set: Int) {
        setAvailability(.offered, of: set)
    }

    /// Withdraws the claim of a set. Its operations try again when their turns come.
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
