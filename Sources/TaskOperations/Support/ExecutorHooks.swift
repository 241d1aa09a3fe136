// What an executor or a clock of ours can do for a queue beyond its protocol.

/// An executor that says where the handlers of operations that never started are called. With any other that is the
/// cooperative pool: an executor may be busy for long, or not run at all yet, and what awaits such an operation waits for
/// its handlers.
package protocol HandlerExecutor: TaskExecutor {
    var handlerExecutor: any TaskExecutor { get }
}

/// An executor that says itself when a worker lets others run: one whose runs can be repeated cannot go by a clock.
package protocol SliceDecidingExecutor: TaskExecutor {
    /// Whether the worker that ran a body lets others run now.
    func isSliceOver() -> Bool
}

/// A clock that names the executor on which the library waits for its deadlines, so that a seeded run stays on one thread.
package protocol ExecutorBoundClock: Clock {
    /// Nil for the cooperative pool.
    var sleepExecutor: (any TaskExecutor)? { get }
}

/// The sleeps of the library itself, which a clock for tests does not count.
package enum DeadlineSleep {
    /// True in a task that sleeps until the earliest deadline.
    @TaskLocal package static var isCurrent = false
}

extension Clock {
    /// The executor of tasks that sleep on the clock; nil for the cooperative pool.
    var executorOfSleepers: (any TaskExecutor)? { (self as? any ExecutorBoundClock)?.sleepExecutor }
}
