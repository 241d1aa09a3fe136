import Synchronization

/// The clock of a queue with a rate or ageing: measures its time and wakes it.
final class QueueClock: Sendable {
    /// A time that was read before the queue was entered.
    struct Reading: Sendable {
        let time: Duration
        fileprivate let number: Int
    }

    /// How many readings were told to the queue.
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

    /// Reads how much time has passed since this was made.
    @inline(never)
    func read() -> Reading {
        let number = toldCount.load(ordering: .acquiring)
        return Reading(time: face.now, number: number)
    }

    /// Reports a reading to the queue. Call it under the lock of the queue. If another thread has reported a reading since this
    /// one was taken, this one may be the older, even if the clock never went back.
    // Not inlined, as each of 60 events would contain a copy of it.
    @inline(never)
    func tell(_ reading: Reading, to state: inout Scheduler.State) {
        state.advance(to: reading.time, mayBeOld: toldCount.load(ordering: .relaxed) != reading.number)
        toldCount.add(1, ordering: .releasing)
    }

    /// Sleeps until a time that a reading can have, or until the task is cancelled.
    func sleep(until time: Duration) async {
        if time > face.now { await face.sleep(until: time) }
    }

    /// Has a queue look again at a time that a reading can have, if it still exists then.
    func wake(_ scheduler: Scheduler, at time: Duration) {
        addDeadline(QueueWake(scheduler), time)
    }
}

/// A deadline after which a queue decides again which operations may start. If a queue has several, only the last one has
/// an effect.
final class QueueWake: DeadlineTarget, @unchecked Sendable {
    // `deadlinePlace` is reached under the lock of `Deadlines` only, and `scheduler` is set once, here.

    var deadlinePlace: DeadlinePlace?
    private weak var scheduler: Scheduler?

    fileprivate init(_ scheduler: Scheduler) {
        self.scheduler = scheduler
    }

    func deadlinePassed() {
        scheduler?.withCore { $0.state.noteWake() }
    }
}
