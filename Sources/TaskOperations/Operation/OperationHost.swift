/// The calls of an operation to the scheduler of its queue. All are made with no lock held.
protocol OperationHost: AnyObject, Sendable {
    /// The readiness of an operation may have changed. The host reads it from the operation.
    func readinessChanged(of operation: AnyTaskOperation)

    /// The priority of an operation has changed. The host reads it from the operation. Returns the operations whose
    /// floor may have changed.
    func priorityChanged(of operation: AnyTaskOperation) -> [AnyTaskOperation]

    /// The level that the queue inherits from waits for its end has changed; nil means no level. Returns the operations
    /// whose floor may have changed.
    func endInherits(from: PriorityLevel?, to: PriorityLevel?) -> [AnyTaskOperation]

    /// Calls a function with the level that an operation inherits through barriers and from waits for the end of the
    /// queue. The level does not change during the call. Does nothing if the operation is no longer in the queue.
    func withFloor(of operation: AnyTaskOperation, _ body: (PriorityLevel) -> Void)

    /// Ends an operation, and removes it from the queue if it has not started. This is one step: no thread sees a
    /// finished operation that is still counted.
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

    /// The body of an operation runs again; `number` is the number of the attempt.
    func noteAttempt(_ number: Int, of operation: AnyTaskOperation)

    /// The body of an operation has awaited another one.
    func noteWait(for target: AnyTaskOperation, of operation: AnyTaskOperation)

    /// All operations that have not ended, in the order of adding.
    var operations: [AnyTaskOperation] { get }

    /// The executor on which handlers of operations that never started are called; nil for the cooperative pool.
    var handlerExecutor: (any TaskExecutor)? { get }

    /// The name of the queue in messages; nil if there is no queue or it has no name.
    var queueName: String? { get }

    // MARK: The permit of a body that awaits

    /// The permits as a node of the wait graph; nil if nothing ever waits for a permit.
    var permit: PermitNode? { get }

    /// Lends the permit of an executing operation, if the operation still awaits. Returns false if the permits do not rank
    /// below the operation.
    ///
    /// - Parameter effects: Receives functions that the caller calls once it holds no lock.
    func lendPermit(of operation: AnyTaskOperation, _ effects: inout [() -> Void]) -> Bool

    /// A wait has begun in an operation that has lent its permit. The host reads the number of waits from the
    /// operation. Returns false if the operation already has its permit back.
    func beginWait(within operation: AnyTaskOperation) -> Bool

    /// Removes a wait of an operation that has lent its permit. Returns once the task may continue.
    nonisolated(nonsending) func endWait(within operation: AnyTaskOperation, _ target: WaitNode) async

    // MARK: Edges that follow from barriers

    /// Whether a barrier was ever added.
    var hasBarriers: Bool { get }

    /// The operations for which an operation waits because of barriers: the previous barrier; for a barrier, all
    /// operations since the previous barrier.
    func operationsHoldingBack(_ operation: AnyTaskOperation) -> [AnyTaskOperation]

    /// Calls a function with the operations for which an operation waits because of barriers, while none of them changes.
    func whileHoldingBack(_ operation: AnyTaskOperation, _ body: ([AnyTaskOperation]) -> Bool) -> Bool

    /// Puts an operation into the order of the wait graph: below the nodes of the queue that wait for it, above those for
    /// which it waits there.
    ///
    /// - Throws: `TaskOperationError.dependencyCycle` if that is impossible and the operation has not started. It is
    ///   then removed from the queue.
    func putInOrder(_ operation: AnyTaskOperation) throws(TaskOperationError)

    /// A body is about to wait until the queue is empty.
    func willBeAwaited()

    /// A body no longer waits until the queue is empty.
    func isNoLongerAwaited()

    /// The rank of the end of all operations.
    var endRank: Int { get }

    /// Lowers that rank if it remains above the ranks of all operations. Returns false, and does nothing, if it does
    /// not.
    func lowerEnd(to rank: Int) -> Bool
}

extension OperationHost {
    /// The name of the queue in messages.
    var label: String { queueName.map { "queue \"\($0)\"" } ?? "an unnamed queue" }
}
