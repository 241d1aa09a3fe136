/// The operations of a queue that have limits.
///
/// A ready operation with limits waits among the other ready operations until its turn. If its limits are not free at
/// its turn, the operation is parked in a separate list. The operations behind it may then start. Operations with the
/// same set of limits are parked together, and one claim waits at the semaphores for all of them. When the semaphores
/// offer the limits, the first of these operations is unparked. After it has started, the next operation is unparked.
///
/// An event of one operation takes at most O(log n) time, where n is the number of parked operations.
struct LimitedOperations: Sendable {
    typealias Entry = ReadyQueue.Entry

    enum Availability: Hashable, Sendable {
        /// The queue does not know. The first operation of the set tries to take the limits at its turn.
        case unknown
        /// The limits were not free. A claim at this level waits in line.
        case claimed(PriorityLevel)
        /// The claim is now at the head of its line. The queue must start an operation or withdraw the claim.
        case offered
    }

    struct LimitSet: Sendable {
        /// The ready operations that wait for the limits.
        fileprivate(set) var parked: ReadyQueue
        fileprivate(set) var availability = Availability.unknown
        /// The number of operations with this set, including operations that have started.
        fileprivate(set) var operationCount = 0
    }

    /// A call that the queue must make on the semaphores of a set. The associated value is the number of the set.
    enum Change: Hashable, Sendable {
        /// Release one permit of each semaphore. The queue may need the permits again at once, because it has other
        /// operations with this set.
        case release(Int, isNeededNext: Bool)
        /// Leave the lines.
        case withdraw(Int)
        /// Remove the set and leave the lines, unless an operation has the set again. No other change of the set
        /// follows.
        case forget(Int)
    }

    private struct Member: Sendable {
        let set: Int
        var isParked = false
        /// Whether the operation executes and has lent its limits.
        var isLent = false
    }

    private let order: OperationOrder
    private(set) var sets = SlotMap<LimitSet>()
    /// The operations that have limits, by slot.
    private var members: [Int: Member] = [:]
    /// The sets whose availability is `.offered`.
    private(set) var offered: [Int] = []
    private var changes = TinyArray<Change>()

    init(order: OperationOrder) {
        self.order = order
    }

    func set(of slot: Int) -> Int? { members[slot]?.set }

    func isParked(_ slot: Int) -> Bool { members[slot]?.isParked ?? false }

    mutating func takeChanges() -> TinyArray<Change> {
        defer { changes = TinyArray() }
        return changes
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
        if hasStarted, !member.isLent { release(set) }
        sets[set].operationCount -= 1
        if sets[set].operationCount == 0 { changes.append(.forget(set)) }
    }

    /// Removes a set. Returns false if a new operation has the set, or if the set was removed before.
    mutating func forget(_ set: Int) -> Bool {
        guard sets.holds(set), sets[set].operationCount == 0 else { return false }
        offered.removeAll { $0 == set }
        sets.remove(at: set)
        return true
    }

    /// Releases the limits of an operation that has taken them but must wait again.
    mutating func undoStart(_ slot: Int) {
        if let set = set(of: slot) { release(set) }
    }

    /// Records whether an executing operation lends its limits.
    mutating func setLent(_ isLent: Bool, _ slot: Int) {
        members[slot]!.isLent = isLent
        if isLent { release(members[slot]!.set) }
    }

    /// Releases the limits of one operation of a set.
    private mutating func release(_ set: Int) {
        changes.append(.release(set, isNeededNext: sets[set].operationCount > 1))
    }

    /// Whether an operation that competes at a level may try to take the limits of a set. If it may not, the caller
    /// parks the operation.
    func mayTry(_ set: Int, at level: PriorityLevel) -> Bool {
        if case .claimed(let claimed) = sets[set].availability { level > claimed } else { true }
    }

    mutating func park(_ entry: Entry, at level: PriorityLevel) {
        let set = members[entry.slot]!.set
        members[entry.slot]!.isParked = true
        sets[set].parked.insert(entry, at: level)
    }

    /// Removes a parked operation. Withdraws the claim if the claim's level is higher than the levels of all remaining
    /// parked operations.
    mutating func unpark(_ entry: Entry, at level: PriorityLevel) {
        let set = members[entry.slot]!.set
        removeParked(entry, set, at: level)
        if case .claimed(let claimed) = sets[set].availability, sets[set].parked.highestLevel != claimed {
            decline(set)
        }
    }

    func firstParked(of set: Int, at level: PriorityLevel) -> Entry? { sets[set].parked.first(of: level) }

    func highestLevel(of set: Int) -> PriorityLevel? { sets[set].parked.highestLevel }

    /// Unparks the first operation of a set at a level. A claim stays in line. Returns nil if no operation is parked.
    mutating func unparkFirst(of set: Int, at level: PriorityLevel) -> Entry? {
        guard let entry = firstParked(of: set, at: level) else { return nil }
        removeParked(entry, set, at: level)
        return entry
    }

    private mutating func removeParked(_ entry: Entry, _ set: Int, at level: PriorityLevel) {
        members[entry.slot]!.isParked = false
        sets[set].parked.remove(entry, at: level)
    }

    func isOffered(_ set: Int) -> Bool { sets[set].availability == .offered }

    /// Whether a claim waits for the limits of a set.
    func isClaimed(_ set: Int) -> Bool {
        if case .claimed = sets[set].availability { true } else { false }
    }
}

// MARK: - Limits

extension LimitedOperations {
    /// Records that a claim waits for the limits of a set at a level.
    mutating func claim(_ set: Int, at level: PriorityLevel) {
        setAvailability(.claimed(level), of: set)
    }

    mutating func noteTaken(_ set: Int) {
        setAvailability(.unknown, of: set)
    }

    /// Records that the claim of a set is now at the head of its line.
    mutating func noteOffer(_ set: Int) {
        setAvailability(.offered, of: set)
    }

    /// Withdraws the claim of a set. The operations of the set try again at their turns.
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
