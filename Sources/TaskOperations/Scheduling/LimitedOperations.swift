/// The ready operations of a queue that have limits: semaphores of which each has to take a permit before it starts.
///
/// Those with the same limits, a set, stand in one list, whose first one stands for all in what the set asks for. A set
/// is known by a small number, which is used again when it has no operation any more.
struct LimitedOperations: Sendable {
    typealias Entry = ReadyQueue.Entry

    struct LimitSet: Sendable {
        fileprivate(set) var ready: ReadyQueue
        /// How many operations have it, started or not.
        fileprivate(set) var operationCount = 0
        /// At which level the queue claims the limits, and waits; nil if it has yet to try.
        fileprivate(set) var parkedLevel: PriorityLevel?
        /// Whether a claim was made that has not been served, as far as is known.
        fileprivate(set) var hasClaim = false
        /// For how many operations that have not started limits are taken.
        fileprivate(set) var takenCount = 0
        /// How often in a row an operation has handed its limits to the next one.
        fileprivate(set) var keptCount = 0

        fileprivate var isUnused: Bool { operationCount == 0 && takenCount == 0 && !hasClaim }

        /// Whether its operations may be asked to start.
        var isOpen: Bool { parkedLevel == nil || takenCount > 0 }
    }

    /// What is to be done to semaphores, by the numbers of sets.
    struct Changes: Sendable {
        /// Each gets a permit back.
        fileprivate(set) var returned: [Int] = []
        /// The queue no longer claims a permit of each.
        fileprivate(set) var withdrawn: [Int] = []
        /// No operation has them any more.
        fileprivate(set) var forgotten: [Int] = []

        var isEmpty: Bool { returned.isEmpty && withdrawn.isEmpty && forgotten.isEmpty }
    }

    private let order: OperationOrder
    private var changes = Changes()
    private(set) var sets = SlotMap<LimitSet>()
    /// The numbers of all sets.
    private(set) var numbers: [Int] = []
    /// The set of each operation that has one, by slot; -1 for others.
    private var setOfSlot: [Int32] = []
    /// How many operations have one.
    private var count = 0

    init(order: OperationOrder) {
        self.order = order
    }

    var isEmpty: Bool { count == 0 }

    func set(of slot: Int) -> Int? { slot < setOfSlot.count && setOfSlot[slot] >= 0 ? Int(setOfSlot[slot]) : nil }

    /// How many operations are ready and may be asked to start.
    var openCount: Int {
        var count = 0
        for set in numbers where sets[set].isOpen { count += sets[set].ready.count }
        return count
    }
}

// MARK: - Operations

extension OperationOrder {
    /// Which of two of a level is served first.
    func comes(_ entry: ReadyQueue.Entry, before other: ReadyQueue.Entry) -> Bool {
        rank(ofArrival: entry.arrival) < rank(ofArrival: other.arrival)
    }
}

extension LimitedOperations {
    mutating func makeSet() -> Int {
        let set = sets.insert(LimitSet(ready: ReadyQueue(order: order)))
        numbers.append(set)
        return set
    }

    /// An operation is about to arrive.
    mutating func arrive(_ slot: Int, _ set: Int) {
        if slot >= setOfSlot.count {
            setOfSlot += repeatElement(-1, count: slot + 1 - setOfSlot.count)
        }
        setOfSlot[slot] = Int32(set)
        count += 1
        sets[set].operationCount += 1
    }

    /// An operation has left, and was removed if it was ready.
    mutating func leave(_ slot: Int, hasStarted: Bool) {
        guard let set = set(of: slot) else { return }
        setOfSlot[slot] = -1
        count -= 1
        if count == 0 { setOfSlot = [] }
        sets[set].operationCount -= 1
        if hasStarted { changes.returned.append(set) }
    }

    /// An operation that was to start has to wait after all.
    mutating func undoStart(_ slot: Int) {
        if let set = set(of: slot) { changes.returned.append(set) }
    }

    /// Forgets the sets that no operation has, and that have taken and claim nothing. Returns them.
    private mutating func forgetUnused() -> [Int] {
        if !numbers.contains(where: { sets[$0].isUnused }) { return [] }
        let unused = numbers.filter { sets[$0].isUnused }
        for set in unused { sets.remove(at: set) }
        numbers.removeAll(where: unused.contains)
        return unused
    }

    mutating func insert(_ entry: Entry, at level: PriorityLevel, _ set: Int) {
        sets[set].ready.insert(entry, at: level)
        reopen(set)
    }

