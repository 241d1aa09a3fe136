// Additional requirements that executors and clocks of this package can implement.

/// An executor that chooses the executor for handlers of operations that never started. By default, this is the
/// cooperative pool, because the queue's executor may be busy or not started yet. Tasks that await such an operation
/// wait for its handlers.
package protocol HandlerExecutor: TaskExecutor {
    var handlerExecutor: any TaskExecutor { get }
}

/// An executor that decides when a worker yields to other tasks. An executor whose runs are repeatable cannot use a
/// clock for that.
package protocol SliceDecidingExecutor: TaskExecutor {
    /// Whether the worker that has run a body must yield now.
    func isSliceOver() -> Bool
}

/// A clock that chooses the executor on which the library waits for deadlines, so that a seeded run stays on one
/// thread.
package protocol ExecutorBoundClock: Clock {
    /// The executor of tasks that sleep on the clock; nil for the cooperative pool.
    var sleepExecutor: (any TaskExecutor)? { get }
}

/// Marks the library's own sleeps, which a clock for tests does not count.
package enum DeadlineSleep {
    /// True in a task that sleeps until the earliest deadline.
    @TaskLocal package static var isCurrent = false
}

extension Clock {
    /// The executor of tasks that sleep on the clock; nil for the cooperative pool.
    var executorOfSleepers: (any TaskExecutor)? { (self as? any ExecutorBoundClock)?.sleepExecutor }
}
