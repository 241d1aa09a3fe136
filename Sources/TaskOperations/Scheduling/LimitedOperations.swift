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
    /// The set of each operation that has one.
    private(set) var setOfSlot: [Int: Int] = [:]

    init(order: OperationOrder) {
        self.order = order
    }

    var isEmpty: Bool { setOfSlot.isEmpty }

    func set(of slot: Int) -> Int? { setOfSlot[slot] }

    /// How many operations are ready and may be asked to start.
    var openCount: Int { sets.all.reduce(0) { $0 + ($1.isOpen ? $1.ready.count : 0) } }
}

// MARK: - Operations

extension LimitedOperations {
    mutating func makeSet() -> Int { sets.insert(LimitSet(ready: ReadyQueue(order: order))) }

    /// An operation is about to arrive.
    mutating func arrive(_ slot: Int, _ set: Int) {
        setOfSlot[slot] = set
        sets[set].operationCount += 1
    }

    /// An operation has left, and was removed if it was ready.
    mutating func leave(_ slot: Int, hasStarted: Bool) {
        guard let set = setOfSlot.removeValue(forKey: slot) else { return }
        sets[set].operationCount -= 1
        if hasStarted { changes.returned.append(set) }
    }

    /// An operation that was to start has to wait after all.
    mutating func undoStart(_ slot: Int) {
        if let set = setOfSlot[slot] { changes.returned.append(set) }
    }

    /// Forgets the sets that no operation has, and that have taken and claim nothing. Returns them.
    private mutating func forgetUnused() -> [Int] {
        let unused = sets.slots.filter { set in
            sets[set].operationCount == 0 && sets[set].takenCount == 0 && !sets[set].hasClaim
        }
        for set in unused { sets.remove(at: set) }
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

    /// The first of each set that may be asked to start.
    func first(of level: PriorityLevel) -> [(entry: Entry, set: Int)] {
        sets.slots.compactMap { set in
            sets[set].isOpen ? sets[set].ready.first(of: level).map { ($0, set) } : nil
        }
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

    /// Uses limits that were taken, if there are any, for an operation that starts.
    mutating func useTaken(_ set: Int) -> Bool {
        if sets[set].takenCount == 0 { return false }
        sets[set].takenCount -= 1
        return true
    }

    /// Gives up what is taken for operations that cannot start now, and claims of sets none of whose operations is ready;
    /// and hands over what is to be done.
    ///
    /// - Parameter mayStart: Whether an operation could if its limits were taken.
    mutating func takeChanges(mayStart: (_ slot: Int, _ level: PriorityLevel) -> Bool) -> Changes {
        for set in sets.slots {
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
