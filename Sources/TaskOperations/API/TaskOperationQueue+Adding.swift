import Synchronization

extension TaskOperationQueue: TaskOperationAdding {
    /// Adds an operation. The operation starts after its dependencies have finished, in the order of the queue.
    ///
    /// An operation that is already cancelled is accepted and does not start. An operation that is added after
    /// `shutDown` fails at once with `TaskOperationError.queueShutDown`.
    ///
    /// Takes at most logarithmic time in the number of barriers. If another operation already waits for this operation
    /// and the queue contains a barrier, the call also searches for a cycle. The search covers the operations before
    /// the barrier.
    ///
    /// If two calls add the same operation at the same time, at most one of them succeeds. The other call throws
    /// `TaskOperationError.alreadyAdded`, even if the first call then fails because of a cycle. You can then add the
    /// operation again.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded` if the operation was already added to a queue or started, or if
    ///   another call is adding it. `TaskOperationError.dependencyCycle` if the operation would wait for a barrier that
    ///   waits for the operation. If the call throws, nothing changes.
    public func addOperation(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        try scheduler.submit(operation)
    }

    /// Adds operations in one step. No operation starts before the queue has ordered all of them by priority. One
    /// search for a cycle covers all operations.
    ///
    /// - Throws: The errors of `addOperation(_:)`. If the call throws, no operation was added. An operation that only ends
    ///   with an error, for example because the queue or a limit is full, does not make the call throw.
    public func addOperations(_ operations: [AnyTaskOperation]) throws(TaskOperationError) {
        try scheduler.submit(operations)
    }

    /// Creates an operation from a closure and adds it.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: The operations that must finish first, with any outcome.
    ///   - body: The work. A closure that is isolated to an actor, such as `{ @MainActor in … }`, runs on that actor.
    @inlinable  // The caller knows the type. A lookup of the type costs as much as the addition.
    @discardableResult
    public func addOperation<Success>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        dependencies: [AnyTaskOperation] = [],
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> {
        switch priority {
        case nil where addsPlainly:
            let operation = TaskOperation(name: name, dependencies: dependencies, plainlyAddedTo: self, body: body)
            addPlain(operation, dependencies: dependencies)
            return operation
        default:
            let operation = TaskOperation(
                name: name, priority: priority, dependencies: dependencies, body: body)
            addNew(operation)
            return operation
        }
    }

    /// Adds a new operation. No operation waits for the new operation. The queue therefore refuses it only if it would close
    /// a cycle through a body that waits for the end of this queue. The new operation then fails with the error.
    public func addNew(_ operation: AnyTaskOperation, isBarrier: Bool = false) {
        failIfRefused(operation) { () throws(TaskOperationError) in
            try scheduler.submit(operation, isBarrier: isBarrier)
        }
    }

    @inlinable  // As above: a caller that knows the queue does not look the priority up.
    public var priorityOfAddedOperations: TaskPriority? { nil }

    /// Like `addNew`, for an operation that was created as added to this queue.
    @usableFromInline
    func addPlain(_ operation: AnyTaskOperation, dependencies: [AnyTaskOperation]) {
        failIfRefused(operation) { () throws(TaskOperationError) in
            try scheduler.submit(plain: operation, dependencies: dependencies)
        }
    }

    private func failIfRefused(
        _ operation: AnyTaskOperation, add: () throws(TaskOperationError) -> Void
    ) {
        do {
            try add()
        } catch {
            operation.endOrCancel(error, isCancellation: false)
            // The operation was withdrawn, and its end did not find the queue.
            scheduler.noteFailure(of: operation)
        }
    }

    @usableFromInline
    var addsPlainly: Bool { scheduler.addsPlainly }
}

// MARK: - Barriers

extension TaskOperationQueue {
    /// Adds an operation as a barrier. The barrier starts after all operations that were added earlier have finished,
    /// and runs alone. Operations that are added later start after the barrier has finished.
    ///
    /// A barrier with a delay holds back no operation until the delay is over. It then takes its place behind all
    /// operations of the queue, except the operations that wait for it. These keep their order and move behind the
    /// barrier, together with the barriers that wait for them. If an operation that has started waits for the barrier
    /// at that time, the barrier could never run alone, and fails with `TaskOperationError.dependencyCycle`. The end of
    /// the delay takes linear time in the number of operations if anything waits for the barrier.
    ///
    /// A barrier with `.retry(_:)` holds back later operations during each of its pauses. A barrier with
    /// `.limit(_:)` holds back later operations while it waits for a permit of its limit.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded` if the operation was already added to a queue or started.
    ///   `TaskOperationError.dependencyCycle` if an earlier operation waits for the barrier. If the call throws,
    ///   nothing changes.
    public func addBarrier(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        try scheduler.submit(operation, isBarrier: true)
    }
}

