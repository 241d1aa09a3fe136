/// The operations of a queue that have limits.
///
/// A ready operation with limits waits among the other ready operations until its turn. If its limits are not free at
/// its turn, the operation is parked in a separate list. The operations behind it may then start. Operations with the
/// same set of limits are parked together, and one claim waits at the semaphores for all of them. When the claim holds
/// the limits, the first of these operations is unparked. After it has started, the next operation is unparked.
///
/// Within a level, operations with limits start in the order in which the limits served them, and none starts before an
/// operation without limits that precedes it. In the order of arrival alone, an operation could keep permits unused while
/// operations that are served later start again and again.
///
/// A claim holds all permits of an operation only while the queue could start the operation. Otherwise, the queue gives
/// them back. A claim that waits for a limit keeps the permits of earlier limits, unless the queue is suspended or has a
/// width of 0.
///
/// An event of one operation takes at most O(log n) time, where n is the number of parked operations and of claims that
/// hold the limits for an operation.
struct LimitedOperations: Sendable {
    typealias Entry = ReadyQueue.Entry

    /// The result of an attempt to take the limits of a set.
    enum Attempt: Hashable, Sendable {
        case taken
        /// The limits were not free. The claim waits, and may keep some of the limits.
        case waits(isKeeping: Bool)
    }

    enum Availability: Hashable, Sendable {
        /// No claim waits. The first operation of the set tries to take the limits at its turn.
        case unknown
        /// The limits were not free. A claim at this level waits in line.
        case claimed(PriorityLevel, isKeeping: Bool)
        /// The claim holds the limits for an operation, which is in `held`. If another operation of the set starts first,
        /// it receives the limits.
        case held(Holder)

        fileprivate var isKeeping: Bool { if case .claimed(_, let isKeeping) = self { isKeeping } else { false } }
    }

    /// An operation whose limits are held.
    struct Holder: Hashable, Sendable {
        let entry: Entry
        let level: PriorityLevel
        /// The number of the service. Later services have higher numbers.
        let service: UInt64
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
        /// Release the permits of one operation.
        case release(Int)
        /// Leave the lines, and give back the permits of the claim.
        case withdraw(Int)
        /// Remove the set and withdraw its claim, unless an operation has the set again. No other change of the set
        /// follows.
        case forget(Int)
    }

    private struct Member: Sendable {
        let set: Int32
        var isParked = false
        /// Whether the operation executes and has lent its limits.
        var isLent = false
    }

    private let order: TaskOperationQueue.Configuration.Order
    private(set) var sets = SlotMap<LimitSet>()
    /// The operations that have limits, by slot. An array, which needs no hashing: Cost, row 23.
    private var members: [Member?] = []
    private var memberCount = 0
    /// The sets whose claims wait and keep permits.
    private(set) var keeping: Set<Int> = []
    /// The sets whose limits are held for an operation, in the order of service. The slot of an entry is the number of
    /// the set. Usually at most one.
    private(set) var held = ReadyQueue()
    private var lastService: UInt64 = 0
    private var changes = TinyArray<Change>()

    /// Whether any claim holds permits.
    var holdsPermits: Bool { !held.isEmpty || !keeping.isEmpty }

    init(order: TaskOperationQueue.Configuration.Order) {
        self.order = order
    }

    @inline(__always)
    func set(of slot: Int) -> Int? { slot < members.count ? members[slot].map { Int($0.set) } : nil }

    func isParked(_ slot: Int) -> Bool { slot < members.count && members[slot]?.isParked ?? false }

    var hasChanges: Bool { !changes.isEmpty }

    /// The set whose limits an ended operation has to release. Nil if there are other changes, or if the claim of the set
    /// holds permits for another operation.
    var released: Int? {
        guard changes.count == 1, case .release(let set) = changes[0], !isHeld(set) else { return nil }
        return set
    }

    /// Whether limits are about to be released that operations of several sets could need.
    var releasesForSeveralSets: Bool {
        sets.count > 1 && changes.contains { if case .release = $0 { true } else { false } }
    }

