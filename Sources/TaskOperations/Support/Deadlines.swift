internal import CTaskOperations
import Synchronization

/// All deadlines of the process. For each clock and priority with pending deadlines, one task sleeps until the
/// earliest deadline.
///
/// Deadlines have a high priority, because they must pass while bodies block all threads of lower priorities. Only the
/// rate of a queue whose bodies run in the pool has the priority of the next operation. The task that starts a worker of
/// its own priority usually leaves its thread to the worker. The wake of another thread would double the lateness of the
/// start.
///
/// When the last deadline of a task is removed, the task is cancelled. The tasks of the system's clocks are not
/// cancelled. They sleep until the time at which they would have woken.
enum Deadlines {
    private static let table = Lock(DeadlineTable())

    /// Adds a deadline at `delay` after the current time of the clock. See `add(_:_:after:on:_:)`.
    static func add<C: Clock>(
        _ target: any DeadlineTarget, after delay: Duration, on clock: C, _ priority: TaskPriority
    ) where C.Duration == Duration {
        add(target, on: clock, from: clock.now, priority) { $0.moment(after: delay) }
    }

    /// Adds a deadline.
    ///
    /// - Parameters:
    ///   - target: The object to call when the deadline has passed. It must not have another deadline. It is retained
    ///     until it is called or its deadline is removed.
    ///   - delay: The time from `instant` to the deadline. If this time is already over, the deadline passes at once.
    ///   - instant: A moment of the clock.
    ///   - clock: The clock that measures the delay.
    ///   - priority: The priority of the task that calls the target.
    static func add<C: Clock>(
        _ target: any DeadlineTarget, _ delay: Duration, after instant: C.Instant, on clock: C, _ priority: TaskPriority
    ) where C.Duration == Duration {
        add(target, on: clock, from: instant, priority) { $0.moment(delay, after: instant) }
    }

    /// - Parameter origin: The instant from which a new face of the clock counts.
    private static func add<C: Clock>(
        _ target: any DeadlineTarget, on clock: C, from origin: @autoclosure () -> C.Instant, _ priority: TaskPriority,
        _ deadline: (ClockFace) -> Duration
    ) where C.Duration == Duration {
        let key = ClockKey(clock, priority)
        while true {
            let face = table.withLock { $0.face(for: key) } ?? ClockFace(clock, from: origin())
            let deadline = deadline(face)
            switch table.withLock({ $0.add(target, at: deadline, on: face, key) }) {
            case .added(let sleeper):
                if let sleeper { start(sleeper) }
                return
            case .faceIsStale: continue
            }
        }
    }

    /// The number of pending deadlines.
    static var count: Int { table.withLock { $0.count } }

    /// Removes the deadline of a target. Has no effect if the target has no deadline.
    static func remove(_ target: any DeadlineTarget) {
        let (task, face) = table.withLock { $0.remove(target) }
        task?.cancel()
        // The face may hold the last reference to the clock, which is user code. The face is released here, without the
        // lock.
        extendLifetime(face)
    }

    private static func start(_ sleeper: DeadlineTable.NewSleeper) {
        sleeper.replaced?.cancel()
        let executor = sleeper.face.sleepExecutor
        let priority = TaskPriority(rawValue: sleeper.priority)
        let task = Task.detached(executorPreference: executor, priority: priority) { await sleep(sleeper) }
        if !table.withLock({ $0.setTask(task, of: sleeper) }) { task.cancel() }
    }

