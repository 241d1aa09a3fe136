/// What an operation tells whoever runs it: the scheduler of its queue. All of it is called with no lock held, but for
/// what is seen in the wait graph.
protocol OperationHost: AnyObject, Sendable {
    /// Dependencies may all be finished now, or no longer; the operation knows.
    func readinessChanged(of operation: AnyTaskOperation)

    /// The priority that counts has changed; the operation knows it.
    func priorityChanged(of operation: AnyTaskOperation)

    /// The operation ended before it started.
    func endedBeforeStart(_ operation: AnyTaskOperation)

    /// A task of the executing operation begins to await another operation.
    func beginWait(within operation: AnyTaskOperation)

    /// The wait is over; returns once the task may go on.
    nonisolated(nonsending) func endWait(within operation: AnyTaskOperation) async

    /// What the operation waits for because of barriers, where it arrived after a number. `end` is the arrival up to
    /// which that is everything that there is in the host; 0 where it is not.
    func operationsHoldingBack(
        _ operation: AnyTaskOperation, after arrival: UInt64, seenIn graph: inout WaitGraph
    ) -> (operations: [AnyTaskOperation], end: UInt64)

    /// Whether an operation of this host may be waited for by more than what names it: by a barrier or by what
    /// stands behind one, or by a body that awaits that the queue is empty.
    var hasImplicitWaits: Bool { get }

    /// A body is about to await that the queue is empty.
    func willBeAwaited()

    /// Why an operation that is ready has not started, in words.
    func reasonToWait(of operation: AnyTaskOperation) -> String

    /// All operations that have not ended, in the order of adding.
    func operations(seenIn graph: inout WaitGraph) -> [AnyTaskOperation]

    /// Where handlers are called of operations that never started; nil for the cooperative pool.
    var handlerExecutor: (any TaskExecutor)? { get }

    /// How the queue is called in messages; nil where there is no queue.
    var queueName: String? { get }
}
