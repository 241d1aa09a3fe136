import Synchronization

/// The clock of a queue with a rate or ageing. It measures the queue's time and wakes the queue.
final class QueueClock: Sendable {
    /// A reading of the clock that was taken before the queue was locked.
    struct Reading: Sendable {
        let time: Duration
        fileprivate let number: Int
    }

    /// The number of readings that were reported to the queue.
    private let toldCount = Atomic(0)
    private let face: ClockFace
    private let addDeadline: @Sendable (QueueWake, Duration) -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        face = ClockFace(clock, from: start)
        addDeadline = { wake, time in
            if Deadlines.add(wake, time, after: start, on: clock) { return }
            _ = Deadlines.sleep(for: wake, time, after: start, on: clock)
        }
    }

    /// Returns a function that makes a queue's clock; nil for a continuous clock, which is the default.
    static func maker(_ clock: any Clock<Duration>) -> (@Sendable () -> QueueClock)? {
        if clock is ContinuousClock { return nil }
        return { @Sendable in QueueClock(clock) }
    }

    /// Reads the time since the creation of this object.
    @inline(never)
    func read() -> Reading {
        let number = toldCount.load(ordering: .acquiring)
        return Reading(time: face.now, number: number)
    }

    /// Reports a reading to the queue. Call it under the lock of the queue. If another thread has reported a reading
    /// since this one was taken, this reading may be older, even if the clock was never set back.
    // Not inlined, because each of 60 events would contain a copy.
    @inline(never)
    func tell(_ reading: Reading, to state: inout Scheduler.State) {
        state.advance(to: reading.time, mayBeOld: toldCount.load(ordering: .relaxed) != reading.number)
        toldCount.add(1, ordering: .releasing)
    }

    /// Sleeps until the clock's reading is `time`, or until the task is cancelled.
    func sleep(until time: Duration) async {
        if time > face.now { await face.sleep(until: time) }
    }

    /// Makes a queue compute its effects again when the clock's reading is `time`, if the queue still exists then.
    func wake(_ scheduler: Scheduler, at time: Duration) {
        // The longest duration is the last reading. A deadline would then pass at once, and the queue would request the
        // next one, forever.
        if face.now < .longest { addDeadline(QueueWake(scheduler), time) }
    }
}

/// A deadline after which a queue decides again which operations may start. If several wakes of a queue are pending,
/// only the last one has an effect.
final class QueueWake: DeadlineTarget, @unchecked Sendable {
    // `deadlinePlace` is accessed only under the lock of `Deadlines`. `scheduler` is set once, in the initialiser.

    var deadlinePlace: DeadlinePlace?
    private weak var scheduler: Scheduler?

    fileprivate init(_ scheduler: Scheduler) {
        self.scheduler = scheduler
    }

    func deadlinePassed() {
        scheduler?.withCore { $0.state.noteWake() }
    }
}