    mutating func remove(_ entry: Entry, at level: PriorityLevel, _ set: Int) {
        sets[set].ready.remove(entry, at: level)
        reopen(set)
    }

    /// What is first has another level than the claim: it tries anew when its turn comes.
    private mutating func reopen(_ set: Int) {
        if sets[set].parkedLevel != sets[set].ready.highestLevel { sets[set].parkedLevel = nil }
    }

    /// The first operation of a level that may be asked to start, in the order of the queue.
    func first(of level: PriorityLevel) -> (entry: Entry, set: Int)? {
        var first: (entry: Entry, set: Int)?
        for set in numbers where sets[set].isOpen {
            guard let entry = sets[set].ready.first(of: level) else { continue }
            if first.map({ order.comes(entry, before: $0.entry) }) ?? true { first = (entry, set) }
        }
        return first
    }

    mutating func popFirst(of level: PriorityLevel, _ set: Int) {
        sets[set].ready.popFirst(of: level)
        reopen(set)
    }
}

// MARK: - Limits

extension LimitedOperations {
    /// The limits of a set could not be taken, and are claimed.
    mutating func park(_ set: Int, at level: PriorityLevel) {
        sets[set].parkedLevel = level
        sets[set].hasClaim = true
    }

    /// A claim was served.
    mutating func noteTaken(_ set: Int) {
        sets[set].takenCount += 1
        sets[set].parkedLevel = nil
        sets[set].hasClaim = false
    }

    /// How often in a row an operation hands its limits to the next one of its queue while others wait for them. Each time
    /// that is spared is a start of a worker on another queue.
    static var keepingLimit: Int { 16 }

    /// The level of the operation that would start next, if it may get the limits of one that has ended.
    func levelToKeep(_ set: Int, mayStart: (_ slot: Int, _ level: PriorityLevel) -> Bool) -> PriorityLevel? {
        guard sets[set].keptCount < Self.keepingLimit, sets[set].ready.count > sets[set].takenCount,
            let (entry, level) = sets[set].ready.first, mayStart(entry.slot, level)
        else { return nil }
        return level
    }

    /// An operation has handed its limits to the next one.
    mutating func keep(_ set: Int) {
        sets[set].keptCount += 1
        sets[set].takenCount += 1
    }

    /// Uses limits that were taken, if there are any, for an operation that starts.
    mutating func useTaken(_ set: Int) -> Bool {
        if sets[set].takenCount == 0 { return false }
        sets[set].takenCount -= 1
        return true
    }

    /// Whether `takeChanges` may find anything.
    var mayHaveChanges: Bool {
        !changes.returned.isEmpty
            || numbers.contains { set in
                sets[set].takenCount > 0 || sets[set].isUnused || (sets[set].hasClaim && sets[set].ready.isEmpty)
            }
    }

    /// Gives up what is taken for operations that cannot start now, and claims of sets none of whose operations is ready;
    /// and hands over what is to be done.
    ///
    /// - Parameters:
    ///   - mayStart: Whether an operation could if its limits were taken.
    ///   - mayKeep: Whether limits may be handed from one operation to another of a level.
    mutating func takeChanges(
        mayStart: (_ slot: Int, _ level: PriorityLevel) -> Bool, mayKeep: (_ set: Int, PriorityLevel) -> Bool
    ) -> Changes {
        var returned: [Int] = []
        for set in changes.returned {
            if let level = levelToKeep(set, mayStart: mayStart), mayKeep(set, level) {
                keep(set)
            } else {
                returned.append(set)
            }
        }
        changes.returned = returned
        for set in numbers {
            while sets[set].takenCount > 0, !canUse(set, mayStart) {
                sets[set].takenCount -= 1
                changes.returned.append(set)
            }
            if sets[set].hasClaim, sets[set].ready.isEmpty {
                sets[set].hasClaim = false
                sets[set].parkedLevel = nil
                changes.withdrawn.append(set)
            }
        }
        for set in changes.returned { sets[set].keptCount = 0 }
        changes.forgotten = forgetUnused()
        defer { changes = Changes() }
        return changes
    }

    private func canUse(_ set: Int, _ mayStart: (_ slot: Int, _ level: PriorityLevel) -> Bool) -> Bool {
        let ready = sets[set].ready
        if ready.count < sets[set].takenCount { return false }
        return PriorityLevel.allCases.contains { level in
            ready.first(of: level).map { mayStart($0.slot, level) } ?? false
        }
    }
}
