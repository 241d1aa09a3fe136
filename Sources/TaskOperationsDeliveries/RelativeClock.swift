internal import TaskOperations

/// A type-erased clock. Its instants are durations since the clock was created.
struct RelativeClock: Sendable {
    let clock: any Clock<Duration>
    /// The executor for tasks that use the clock; nil for the cooperative pool.
    let executor: (any TaskExecutor)?
    private let elapsed: @Sendable () -> Duration

    init(_ clock: some Clock<Duration>) {
        self.clock = clock
        executor = (clock as? any ExecutorBoundClock)?.sleepExecutor
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
    }

    var now: Duration { elapsed() }

    /// Sleeps until the time is up or the task is cancelled.
    func sleep(for duration: Duration) async {
        if duration > .zero { try? await clock.sleep(for: duration) }
    }
}
