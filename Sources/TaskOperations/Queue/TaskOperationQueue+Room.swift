// Bounded queues. They use bounded memory even if a producer is faster than its consumer.

extension TaskOperationQueue {
    /// The maximum number of operations that wait to start. It must be at least 1. One more operation may wait for each
    /// free permit. Barriers and operations with unfinished dependencies are included.
    ///
    /// A queue that is not suspended has room for `maxConcurrentOperationCount + maxQueuedOperationCount` operations.
    /// If some of these operations have lent their permits, the queue has room for more.
    ///
    /// Raising the number lets the queue accept operations that wait for room. Lowering the number drops no operation.
    /// `QueueOverflow` is the rule for an operation that is added to a full queue without waiting.
    /// `addOperationWaitingForRoom` waits for room.
    public var maxQueuedOperationCount: Int {
        get { scheduler.queuedLimit }
        set {
            Self.checkQueuedLimit(newValue)
            scheduler.queuedLimit = newValue
        }
    }

    /// Creates an operation from a closure and adds it as soon as the queue has room.
    ///
    /// If the queue is full, the call waits until an operation starts or ends. The wait blocks no thread. Waiting calls
    /// are served in the order of the calls, regardless of priorities. They are served before operations that are added
    /// without waiting.
    ///
    /// ```swift
    /// for try await line in file.lines {
    ///     try await queue.addOperationWaitingForRoom { try await store(line) }
    /// }
    /// ```
    ///
    /// In a body of the same queue, the wait lends the body's permit if no operation could start without this permit.
    ///
    /// A queued operation must not wait for an operation that waits for room, or for a body that waits for room.
    /// Otherwise, both wait forever. The rule applies to waits through dependencies and to waits behind barriers.
    ///
    /// - Returns: The operation, which is queued or has started.
    /// - Throws: `CancellationError` if the task is cancelled before the queue has room.
    ///   `TaskOperationError.queueShutDown` if the queue is shut down before it has room. In both cases, the
    ///   operation's body never runs. `TaskOperationError.waitCycle` if a body makes the call, the room depends on the
    ///   permit of this body, and the queue does not lend permits.
    @discardableResult
    public func addOperationWaitingForRoom<Success>(
        _ options: OperationOptions = OperationOptions(), body: @escaping TaskOperation<Success>.Body
    ) async throws -> TaskOperation<Success> {
        let operation = TaskOperation(options, body: body)
        try await addOperationWaitingForRoom(operation)
        return operation
    }

    /// Adds an operation as soon as the queue has room for it.
    ///
    /// - Throws: The errors of `addOperation(_:)`. `CancellationError` if the task is cancelled before the queue has
    ///   room; you can add the operation later. `TaskOperationError.queueShutDown` if the queue is shut down before it
    ///   has room; the operation has then failed with this error. `TaskOperationError.waitCycle` if a body makes the
    ///   call, the room depends on the permit of this body, and the queue does not lend permits.
    public func addOperationWaitingForRoom(_ operation: AnyTaskOperation) async throws {
        try await scheduler.submitWaitingForRoom(operation)
    }

    /// The values of an operation's options, completed by the defaults of this queue.
    package func values(of options: OperationOptions) -> OptionValues {
        OptionValues(options, defaults: scheduler.defaults)
    }

    /// Whether one more operation with these options would certainly start at once. Dependencies and delays are
    /// ignored.
    package func couldStartAnother(_ options: OperationOptions) -> Bool {
        values(of: options).takesOnePermit && scheduler.withCore { $0.state.couldStartAnother }
    }

    /// The options of an empty operation that starts when an operation with the given options could start. Its wait has
    /// no limit, because the times among the defaults of this queue belong to the other operation.
    package func optionsOfPlaceholder(named name: String, for options: OperationOptions) -> OperationOptions {
        let placeholder = options.ofPlaceholder(named: name)
        guard scheduler.defaults?.values.beginAtAddition == true else { return placeholder }
        let forever = Duration.seconds(Int64.max)
        return [placeholder, .delay(.zero), .starting(within: forever), .ending(within: forever)]
    }

    /// Whether this queue refuses operations.
    package var isShutDown: Bool { scheduler.withCore { !$0.state.acceptance.intake.accepts } }

    /// Puts back the token that a body of this queue took from the rate, so that another operation can use the token.
    package func giveBackStart() {
        if scheduler.hasRate { scheduler.withCore { $0.state.giveBackStart() } }
    }

    /// The number of waiting calls of `addOperationWaitingForRoom`.
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
