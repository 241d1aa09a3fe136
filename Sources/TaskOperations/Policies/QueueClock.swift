import Synchronization

/// The clock of a queue or a semaphore, its user. It measures the time of the user, and wakes the user.
final class QueueClock: Sendable {
    /// A reading of the clock that was taken before the user was locked.
    struct Reading: Sendable {
        let time: Duration
        fileprivate let number: Int
    }

    /// The number of readings that were reported to the user.
    private let toldCount = Atomic(0)
    private let face: ClockFace
    private let addDeadline: @Sendable (ClockWake, TaskPriority) -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        face = ClockFace(clock, from: start)
        addDeadline = { target, priority in
            Deadlines.add(target, target.wake.reading, after: start, on: clock, priority)
        }
    }

    /// Makes the clock of a user that has none. Call it before the user gets a rate.
    ///
    /// - Parameter make: Makes the clock; nil for the continuous clock.
    static func prepare(_ clock: borrowing RareValue<QueueClock>, _ make: (@Sendable () -> QueueClock)?) {
        if !clock.isEmpty { return }
        // Made before locking, because the clock may be user code.
        let made = make?() ?? QueueClock(ContinuousClock())
        clock.set { $0 ?? made }
    }

    /// Returns a function that makes the clock of a user; nil for a continuous clock, which is the default.
    static func maker(_ clock: any Clock<Duration>) -> (@Sendable () -> QueueClock)? {
        // Without a cast of the existential: Cost, row 31.
        if type(of: clock) == ContinuousClock.self { return nil }
        return { @Sendable in QueueClock(clock) }
    }

    /// Reads the time since the creation of this object.
    @inline(never)
    func read() -> Reading {
        let number = toldCount.load(ordering: .acquiring)
        return Reading(time: face.reading, number: number)
    }

    /// Reports a reading to the state of the user. Call it under the lock of the user. If another thread has reported a
    /// reading since this one was taken, this reading may be older, even if the clock was never set back.
    // Not inlined, because each of 60 events would contain a copy.
    @inline(never)
    func tell(_ reading: Reading, to state: inout some Timed) {
        state.advance(to: reading.time, mayBeOld: toldCount.load(ordering: .relaxed) != reading.number)
        toldCount.add(1, ordering: .releasing)
    }

    /// Sleeps until the clock's reading is `time`, or until the task is cancelled.
    func sleep(until time: Duration) async {
        // The face must know the present reading before it converts another one.
        let now = face.now
        let moment = face.time(ofReading: time)
        if moment > now { await face.sleep(until: moment) }
    }

    /// Wakes the user as planned, if the user still exists then.
    ///
    /// - Parameter usesLevel: Whether the task that wakes the user has the level of the wake. Otherwise, it has a high
    ///   priority.
    func wake(_ user: any ClockUser, _ wake: QueueTime.Wake, usesLevel: Bool = true) {
        addDeadline(ClockWake(user, wake), usesLevel ? wake.level.taskPriority : .high)
    }
}

/// A pure state with a time.
protocol Timed {
    /// Reports a reading of the clock.
    ///
    /// - Parameter mayBeOld: Whether another thread may have reported a later reading before this call.
    mutating func advance(to now: Duration, mayBeOld: Bool)
}

extension SchedulerState: Timed {}

extension LimitState: Timed {}

/// A queue or a semaphore that has a `QueueClock`.
protocol ClockUser: AnyObject, Sendable {
    /// Decides again, because the time of a planned wake has passed. Called with no lock held.
    func wake(_ wake: QueueTime.Wake)
}

extension Scheduler: ClockUser {
    nonisolated func wake(_ wake: QueueTime.Wake) { withCore { $0.state.noteWake(wake) } }
}

/// A deadline after which a clock wakes its user.
private final class ClockWake: DeadlineTarget, @unchecked Sendable {
    // `deadlineSlot` is accessed only under the lock of `Deadlines`. `user` is set once, in the initialiser.

    var deadlineSlot: Int32 = -1
    private weak var user: (any ClockUser)?
    let wake: QueueTime.Wake

    init(_ user: any ClockUser, _ wake: QueueTime.Wake) {
        self.user = user
        self.wake = wake
    }

    func deadlinePassed() { user?.wake(wake) }
}

// MARK: - The rate and the time of a queue