    /// Calls each target when its deadline has passed. Returns when no deadline is left, or when another sleeper
    /// replaces this sleeper.
    private static func sleep(_ sleeper: DeadlineTable.NewSleeper) async {
        let face = sleeper.face
        var now = face.now
        var tellCount = 0
        while true {
            switch table.withLock({ $0.next(for: sleeper, at: now) }) {
            case .tell(let targets):
                for target in targets { target.deadlinePassed() }
                // If the clock wakes a sleeper early, `now` is later than the time of the clock. A target may have
                // added a deadline between these two times. For this reason, the time is read again.
                now = face.now
                // Targets may add deadlines that have passed already, again and again: a clock at its end has only such.
                tellCount += 1
                if tellCount % 64 == 0 { await Task.yield() }
            case .sleep(let moment):
                await DeadlineSleep.$isCurrent.withValue(true) { await face.sleep(until: moment) }
                now = max(face.now, moment)
            case .end:
                return
            }
        }
    }
}

/// Identifies a clock and a priority. Two values of the same type with the same bytes are the same clock, because no
/// code can distinguish them. Each run of an exploration has clocks of its own, because it has a time of its own.
struct ClockKey: Hashable, Sendable {
    private let run = taskOperationsRunNumber()
    private let type: ObjectIdentifier
    private let bytes: [UInt8]
    /// The raw value of the priority.
    let priority: UInt8

    /// Whether the key identifies a clock of the system, outside of explorations.
    var isOfSystem: Bool {
        run == 0 && (type == ObjectIdentifier(ContinuousClock.self) || type == ObjectIdentifier(SuspendingClock.self))
    }

    init<C: Clock>(_ clock: C, _ priority: TaskPriority) {
        self.priority = priority.rawValue
        type = ObjectIdentifier(C.self)
        // The optimizer of Swift 6.3.1 passes an undefined buffer for a type without bytes.
        bytes = MemoryLayout<C>.size == 0 ? [] : withUnsafeBytes(of: clock) { Array($0) }
    }
}

/// The time since the creation of a clock's `ClockFace`, according to the reported readings.
///
/// If the clock is set back, the time does not decrease. If the clock jumps forward, the time jumps forward, too.
struct SteadyTime: Hashable, Sendable {
    private(set) var now = Duration.zero
    /// The last reading of the clock.
    private(set) var told = Duration.zero

    /// Reports a reading of the clock.
    ///
    /// - Parameter mayBeOld: Whether another thread may have reported a later reading before this call.
    mutating func advance(to reading: Duration, mayBeOld: Bool = false) {
        if mayBeOld, reading < told { return }
        now += max(.zero, reading - told)
        told = reading
    }

    /// The clock's reading at a time, unless the clock is set to another time.
    func reading(at time: Duration) -> Duration { told + (time - now) }

    /// The time at a reading of the clock, unless the clock is set to another time.
    func time(ofReading reading: Duration) -> Duration { now + (reading - told) }
}

