/// The deadlines of all clocks, and the state of the sleepers. A sleeper is a task that sleeps until the earliest
/// deadline of a clock and of a priority. Here, a clock with two priorities counts as two clocks.
///
/// The table is a pure value that makes all decisions about deadlines. `Deadlines` performs the effects of these decisions.
///
/// The deadlines of a clock are in an order, earliest first. Equal deadlines are in the order of their addition. A deadline
/// is a duration since a fixed moment of its clock. Each target stores the slot of its deadline, so that the table can remove
/// any deadline.
///
/// A removed deadline stays in the order until it is the first, or until most deadlines of the order are removed ones.
/// A removal then touches no other target, which takes a sixth of the instructions of a removal from a heap whose
/// targets store their positions. If all deadlines have the same delay, the addition and the end of each take amortised
/// constant time. A deadline that is earlier than one that was added before takes O(log *n*) time. A removal that frees
/// the removed deadlines takes linear time.
struct DeadlineTable: Sendable {
    /// A sleeper that the caller must start.
    struct NewSleeper: Sendable {
        let clock: Int
        let face: ClockFace
        /// The raw value of the task's priority. The compiler does not know the layout of `TaskPriority`, whose copies would
        /// take 400 instructions for each deadline.
        let priority: UInt8
        let number: UInt64
        /// The previous sleeper of the clock, which the caller must cancel; nil if there is none.
        let replaced: Task<Void, Never>?
    }

    enum Addition: Sendable {
        /// The deadline was added. If there is a sleeper, the caller must start it.
        case added(NewSleeper?)
        /// The deadline was not added, because the clock was forgotten and registered again.
        case faceIsStale
    }

    enum Next: Sendable {
        case tell([any DeadlineTarget])
        case sleep(until: Duration)
        case end
    }

    private struct Clock: Sendable {
        let face: ClockFace
        let key: ClockKey
        /// The entries of all deadlines, and of some removed ones. The first entry is not that of a removed deadline.
        var order = RankedList<Entry>()
        /// The number of deadlines.
        var count = 0
        /// The number of the sleeper; 0 if there is none. A sleeper with an earlier number ends when it calls `next`.
        var sleeper: UInt64 = 0
        /// The task of the sleeper; nil until `setTask` is called.
        var task: Task<Void, Never>?
        /// The end of the current sleep; nil if the sleeper is awake. A sleeper that is awake calls `next`, which finds
        /// new deadlines.
        var sleepsUntil: Duration?
    }

    private typealias Targets = SlotMap<(target: any DeadlineTarget, clock: Int32, number: UInt32)>

    private struct Entry: HeapElement, BitwiseCopyable {
        let deadline: Duration
        let number: UInt32
        let slot: Int32

        /// Numbers wrap around. For this reason, the function tests their distance, which must be less than
        /// 2,147,483,648.
        func isBefore(_ other: Self) -> Bool {
            if deadline != other.deadline { return deadline < other.deadline }
            return Int32(bitPattern: number &- other.number) < 0
        }

        /// Whether the deadline was not removed.
        func isPending(_ targets: borrowing Targets) -> Bool {
            targets.holds(Int(slot)) && targets[Int(slot)].number == number
        }
    }

    /// The target of each deadline of any clock, with the number of its clock and the number of its entry.
    private var targets = Targets()
    private var lastNumber: UInt32 = 0
    /// The clocks that have deadlines, by number.
    private var clocks = SlotMap<Clock>()
    private var numbers: [ClockKey: Int] = [:]
    private var lastSleeper: UInt64 = 0
    /// The clock that was used last; nil if it was forgotten. The next deadline usually has the same clock. A search in
    /// `numbers` takes 300 instructions, and a deadline needs two.
    private var recent: (key: ClockKey, number: Int)?

    /// The maximum number of deadlines that `next` returns at once. It limits the time for which the lock is held.
    private static var batchCount: Int { 64 }

    /// The number of pending deadlines.
    var count: Int { targets.count }

    /// The number of deadlines for which memory is allocated.
    var capacity: Int { clocks.all.reduce(targets.capacity) { max($0, $1.order.capacity) } }

    /// Returns the face of a clock that has deadlines; nil for other clocks.
    mutating func face(for key: ClockKey) -> ClockFace? {
        number(of: key).map { clocks[$0].face }
    }

    mutating func add(
        _ target: any DeadlineTarget, at deadline: Duration, on face: ClockFace, _ key: ClockKey
    ) -> Addition {
        let clock = number(of: key) ?? addClock(face, key)
        guard clocks[clock].face === face else { return .faceIsStale }
        insert(target, at: deadline, of: clock)
        let isAwake = clocks[clock].sleeper != 0 && clocks[clock].sleepsUntil == nil
        if isAwake { return .added(nil) }
        if let end = clocks[clock].sleepsUntil, end <= deadline { return .added(nil) }
        return .added(newSleeper(for: clock))
    }

