/// The deadlines of all clocks, and the state of the sleepers. A sleeper is a task that sleeps until the earliest
/// deadline of a clock.
///
/// The table is a pure value that makes all decisions about deadlines. `Deadlines` performs the effects of these decisions.
struct DeadlineTable: Sendable {
    /// A sleeper that the caller must start.
    struct NewSleeper: Sendable {
        let clock: UInt8
        let face: ClockFace
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
        var heap: DeadlineHeap
        /// The number of the sleeper; 0 if there is none. A sleeper with an earlier number ends when it calls `next`.
        var sleeper: UInt64 = 0
        /// The task of the sleeper; nil until `setTask` is called.
        var task: Task<Void, Never>?
        /// The end of the current sleep; nil if the sleeper is awake. A sleeper that is awake calls `next`, which finds
        /// new deadlines.
        var sleepsUntil: Duration?
    }

    /// The clock of each number; nil if the number is free.
    private var clocks: [Clock?] = []
    private var numbers: [ClockKey: UInt8] = [:]
    private var lastSleeper: UInt64 = 0
    /// The clock that was used last; nil if it was forgotten. The next deadline usually has the same clock.
    private var recent: (key: ClockKey, number: UInt8)?

    /// The maximum number of deadlines that `next` returns at once. It limits the time for which the lock is held.
    private static var batchCount: Int { 64 }

    /// The number of pending deadlines.
    var count: Int { clocks.reduce(0) { $0 + ($1?.heap.count ?? 0) } }

    /// Returns the face of a clock that has deadlines; nil for other clocks.
    mutating func face(for key: ClockKey) -> ClockFace? {
        number(of: key).map { clocks[Int($0)]!.face }
    }

    mutating func add(
        _ target: any DeadlineTarget, at deadline: Duration, on face: ClockFace, _ key: ClockKey
    ) -> Addition {
        guard let number = number(of: key) ?? addClock(face, key) else { return .tooManyClocks }
        let index = Int(number)
        guard clocks[index]!.face === face else { return .faceIsStale }
        clocks[index]!.heap.insert(target, at: deadline)
        let isAwake = clocks[index]!.sleeper != 0 && clocks[index]!.sleepsUntil == nil
        if isAwake { return .added(nil) }
        if let end = clocks[index]!.sleepsUntil, end <= deadline { return .added(nil) }
        return .added(newSleeper(for: number))
    }

    /// Removes the deadline of a target. If the clock has no other deadline, returns the task that the caller must
    /// cancel, and the face of the clock. The caller must release the face after unlocking.
    mutating func remove(_ target: any DeadlineTarget) -> (task: Task<Void, Never>?, face: ClockFace?) {
        guard let index = target.deadlinePlace.map({ Int($0.clock) }) else { return (nil, nil) }
        _ = clocks[index]!.heap.remove(target)
        guard clocks[index]!.heap.isEmpty else { return (nil, nil) }
        let clock = forgetClock(index)
        return (clock.task, clock.face)
    }

    /// Stores the task of a sleeper. Returns false if the sleeper is no longer needed.
    mutating func setTask(_ task: Task<Void, Never>, of sleeper: NewSleeper) -> Bool {
        guard isCurrent(sleeper) else { return false }
        clocks[Int(sleeper.clock)]!.task = task
        return true
    }

    /// Returns the next step of a sleeper.
    ///
    /// - Parameter now: The current moment of the sleeper's clock.
    mutating func next(for sleeper: NewSleeper, at now: Duration) -> Next {
        guard isCurrent(sleeper) else { return .end }
        let index = Int(sleeper.clock)
        var due: [any DeadlineTarget] = []
        while due.count < Self.batchCount, let target = clocks[index]!.heap.popFirst(until: now) { due.append(target) }
        clocks[index]!.sleepsUntil = nil
        if !due.isEmpty { return .tell(due) }
        guard let earliest = clocks[index]!.heap.earliest else {
            _ = forgetClock(index)
            return .end
        }
        clocks[index]!.sleepsUntil = earliest
        return .sleep(until: earliest)
    }

    private mutating func number(of key: ClockKey) -> UInt8? {
        if let recent, recent.key == key { return recent.number }
        recent = numbers[key].map { (key, $0) }
        return recent?.number
    }

    private func isCurrent(_ sleeper: NewSleeper) -> Bool {
        clocks[Int(sleeper.clock)]?.sleeper == sleeper.number
    }

    private mutating func newSleeper(for number: UInt8) -> NewSleeper {
        lastSleeper += 1
        let index = Int(number)
        let replaced = clocks[index]!.task.take()
        clocks[index]!.sleeper = lastSleeper
        clocks[index]!.sleepsUntil = nil
        return NewSleeper(clock: number, face: clocks[index]!.face, number: lastSleeper, replaced: replaced)
    }

    private mutating func addClock(_ face: ClockFace, _ key: ClockKey) -> UInt8? {
        let index = clocks.firstIndex { $0 == nil } ?? clocks.count
        guard index < DeadlinePlace.clockLimit else { return nil }
        let number = UInt8(index)
        if index == clocks.count { clocks.append(nil) }
        clocks[index] = Clock(face: face, key: key, heap: DeadlineHeap(clock: number))
        numbers[key] = number
        return number
    }

    private mutating func forgetClock(_ index: Int) -> Clock {
        let clock = clocks[index].take()!
        numbers[clock.key] = nil
        recent = nil
        return clock
    }
}
