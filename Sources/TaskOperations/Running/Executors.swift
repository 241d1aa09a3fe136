// What an executor of ours may do for a queue beside running bodies.

/// An executor that also calls the handlers of operations that never started. Any other may be busy for long, or not run
/// at all yet, and whoever awaits such an operation waits for its handlers: so these are called on the cooperative pool.
package protocol HandlerExecutor: TaskExecutor {}

/// An executor that says itself when a worker lets others run: one whose runs can be repeated cannot go by a clock.
package protocol SliceDecidingExecutor: TaskExecutor {
    /// Whether the worker that ran a body lets others run now.
    func isSliceOver() -> Bool
}
