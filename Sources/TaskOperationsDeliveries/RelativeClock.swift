internal import TaskOperations

/// A type-erased clock. Its instants are durations since the clock was created. No sum of such a duration and a
/// `saturated` one overflows.
struct RelativeClock: Sendable {
    let clock: any Clock<Duration>
    /// The executor for tasks that use the clock; nil for the cooperative pool.
    let executor: (any TaskExecutor)?
    private let face: ClockFace

    init(_ clock: some Clock<Duration>) {
        self.clock = clock
        executor = (clock as? any ExecutorBoundClock)?.sleepExecutor
        face = ClockFace(clock)
    }

    var now: Duration { face.now }

    /// Sleeps until the time is up or the task is cancelled. If there is no time, lets other tasks run.
    func sleep(for duration: Duration) async { await face.sleep(for: duration) }
}
