/// Makes all decisions about deadlines, as a pure value. The table contains the deadlines of each clock, and the time
/// until which the clock's task sleeps.
struct DeadlineTable: Sendable {
    /// A sleeper: a task that the caller must start for a clock.
    struct NewSleeper: Sendable {
        let clock: UInt8
        let face: ClockFace
        let number: UInt64
        /// The previous task, which sleeps too long and must be cancelled.
        let replaced: Task<Void, Never>?
    }

    enum Addition: Sendable {
        /// The deadline was added. The caller must start the sleeper if there is one.
        case added(NewSleeper?)
        /// The clock now has another face.
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
        /// The number of the task that sleeps for the clock; 0 if there is none. Tasks with earlier numbers end at
        /// their next step.
        var sleeper: UInt64 = 0
        /// The handle of this task; nil until it is known.
        var task: Task<Void, Never>?
        /// Nil while the task is about to call `next`, which will find added deadlines.
        var sleepsUntil: Duration?
    }

    /// The clocks by number; nil for free numbers.
    private var clocks: [Clock?] = []
    private var numbers: [ClockKey: UInt8] = [:]
    private var lastSleeper: UInt64 = 0
    /// The number of the clock that was used last, which is usually used again.
    private var recent = 0

    /// The maximum number of deadlines that a sleeper gets at once, so that the lock is not held for long.
    private static var batchCount: Int { 64 }

    /// The number of pending deadlines.
    var count: Int { clocks.reduce(0) { $0 + ($1?.heap.count ?? 0) } }

    /// Returns the face of a clock if the clock has deadlines; otherwise nil.
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

    /// Removes a target's deadline. If the deadline was the last one of its clock, returns the task to cancel and the
    /// clock face, which the caller releases after unlocking.
    mutating func remove(_ target: any DeadlineTarget) -> (task: Task<Void, Never>?, face: ClockFace?) {
        guard let index = target.deadlinePlace.map({ Int($0.clock) }) else { return (nil, nil) }
        _ = clocks[index]!.heap.remove(target)
        guard clocks[index]!.heap.isEmpty else { return (nil, nil) }
        let clock = forgetClock(index)
        return (clock.task, clock.face)
    }

    /// Stores the handle of a sleeper. Returns false if the sleeper is no longer needed.
    mutating func setTask(_ task: Task<Void, Never>, of sleeper: NewSleeper) -> Bool {
        guard isCurrent(sleeper) else { return false }
        clocks[Int(sleeper.clock)]!.task = task
        return true
    }

    /// Returns the next step of a sleeper at a moment of its clock.
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
        if recent < clocks.count, clocks[recent]?.key == key { return UInt8(recent) }
        let number = numbers[key]
        if let number { recent = Int(number) }
        return number
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
        return clock
    }
}