/// The state of a queue's rate, which depends on time.
struct QueuePace: Sendable {
    var time = QueueTime()
    /// The rate and its tokens. Boxed, like the former tokens, because the policies of a queue without a rate are copied,
    /// too.
    private struct Rated: Sendable {
        let rate: OperationRate
        var tokens: TokenBucket
    }

    private var rated: Boxed<Rated>?
    /// The tokens at the last change of the rate, which a new rate lacks.
    private var formerTokens: Boxed<TokenBucket>?

    init(rate: OperationRate?) { rated = rate.map { Boxed(Rated(rate: $0, tokens: TokenBucket($0))) } }

    var hasRate: Bool { rated != nil }

    var rate: OperationRate? { rated?.value.rate }

    var tokens: TokenBucket? { rated?.value.tokens }

    /// Changes the rate. Used tokens remain used.
    mutating func setRate(_ newRate: OperationRate?) {
        if let tokens { formerTokens = Boxed(tokens) }
        rated = newRate.map { rate in
            Boxed(Rated(rate: rate, tokens: formerTokens?.value.changed(to: rate, at: time.now) ?? TokenBucket(rate)))
        }
    }

    /// The number of operations that the rate lets start now, but at most `count`.
    @inline(__always)
    func startableCount(atMost count: Int) -> Int {
        rated == nil ? count : rated!.value.tokens.count(at: time.now, atMost: count)
    }

    mutating func noteStart() { rated?.value.tokens.take(at: time.now) }

    /// Uses a token for another attempt of an operation that has started. Returns the clock's reading at the time at
    /// which the token is available; nil without a rate.
    mutating func reserveStart() -> Duration? {
        defer { noteStart() }
        return (tokens?.nextStart).map { time.reading(at: $0) }
    }

    /// Puts back the token of an operation that has started.
    mutating func giveBackStart() { rated?.value.tokens.giveBack(at: time.now) }

    /// Plans to wake the queue when the next token is available, and returns the wake. Returns nil if all `count`
    /// operations have tokens, or if another wake is sufficient.
    ///
    /// Also returns nil if the bucket is full, because no operation then waits for the rate. A later event computes the
    /// effects again.
    ///
    /// - Parameter level: The level of the next operation.
    mutating func nextWake(for count: Int, at level: PriorityLevel) -> QueueTime.Wake? {
        if rated == nil || rated!.value.tokens.isFull(at: time.now) { return nil }
        let tokenCount = startableCount(atMost: count)
        if tokenCount == count { return nil }
        return time.wake(at: rated!.value.tokens.nextStart(after: tokenCount, at: time.now), level)
    }
}

/// The time of the user of a clock, such as a queue or a semaphore, and the wakes that it has planned.
struct QueueTime: Hashable, Sendable {
    private var time = SteadyTime()
    /// The planned wakes, in the order of planning. No wake makes a later one unnecessary.
    private(set) var wakes: [Wake] = []

    struct Wake: Hashable, Sendable {
        /// The reading of the clock at which it wakes the user.
        let reading: Duration
        /// The level of the task that wakes the user.
        let level: PriorityLevel
    }

    var now: Duration { time.now }

    /// The last reading of the clock.
    var told: Duration { time.told }

    /// Reports a reading of the clock. See `SteadyTime.advance(to:mayBeOld:)`.
    mutating func advance(to reading: Duration, mayBeOld: Bool = false) {
        time.advance(to: reading, mayBeOld: mayBeOld)
    }

    /// The clock's reading at a time, unless the clock is set to another time.
    func reading(at time: Duration) -> Duration { self.time.reading(at: time) }

    /// Plans to wake the user at a time. Returns the wake; nil if a wake of this or a higher level is planned for that
    /// time or before.
    mutating func wake(at time: Duration, _ level: PriorityLevel) -> Wake? {
        // The longest duration is the last reading. A deadline would then pass at once, and the user would request the
        // next one, forever.
        if told >= .longest { return nil }
        let reading = reading(at: time)
        // The last wake is usually sufficient.
        if wakes.reversed().contains(where: { $0.reading <= reading && $0.level >= level }) { return nil }
        wakes.append(Wake(reading: reading, level: level))
        return wakes.last
    }

    /// Records that the clock has woken the user. The clock may have returned before the reading.
    mutating func noteWake(_ wake: Wake) {
        if let index = wakes.lastIndex(of: wake) { wakes.remove(at: index) }
    }
}
