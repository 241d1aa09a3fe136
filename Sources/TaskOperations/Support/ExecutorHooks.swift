// What an executor of ours may do for a queue beside running bodies.

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
