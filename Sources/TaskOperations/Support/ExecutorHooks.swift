// What an executor or a clock of ours may do for a queue beside what every one does.

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

/// A clock that says where the library sleeps on it: what can be repeated stays on one executor.
package protocol ExecutorBoundClock: Clock {
    /// Nil for the cooperative pool.
    var sleepExecutor: (any TaskExecutor)? { get }
}