    /// Leaves the limits of the ended operation to the next one.
    mutating func passOn() { changes = TinyArray() }

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
        while members.count <= slot { members.append(nil) }
        members[slot] = Member(set: Int32(set))
        memberCount += 1
        sets[set].operationCount += 1
    }

    /// Records that an operation has left the queue. The operation must not be parked.
    mutating func leave(_ slot: Int, hasStarted: Bool) {
        guard slot < members.count, let member = members[slot].take() else { return }
        let set = Int(member.set)
        memberCount -= 1
        // The capacity of a few chunks remains, so that alternating additions and ends allocate no memory.
        if memberCount == 0, members.count > 64 { members = [] }
        if hasStarted, !member.isLent { changes.append(.release(set)) }
        sets[set].operationCount -= 1
        if sets[set].operationCount == 0 { changes.append(.forget(set)) }
    }

    /// Removes a set. Returns false if a new operation has the set, or if the set was removed before.
    mutating func forget(_ set: Int) -> Bool {
        guard sets.holds(set), sets[set].operationCount == 0 else { return false }
        setAvailability(.unknown, of: set)
        sets.remove(at: set)
        return true
    }

    /// Records whether an executing operation lends its limits.
    mutating func setLent(_ isLent: Bool, _ slot: Int) {
        members[slot]!.isLent = isLent
        if isLent { changes.append(.release(Int(members[slot]!.set))) }
    }

    /// Whether an operation that competes at a level may try to take the limits of a set. If it may not, the caller
    /// parks the operation.
    func mayTry(_ set: Int, at level: PriorityLevel) -> Bool {
        if case .claimed(let claimed, _) = sets[set].availability { level > claimed } else { true }
    }

    mutating func park(_ entry: Entry, at level: PriorityLevel) {
        let set = Int(members[entry.slot]!.set)
        members[entry.slot]!.isParked = true
        sets[set].parked.insert(entry, at: level)
    }

    /// Removes a parked operation. Withdraws the claim if the claim's level is higher than the levels of all remaining
    /// parked operations.
    mutating func unpark(_ entry: Entry, at level: PriorityLevel) {
        let set = Int(members[entry.slot]!.set)
        removeParked(entry, set, at: level)
        if case .claimed(let claimed, _) = sets[set].availability, sets[set].parked.highestLevel != claimed {
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

    func isHeld(_ set: Int) -> Bool {
        if case .held = sets[set].availability { true } else { false }
    }

    /// Whether a claim waits for the limits of a set.
    func isClaimed(_ set: Int) -> Bool {
        if case .claimed = sets[set].availability { true } else { false }
    }
}

// MARK: - Limits

extension LimitedOperations {
    /// Records that a claim waits for the limits of a set at a level.
    mutating func claim(_ set: Int, at level: PriorityLevel, isKeeping: Bool) {
        setAvailability(.claimed(level, isKeeping: isKeeping), of: set)
    }

    /// Records that a claim still waits, after a limit has served it.
    mutating func noteKept(_ set: Int, isKeeping: Bool) {
        guard case .claimed(let level, _) = sets[set].availability else { return }
        claim(set, at: level, isKeeping: isKeeping)
    }

    /// Records that the claim of a set holds the limits for an operation, which must be in no other list.
    mutating func hold(_ set: Int, for entry: Entry, at level: PriorityLevel) {
        lastService += 1
        setAvailability(.held(Holder(entry: entry, level: level, service: lastService)), of: set)
    }

    /// Passes the held limits of a set to an operation that precedes the holder within its level, and parks the holder.
    /// Returns false if there is no such holder.
    mutating func passHold(of set: Int, to entry: Entry, at level: PriorityLevel) -> Bool {
        guard let former = holder(of: set), former.level == level,
            order.rank(ofArrival: entry.arrival) < order.rank(ofArrival: former.entry.arrival)
        else { return false }
        setAvailability(.held(Holder(entry: entry, level: level, service: former.service)), of: set)
        park(former.entry, at: level)
        return true
    }

    /// Whether limits are held for an operation of a level.
    func hasHeld(at level: PriorityLevel) -> Bool { held.first(of: level) != nil }

    /// Whether an operation that has just taken the limits of its set must start after operations of its level whose
    /// limits were served before. If not, it starts now: claims hold limits for no more operations than the queue could
    /// start.
    func isBehindHeld(_ slot: Int, _ level: PriorityLevel, _ set: Int, freePermits: Int) -> Bool {
        guard let first = firstHeld(of: level), first.entry.slot != slot else { return false }
        return holder(of: set).map { $0.level == level } ?? (held.count < freePermits)
    }

    /// The operation of a level whose limits are held and were served first.
    func firstHeld(of level: PriorityLevel) -> Holder? {
        held.first(of: level).flatMap { holder(of: $0.slot) }
    }

    /// The operation for which the claim of a set holds the limits.
    func holder(of set: Int) -> Holder? {
        if case .held(let holder) = sets[set].availability { holder } else { nil }
    }

    /// The operations for which claims hold the limits, in the order of service.
    var holders: [Holder] { sets.slots.compactMap { holder(of: $0) }.sorted { $0.service < $1.service } }

    /// Records that the claim of a set neither waits nor holds the limits, because an operation has received them.
    /// Returns the operation for which it held them, which is then in no list.
    @discardableResult
    mutating func noteTaken(_ set: Int) -> Holder? {
        let holder = holder(of: set)
        setAvailability(.unknown, of: set)
        return holder
    }

    /// Withdraws the claim of a set. The operations of the set try again at their turns. Returns the operation for which
    /// the claim held the limits, which is then in no list.
    @discardableResult
    mutating func decline(_ set: Int) -> Holder? {
        changes.append(.withdraw(set))
        return noteTaken(set)
    }

    private mutating func setAvailability(_ availability: Availability, of set: Int) {
        let wasKeeping = sets[set].availability.isKeeping
        if let holder = holder(of: set) { held.remove(Entry(arrival: holder.service, slot: set), at: holder.level) }
        sets[set].availability = availability
        if let holder = holder(of: set) { held.insert(Entry(arrival: holder.service, slot: set), at: holder.level) }
        if wasKeeping == availability.isKeeping { return }
        if wasKeeping { keeping.remove(set) } else { keeping.insert(set) }
    }
}