    /// Removes the deadline of a target. If no sleeper of its clock is needed any more, returns the task that the caller
    /// must cancel, and the face of the clock. The caller must release the face after unlocking.
    mutating func remove(_ target: any DeadlineTarget) -> (task: Task<Void, Never>?, face: ClockFace?) {
        guard target.deadlineSlot >= 0 else { return (nil, nil) }
        let (_, clock, number) = take(at: Int(target.deadlineSlot))
        if clocks[clock].order.first?.number == number {
            removeFirstEntry(of: clock)
        } else if clocks[clock].order.count > 2 * clocks[clock].count + 64 {
            clocks[clock].order.removeAll { !$0.isPending(targets) }
        }
        // Operations with timeouts often come one after the other. A new sleeper for each costs 5,000 instructions.
        guard clocks[clock].count == 0, !clocks[clock].key.isOfSystem else { return (nil, nil) }
        let forgotten = forgetClock(clock)
        return (forgotten.task, forgotten.face)
    }

    /// Stores the task of a sleeper. Returns false if the sleeper is no longer needed.
    mutating func setTask(_ task: Task<Void, Never>, of sleeper: NewSleeper) -> Bool {
        guard isCurrent(sleeper) else { return false }
        clocks[sleeper.clock].task = task
        return true
    }

    /// Returns the next step of a sleeper.
    ///
    /// - Parameter now: The current moment of the sleeper's clock.
    mutating func next(for sleeper: NewSleeper, at now: Duration) -> Next {
        guard isCurrent(sleeper) else { return .end }
        let clock = sleeper.clock
        var due: [any DeadlineTarget] = []
        while due.count < Self.batchCount, let first = clocks[clock].order.first, first.deadline <= now {
            due.append(take(at: Int(first.slot)).target)
            removeFirstEntry(of: clock)
        }
        clocks[clock].sleepsUntil = nil
        if !due.isEmpty { return .tell(due) }
        guard let earliest = clocks[clock].order.first?.deadline else {
            _ = forgetClock(clock)
            return .end
        }
        clocks[clock].sleepsUntil = earliest
        return .sleep(until: earliest)
    }
}

// MARK: - Deadlines

extension DeadlineTable {
    private mutating func insert(_ target: any DeadlineTarget, at deadline: Duration, of clock: Int) {
        lastNumber &+= 1
        let slot = Int32(targets.insert((target, Int32(clock), lastNumber)))
        clocks[clock].order.insert(Entry(deadline: deadline, number: lastNumber, slot: slot))
        clocks[clock].count += 1
        target.deadlineSlot = slot
    }

    /// Removes a deadline, but not its entry.
    private mutating func take(at slot: Int) -> (target: any DeadlineTarget, clock: Int, number: UInt32) {
        let (target, clock, number) = targets.remove(at: slot)
        target.deadlineSlot = -1
        clocks[Int(clock)].count -= 1
        return (target, Int(clock), number)
    }

    /// Removes the first entry, and the entries of removed deadlines directly behind it.
    private mutating func removeFirstEntry(of clock: Int) {
        repeat {
            clocks[clock].order.removeFirst()
        } while clocks[clock].order.first.map { !$0.isPending(targets) } ?? false
    }
}

// MARK: - Clocks

extension DeadlineTable {
    private mutating func number(of key: ClockKey) -> Int? {
        if let recent, recent.key == key { return recent.number }
        recent = numbers[key].map { (key, $0) }
        return recent?.number
    }

    private func isCurrent(_ sleeper: NewSleeper) -> Bool {
        clocks.holds(sleeper.clock) && clocks[sleeper.clock].sleeper == sleeper.number
    }

    private mutating func newSleeper(for clock: Int) -> NewSleeper {
        lastSleeper += 1
        let replaced = clocks[clock].task.take()
        clocks[clock].sleeper = lastSleeper
        clocks[clock].sleepsUntil = nil
        let (face, priority) = (clocks[clock].face, clocks[clock].key.priority)
        return NewSleeper(clock: clock, face: face, priority: priority, number: lastSleeper, replaced: replaced)
    }

    private mutating func addClock(_ face: ClockFace, _ key: ClockKey) -> Int {
        let number = clocks.insert(Clock(face: face, key: key))
        numbers[key] = number
        return number
    }

    private mutating func forgetClock(_ index: Int) -> Clock {
        let clock = clocks.remove(at: index)
        numbers[clock.key] = nil
        // Frees the memory of many clocks.
        if numbers.isEmpty { numbers = [:] }
        recent = nil
        return clock
    }
}

/// An object that waits for a deadline.
protocol DeadlineTarget: AnyObject, Sendable {
    /// The slot of the object's deadline; negative if it has none. Only `DeadlineTable` sets this property. The lock
    /// of `Deadlines` is held during each access.
    var deadlineSlot: Int32 { get set }

    /// Called after the deadline has passed, with no lock held.
    func deadlinePassed()
}