/// A type-erased clock. It represents each instant by the duration since a fixed instant of the clock.
///
/// If the clock is set back, no time passes. Without this rule, everything that waits for a moment would wait longer by
/// the whole difference.
package final class ClockFace: Sendable {
    /// Returns the reading of the clock.
    private let read: @Sendable () -> Duration
    /// Whether the clock is never set back. The next two properties are then not used.
    private let isSteady: Bool
    private let time = Lock(SteadyTime())
    /// The number of readings that were reported to `time`.
    private let toldCount = Atomic(0)
    /// Returns the moment that represents an instant of the clock.
    private let moment: @Sendable (_ instant: any InstantProtocol) -> Duration
    private let sleepUntil: @Sendable (Duration) async throws -> Void
    /// The executor of tasks that sleep on the clock; nil for the cooperative pool.
    let sleepExecutor: (any TaskExecutor)?

    init<C: Clock>(_ clock: C, from start: C.Instant) where C.Duration == Duration {
        read = { start.duration(to: clock.now).saturated }
        isSteady = C.self == ContinuousClock.self || C.self == SuspendingClock.self
        moment = { instant in start.duration(to: instant as! C.Instant).saturated }
        sleepUntil = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
        sleepExecutor = clock.executorOfSleepers
    }

    /// The longest single sleep. The runtime stops the process if it cannot represent the length of a sleep in
    /// nanoseconds.
    private static var longestSleep: Duration { .seconds(86_400) }

    package convenience init<C: Clock>(_ clock: C) where C.Duration == Duration {
        self.init(clock, from: clock.now)
    }

    /// The reading of the clock, which decreases if the clock is set back.
    var reading: Duration { read() }

    package var now: Duration {
        if isSteady { return read() }
        // Read before locking, because the clock may be user code. See `QueueClock.tell`.
        let count = toldCount.load(ordering: .sequentiallyConsistent)
        let reading = read()
        return time.withLock { time in
            time.advance(to: reading, mayBeOld: toldCount.load(ordering: .sequentiallyConsistent) != count)
            toldCount.add(1, ordering: .sequentiallyConsistent)
            return time.now.saturated
        }
    }

    /// The moment that is `delay` after the current moment.
    func moment(after delay: Duration) -> Duration { now + delay.saturated }

    /// The moment that is `delay` after an instant of the clock.
    func moment(_ delay: Duration, after instant: some InstantProtocol) -> Duration {
        time(ofReading: moment(instant) + delay.saturated)
    }

    /// The moment at which the clock has a reading, unless it is set to another time.
    func time(ofReading reading: Duration) -> Duration {
        isSteady ? reading : time.withLock { $0.time(ofReading: reading) }
    }

    /// Sleeps for a time, or until the task is cancelled. Without a time, lets other tasks run: repeated work would
    /// otherwise keep all threads of the pool from the tasks that end it.
    package func sleep(for time: Duration) async {
        if time <= .zero { await Task.yield() } else { await sleep(until: moment(after: time)) }
    }

    /// Sleeps until a moment, or until the task is cancelled.
    ///
    /// If the clock returns early or throws an error, the function sleeps again. If the time has not changed during two
    /// sleeps, the function returns before the moment. Without this rule, a waiting task might never continue.
    package func sleep(until moment: Duration) async {
        var (idleCount, before) = (0, now)
        repeat {
            let end = min(moment, before + Self.longestSleep)
            try? await sleepUntil(isSteady ? end : time.withLock { $0.reading(at: end) })
            let after = now
            if after < end {
                idleCount = after > before ? 0 : idleCount + 1
                if idleCount == 2 { return }
                // A clock may return without suspending the task.
                await Task.yield()
            }
            before = after
        } while before < moment && !Task.isCancelled
    }
}

extension Duration {
    /// The nearest duration in the range that the library supports. The range ends at 2⁴⁰ seconds (about 35,000 years).
    /// Sums of such durations, and products with small numbers, do not overflow.
    package var saturated: Duration { min(max(self, .zero - .longest), .longest) }

    /// The longest duration that the library supports.
    static var longest: Duration { .seconds(1 << 40) }
}

// MARK: - The table

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
/// A removal then touches no other target, unlike a removal from a heap whose targets store their positions: Cost, row
/// 27. If all deadlines have the same delay, the addition and the end of each take amortised
/// constant time. A deadline that is earlier than one that was added before takes O(log *n*) time. A removal that frees
/// the removed deadlines takes linear time.
struct DeadlineTable: Sendable {
    /// A sleeper that the caller must start.
    struct NewSleeper: Sendable {
        let clock: Int
        let face: ClockFace
        /// The raw value of the task's priority. The compiler does not know the layout of `TaskPriority`, whose copies are
        /// expensive: Cost, row 28.
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
    /// The clock that was used last; nil if it was forgotten. The next deadline usually has the same clock, and then needs
    /// no search: Cost, row 29.
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
        // Operations with timeouts often come one after the other, and need no new sleeper then: Cost, row 30.
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

extension DeadlineTarget {
    /// Adds a deadline that passes when the time is over.
    func startTimer(_ time: Duration, clock: some Clock<Duration>) {
        Deadlines.add(self, after: time, on: clock, .high)
    }

    /// Removes the deadline. A thread that has found the time over may still call `deadlinePassed` once afterwards.
    func endTimer() { Deadlines.remove(self) }
}