// Bounded queues. They use bounded memory even if a producer is faster than its consumer.

extension TaskOperationQueue {
    /// The maximum number of operations that wait to start. It must be at least 1. One more operation may wait for each
    /// free permit. Barriers and operations with unfinished dependencies are included.
    ///
    /// A queue that is not suspended has room for `maxConcurrentOperationCount + maxQueuedOperationCount` operations.
    /// If some of these operations have lent their permits, the queue has room for more.
    ///
    /// Raising the number lets the queue accept operations that wait for room. Lowering the number drops no operation.
    /// `TaskOperationQueue.Configuration.Overflow` is the rule for an operation that is added to a full queue without waiting.
    /// `addOperationWaitingForRoom` waits for room.
    public var maxQueuedOperationCount: Int {
        get { scheduler.withCore { $0.state.admission.queuedLimit } }
        set {
            Self.checkQueuedLimit(newValue)
            scheduler.withCore { $0.state.setQueuedLimit(newValue) }
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
    ///   operation's body never runs. `TaskOperationError.limitFull` if a limit has no room for the operation when the call
    ///   begins. `TaskOperationError.waitCycle` if a body makes the call, the room depends on the permit of this body, and
    ///   the queue does not lend permits.
    @discardableResult
    public func addOperationWaitingForRoom<Success>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        body: @escaping TaskOperation<Success>.Body
    ) async throws -> TaskOperation<Success> {
        let operation = TaskOperation(
            name: name, priority: priority, dependencies: dependencies, options, body: body)
        try await addOperationWaitingForRoom(operation)
        return operation
    }

    /// Adds an operation as soon as the queue has room for it.
    ///
    /// - Throws: The errors of `addOperation(_:)`. `CancellationError` if the task is cancelled before the queue has
    ///   room; you can add the operation later. `TaskOperationError.queueShutDown` if the queue is shut down before it
    ///   has room, or `TaskOperationError.limitFull` if a limit has no room when the call begins; the operation has then
    ///   failed with this error. `TaskOperationError.waitCycle` if a body makes the call, the room depends on the permit of
    ///   this body, and the queue does not lend permits.
    public func addOperationWaitingForRoom(_ operation: AnyTaskOperation) async throws {
        try await scheduler.submitWaitingForRoom(operation)
    }

    /// The values of an operation's options, completed by the defaults of this queue.
    private func values(of options: OperationOptions) -> OptionValues {
        OptionValues(options, defaults: scheduler.defaults)
    }

    /// The level of an operation that is added without a priority.
    package var defaultLevel: PriorityLevel { scheduler.defaults?.level ?? .default }

    /// Whether an operation with these options abandons its body after a timeout.
    package func abandonsBody(_ options: OperationOptions) -> Bool { values(of: options).body.overrun == .abandon }

    /// Whether one more operation with these options would certainly start at once. Dependencies and delays are
    /// ignored.
    package func couldStartAnother(_ options: OperationOptions) -> Bool {
        values(of: options).takesOnePermit && scheduler.withCore { $0.state.couldStartAnother }
    }

    /// Creates an empty operation that starts when an operation with the given options could start. It puts the tokens
    /// that it took from rates back, and interceptors do not wrap its body.
    package func makePull(for options: OperationOptions) -> TaskOperation<Void> {
        let pull = TaskOperation(name: "pull", optionsOfPull(for: options)) { [scheduler] in
            if scheduler.hasRate { scheduler.withCore { $0.state.giveBackStart() } }
            for request in AnyTaskOperation.current!.limitRequests { request.giveBackTokens() }
        }
        pull.record.withLock { $0.isInternal = true }
        return pull
    }

    /// The wait of a pull has no limit, because the times among the defaults of this queue belong to the other operation.
    private func optionsOfPull(for options: OperationOptions) -> OperationOptions {
        let pull = options.ofPull
        guard scheduler.defaults?.values.beginsAtAddition == true else { return pull }
        let forever = Duration.seconds(Int64.max)
        return [pull, .delay(.zero), .timeout(untilStart: forever), .timeout(untilEnd: forever)]
    }

    /// Whether this queue refuses operations.
    package var isShutDown: Bool { scheduler.withCore { !$0.state.admission.state.accepts } }

    /// The number of waiting calls of `addOperationWaitingForRoom`.
    var waitingProducerCount: Int { scheduler.withCore { $0.state.admission.producers.count } }

    static func checkQueuedLimit(_ limit: Int) {
        require(
            limit >= 1,
            """
            maxQueuedOperationCount is \(limit); it must be at least 1. Pass \
            .max for no limit.
            """)
    }
}
