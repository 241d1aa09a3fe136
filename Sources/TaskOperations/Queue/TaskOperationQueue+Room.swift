// Bounded queues, in which a producer that is faster than its consumer uses bounded memory.

extension TaskOperationQueue {
    /// The number of operations that may wait to start, in addition to one operation for each free permit; at least 1.
    /// Operations with unfinished dependencies and barriers also count.
    ///
    /// A queue that is not suspended has room for `maxConcurrentOperationCount + maxQueuedOperationCount` operations.
    /// It has room for more if some of them have lent their permits. Raising the number admits operations that wait for
    /// room; lowering it drops no operation. `QueueOverflow` is the rule for an operation that is added to a full queue
    /// without waiting. `addOperationWaitingForRoom` waits for room.
    public var maxQueuedOperationCount: Int {
        get { scheduler.queuedLimit }
        set {
            Self.checkQueuedLimit(newValue)
            scheduler.queuedLimit = newValue
        }
    }

    /// Creates an operation from a closure and adds it as soon as there is room.
    ///
    /// If the queue is full, the call waits, without blocking a thread, until an operation starts or ends. Waiting
    /// calls are served in their order, regardless of priorities, and before operations that are added without waiting.
    ///
    /// ```swift
    /// for try await line in file.lines {
    ///     try await queue.addOperationWaitingForRoom { try await store(line) }
    /// }
    /// ```
    ///
    /// In a body of the same queue, the wait lends the body's permit if no operation could start without it. Queued
    /// operations must not wait for an operation that waits for room, or for a body that waits for room, neither
    /// through a dependency nor behind a barrier: both would wait forever.
    ///
    /// - Returns: The operation, which is queued or has started.
    /// - Throws: `CancellationError` if the task is cancelled before there is room, and
    ///   `TaskOperationError.queueShutDown` if the queue is shut down before there is room; in both cases the body
    ///   never runs. `TaskOperationError.waitCycle` in a body whose permit is needed to make room, if the queue does
    ///   not lend permits.
    @discardableResult
    public func addOperationWaitingForRoom<Success>(
        _ options: OperationOptions = OperationOptions(), body: @escaping TaskOperation<Success>.Body
    ) async throws -> TaskOperation<Success> {
        let operation = TaskOperation(options, body: body)
        try await addOperationWaitingForRoom(operation)
        return operation
    }

    /// Adds an operation as soon as there is room for it.
    ///
    /// - Throws: The errors of `addOperation(_:)`. `CancellationError` if the task is cancelled before there is room;
    ///   you can add the operation later. `TaskOperationError.queueShutDown` if the queue is shut down before there is
    ///   room; the operation has failed with this error. `TaskOperationError.waitCycle` in a body whose permit is
    ///   needed to make room, if the queue does not lend permits.
    public func addOperationWaitingForRoom(_ operation: AnyTaskOperation) async throws {
        try await scheduler.submitWaitingForRoom(operation)
    }

    /// Whether one more operation of weight 1 and without limits would certainly start at once.
    package var couldStartAnother: Bool { scheduler.withCore { $0.state.couldStartAnother } }

    /// Returns the token that a body of this queue took from the rate, so that another operation can use it.
    package func giveBackStart() {
        if scheduler.hasRate { scheduler.withCore { $0.state.giveBackStart() } }
    }

    /// The number of calls of `addOperationWaitingForRoom` that wait.
    package var waitingProducerCount: Int { scheduler.waitingProducerCount }

    static func checkQueuedLimit(_ limit: Int) {
        require(
            limit >= 1,
            """
            maxQueuedOperationCount is \(limit); it must be at least 1. Pass \
            TaskOperationQueue.unlimitedQueuedOperationCount to limit nothing.
            """)
    }
}
