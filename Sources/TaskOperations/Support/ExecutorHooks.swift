// Additional requirements for executors and clocks of this package.

/// An executor that provides another executor for the handlers of some operations.
///
/// These operations never started, or they ended before their bodies. By default, the cooperative pool runs such
/// handlers, because the queue's executor may be busy or not started yet. Tasks that await these operations continue
/// only after the handlers.
package protocol HandlerExecutor: TaskExecutor {
    var handlerExecutor: any TaskExecutor { get }
}

/// An executor that decides when a worker yields to other tasks. By default, a clock decides. The executor of a
/// repeatable run cannot use a clock.
package protocol SliceDecidingExecutor: TaskExecutor {
    /// Called after each body. Returns whether the worker must yield.
    func isSliceOver() -> Bool
}

/// A clock that chooses the executor of tasks that sleep until its deadlines. With such a clock, a seeded run stays on
/// one thread.
package protocol ExecutorBoundClock: Clock {
    /// The executor of tasks that sleep on the clock; nil for the cooperative pool.
    var sleepExecutor: (any TaskExecutor)? { get }
}

/// Marks the library's own sleeps. A clock for tests does not count these sleeps.
package enum DeadlineSleep {
    /// True in a task that sleeps until a deadline of the library.
    @TaskLocal package static var isCurrent = false
}

extension Clock {
    /// The executor of tasks that sleep on the clock; nil for the cooperative pool.
    var executorOfSleepers: (any TaskExecutor)? { (self as? any ExecutorBoundClock)?.sleepExecutor }
}
