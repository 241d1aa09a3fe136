/// The deadlines of all clocks, and the state of the sleepers. A sleeper is a task that sleeps until the earliest
/// deadline of a clock and of a priority. Here, a clock with two priorities counts as two clocks.
///
/// The table is a pure value that makes all decisions about deadlines. `Deadlines` performs the effects of these decisions.
struct DeadlineTable: Sendable {
    /// A sleeper that the caller must start.
    struct NewSleeper: Sendable {
        let clock: UInt8
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
        case tooManyClocks
    }

    enum Next: Sendable {
        case tell([any DeadlineTarget])
        case sleep(until: Duration)
        case end
    }

    private struct Clock: Sendable {
        let face: ClockFace
        let key: ClockKey
        var deadlines: DeadlineList
        /// The number of the sleeper; 0 if there is none. A sleeper with an earlier number ends when it calls `next`.
        var sleeper: UInt64 = 0
        /// The task of the sleeper; nil until `setTask` is called.
        var task: Task<Void, Never>?
        /// The end of the current sleep; nil if the sleeper is awake. A sleeper that is awake calls `next`, which finds
        /// new deadlines.
        var sleepsUntil: Duration?
    }

    /// The clocks that have deadlines, by number.
    private var clocks = SlotMap<Clock>()
    private var numbers: [ClockKey: UInt8] = [:]
    private var lastSleeper: UInt64 = 0
    /// The clock that was used last; nil if it was forgotten. The next deadline usually has the same clock. A search in
    /// `numbers` takes 300 instructions, and a deadline needs two.
    private var recent: (key: ClockKey, number: UInt8)?

    /// The maximum number of deadlines that `next` returns at once. It limits the time for which the lock is held.
    private static var batchCount: Int { 64 }

    /// The number of pending deadlines.
    var count: Int { clocks.all.reduce(0) { $0 + $1.deadlines.count } }

    /// Returns the face of a clock that has deadlines; nil for other clocks.
    mutating func face(for key: ClockKey) -> ClockFace? {
        number(of: key).map { clocks[Int($0)].face }
    }

    mutating func add(
        _ target: any DeadlineTarget, at deadline: Duration, on face: ClockFace, _ key: ClockKey
    ) -> Addition {
        guard let number = number(of: key) ?? addClock(face, key) else { return .tooManyClocks }
        let index = Int(number)
        guard clocks[index].face === face else { return .faceIsStale }
        clocks[index].deadlines.insert(target, at: deadline)
        let isAwake = clocks[index].sleeper != 0 && clocks[index].sleepsUntil == nil
        if isAwake { return .added(nil) }
        if let end = clocks[index].sleepsUntil, end <= deadline { return .added(nil) }
        return .added(newSleeper(for: number))
    }

    /// Removes the deadline of a target. If no sleeper of its clock is needed any more, returns the task that the caller
    /// must cancel, and the face of the clock. The caller must release the face after unlocking.
    mutating func remove(_ target: any DeadlineTarget) -> (task: Task<Void, Never>?, face: ClockFace?) {
        guard let place = target.deadlinePlace else { return (nil, nil) }
        let index = Int(place.clock)
        clocks[index].deadlines.remove(at: Int(place.slot))
        // Operations with timeouts often come one after the other. A new sleeper for each costs 5,000 instructions.
        guard clocks[index].deadlines.isEmpty, !clocks[index].key.isOfSystem else { return (nil, nil) }
        let clock = forgetClock(index)
        return (clock.task, clock.face)
    }

    /// Stores the task of a sleeper. Returns false if the sleeper is no longer needed.
    mutating func setTask(_ task: Task<Void, Never>, of sleeper: NewSleeper) -> Bool {
        guard isCurrent(sleeper) else { return false }
        clocks[Int(sleeper.clock)].task = task
        return true
    }

    /// Returns the next step of a sleeper.
    ///
    /// - Parameter now: The current moment of the sleeper's clock.
    mutating func next(for sleeper: NewSleeper, at now: Duration) -> Next {
        guard isCurrent(sleeper) else { return .end }
        let index = Int(sleeper.clock)
        var due: [any DeadlineTarget] = []
        while due.count < Self.batchCount, let target = clocks[index].deadlines.popFirst(until: now) {
            due.append(target)
        }
        clocks[index].sleepsUntil = nil
        if !due.isEmpty { return .tell(due) }
        guard let earliest = clocks[index].deadlines.earliest else {
            _ = forgetClock(index)
            return .end
        }
        clocks[index].sleepsUntil = earliest
        return .sleep(until: earliest)
    }

    private mutating func number(of key: ClockKey) -> UInt8? {
        if let recent, recent.key == key { return recent.number }
        recent = numbers[key].map { (key, $0) }
        return recent?.number
    }

    private func isCurrent(_ sleeper: NewSleeper) -> Bool {
        clocks.holds(Int(sleeper.clock)) && clocks[Int(sleeper.clock)].sleeper == sleeper.number
    }

