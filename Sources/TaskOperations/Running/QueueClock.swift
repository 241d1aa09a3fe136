/// What a queue measures a rate and ageing by, and is woken by.
struct QueueClock: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let addDeadline: @Sendable (QueueWake, Duration) -> Void

    init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        addDeadline = { wake, delay in
            if Deadlines.add(wake, after: delay, on: clock) { return }
            // There are too many clocks: it takes a task of its own.
            let end = clock.now.advanced(by: delay)
            Task.detached(priority: .high) {
                try? await clock.sleep(until: end, tolerance: nil)
                wake.deadlinePassed()
            }
        }
    }

    /// How much time has passed since this was made.
    var now: Duration { elapsed() }

    /// Has a queue look again after a time, if it still exists then.
    func wake(_ scheduler: Scheduler, after delay: Duration) {
        addDeadline(QueueWake(scheduler), delay)
    }
}

/// A deadline after which a queue looks what may start. A queue may have several, of which all but the last do nothing.
final class QueueWake: DeadlineTarget, @unchecked Sendable {
    // `deadlinePlace` is reached under the lock of `Deadlines` only, and `scheduler` is set once, here.

    var deadlinePlace: DeadlinePlace?
    private weak var scheduler: Scheduler?

    fileprivate init(_ scheduler: Scheduler) {
        self.scheduler = scheduler
    }

    func deadlinePassed() {
        scheduler?.apply { $0.state.noteWake() }
    }
}
