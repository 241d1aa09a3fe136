/// The calls of an operation to the scheduler of its queue. All are made with no lock held.
protocol OperationHost: AnyObject, Sendable {
    /// Dependencies may all be finished now, or no longer; the operation knows.
    func readinessChanged(of operation: AnyTaskOperation)

    /// The priority has changed; the operation knows it. Returns operations whose floor may be another one now.
    func priorityChanged(of operation: AnyTaskOperation) -> [AnyTaskOperation]

    /// A wait for the end of all hands on another level; nil is none. Returns operations whose floor may be another one
    /// now.
    func endInherits(from: PriorityLevel?, to: PriorityLevel?) -> [AnyTaskOperation]

    /// Looks at the level that barriers and waits for the end of all hand on to an operation, while that does not change.
    /// Does nothing if the operation has left.
    func withFloor(of operation: AnyTaskOperation, _ body: (PriorityLevel) -> Void)

    /// Ends an operation, and removes it from the queue if it has not started, in one step: no thread finds it finished and
    /// still counted.
    ///
    /// - Parameters:
    ///   - end: Ends it under its lock.
    ///   - follow: Called with no lock held, before tasks that wait for the queue to be empty continue.
    func inOneStep<Result: Sendable>(
        with operation: AnyTaskOperation, _ end: @escaping () -> Result, then follow: (Result) -> Void
    ) -> Result

    /// Options that complete those of each operation; nil if there are none.
    var defaults: OperationOptions? { get }

    /// An operation has failed or was cancelled.
    func noteFailure(of operation: AnyTaskOperation)

    /// Whether the queue has a rate, which limits how often bodies start.
    var hasRate: Bool { get }

    /// Waits until the rate of the queue lets a body run again.
    nonisolated(nonsending) func waitForAttempt() async

    /// The body of an operation runs again, for the so many-th time.
    func noteAttempt(_ number: Int, of operation: AnyTaskOperation)

    /// The body of an operation has awaited another one.
    func noteWait(for target: AnyTaskOperation, of operation: AnyTaskOperation)

    /// All operations that have not ended, in the order of adding.
    var operations: [AnyTaskOperation] { get }

    /// Where handlers are called of operations that never started; nil for the cooperative pool.
    var handlerExecutor: (any TaskExecutor)? { get }

    /// How the queue is called in messages; nil if there is no queue.
    var queueName: String? { get }

    // MARK: The permit of a body that awaits

    /// The permits, as something to wait for; nil if nothing ever waits for one.
    var permit: PermitNode? { get }

    /// Lends the permit of an executing operation, if the operation still awaits. Returns false if the permits do not rank
    /// below the operation.
    ///
    /// - Parameter effects: Receives functions that the caller calls once it holds no lock.
    func lendPermit(of operation: AnyTaskOperation, _ effects: inout [() -> Void]) -> Bool

    /// A wait has begun in an operation that has lent its permit; the operation knows how many there are. Returns false if
    /// it has the permit back.
    func beginWait(within operation: AnyTaskOperation) -> Bool

    /// Removes a wait of an operation that has lent its permit. Returns once the task may continue.
    nonisolated(nonsending) func endWait(within operation: AnyTaskOperation, _ target: WaitNode) async

    // MARK: Edges that follow from barriers

    /// Whether there is a barrier, or was one.
    var hasBarriers: Bool { get }

    /// The operations for which an operation waits because of barriers: the barrier before it; for a barrier, all
    /// operations since the one before.
    func operationsHoldingBack(_ operation: AnyTaskOperation) -> [AnyTaskOperation]

    /// Calls a function with the operations for which an operation waits because of barriers, while none of them changes.
    func whileHoldingBack(_ operation: AnyTaskOperation, _ body: ([AnyTaskOperation]) -> Bool) -> Bool

    /// Puts an operation into the order of the wait graph: below the nodes of the queue that wait for it, above those for
    /// which it waits there.
    ///
    /// - Throws: `TaskOperationError.dependencyCycle` if that is not possible and it has not started: it is taken out then.
    func putInOrder(_ operation: AnyTaskOperation) throws(TaskOperationError)

    /// A body is about to await that the queue is empty.
    func willBeAwaited()

    /// A body no longer awaits that.
    func isNoLongerAwaited()

    /// The rank of the end of all operations.
    var endRank: Int { get }

    /// Lowers that rank, if it stays above that of all operations. Returns whether it does.
    func lowerEnd(to rank: Int) -> Bool
}

extension OperationHost {
    /// The name of the queue in messages.
    var label: String { queueName.map { "queue \"\($0)\"" } ?? "an unnamed queue" }
}