    private mutating func newSleeper(for number: UInt8) -> NewSleeper {
        lastSleeper += 1
        let index = Int(number)
        let replaced = clocks[index].task.take()
        clocks[index].sleeper = lastSleeper
        clocks[index].sleepsUntil = nil
        let (face, priority) = (clocks[index].face, clocks[index].key.priority)
        return NewSleeper(clock: number, face: face, priority: priority, number: lastSleeper, replaced: replaced)
    }

    private mutating func addClock(_ face: ClockFace, _ key: ClockKey) -> UInt8? {
        guard clocks.count < DeadlinePlace.clockLimit else { return nil }
        let index = clocks.nextSlot
        let number = UInt8(index)
        clocks.insert(Clock(face: face, key: key, deadlines: DeadlineList(clock: number)), at: index)
        numbers[key] = number
        return number
    }

    private mutating func forgetClock(_ index: Int) -> Clock {
        let clock = clocks.remove(at: index)
        numbers[clock.key] = nil
        recent = nil
        return clock
    }
}

/// An object that waits for a deadline.
protocol DeadlineTarget: AnyObject, Sendable {
    /// The place of the object's deadline in a list; nil if the object has no deadline. Only `DeadlineList` sets this
    /// property. The lock of `Deadlines` is held during each access.
    var deadlinePlace: DeadlinePlace? { get set }

    /// Called after the deadline has passed, with no lock held.
    func deadlinePassed()
}

/// The place of a deadline: the number of its clock, and its slot in the list of the clock.
struct DeadlinePlace: Hashable, Sendable {
    /// All numbers of clocks are less than this limit. It is a number of full chunks of a `SlotMap`, so that a map with
    /// fewer clocks has a free slot below it.
    static var clockLimit: UInt8 { 240 }

    let clock: UInt8
    let slot: Int32
}

/// The deadlines of one clock, earliest first. Equal deadlines are in the order of their addition. A deadline is a
/// duration since a fixed moment of the clock. Each target stores the slot of its deadline, so that the list can remove
/// any deadline.
///
/// A removed deadline stays in the order until it is the first, or until most deadlines of the order are removed ones.
/// A removal then touches no other target, which takes a sixth of the instructions of a removal from a heap whose
/// targets store their positions. If all deadlines have the same delay, the addition and the end of each take amortised
/// constant time. A deadline that is earlier than one that was added before takes O(log *n*) time. A removal that frees
/// the removed deadlines takes linear time.
struct DeadlineList: Sendable {
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
    }

    private let clock: UInt8
    /// The target of each deadline, and the number of its entry.
    private var targets = SlotMap<(target: any DeadlineTarget, number: UInt32)>()
    /// The entries of all deadlines, and of some removed deadlines. The first entry is not the entry of a removed one.
    private var order = RankedList<Entry>()
    private var lastNumber: UInt32 = 0

    /// - Parameter clock: The number of the clock.
    init(clock: UInt8) {
        self.clock = clock
    }

    var isEmpty: Bool { count == 0 }

    var count: Int { targets.count }

    /// The number of deadlines for which memory is allocated.
    var capacity: Int { max(targets.capacity, order.capacity) }

    var earliest: Duration? { order.first?.deadline }

    mutating func insert(_ target: any DeadlineTarget, at deadline: Duration) {
        lastNumber &+= 1
        let slot = Int32(targets.insert((target, lastNumber)))
        order.insert(Entry(deadline: deadline, number: lastNumber, slot: slot))
        target.deadlinePlace = DeadlinePlace(clock: clock, slot: slot)
    }

    /// Removes the deadline at a slot.
    mutating func remove(at slot: Int) {
        let number = take(at: slot).number
        if order.first?.number == number {
            removeFirst()
        } else if order.count > 2 * count + 64 {
            order.removeAll { [self] in !isPending($0) }
        }
    }

    /// If the earliest deadline is at or before a moment, removes the deadline and returns its target. Otherwise
    /// returns nil.
    mutating func popFirst(until moment: Duration) -> (any DeadlineTarget)? {
        guard let first = order.first, first.deadline <= moment else { return nil }
        let target = take(at: Int(first.slot)).target
        removeFirst()
        return target
    }

    /// Removes a deadline, but not its entry.
    private mutating func take(at slot: Int) -> (target: any DeadlineTarget, number: UInt32) {
        let removed = targets.remove(at: slot)
        removed.target.deadlinePlace = nil
        return removed
    }

    /// Removes the first entry, and the entries of removed deadlines directly behind it.
    private mutating func removeFirst() {
        repeat { order.removeFirst() } while order.first.map { !isPending($0) } ?? false
    }

    private func isPending(_ entry: Entry) -> Bool {
        targets.holds(Int(entry.slot)) && targets[Int(entry.slot)].number == entry.number
    }
}
