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
        // A cast of the existential takes 200 instructions for each queue.
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
