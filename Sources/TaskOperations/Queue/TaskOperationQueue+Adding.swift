extension TaskOperationQueue {
    /// Adds an operation. It starts when its dependencies are finished and it is its turn.
    ///
    /// One that was cancelled before is taken, and stays as it is. After `shutDown` it fails at once with
    /// `TaskOperationError.queueShutDown`.
    ///
    /// Logarithmic in the number of barriers at most. If something waits for the operation already, and it comes
    /// behind a barrier, a search for a cycle goes through what stands before that barrier.
    ///
    /// If two calls add one operation at the same time, at most one of them succeeds. The other call throws
    /// `.alreadyAdded`, even if the first call is then refused because of a cycle. The operation can be added again then.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded` if the operation was added to a queue before or started by hand, or if
    ///   another call is adding it. `.dependencyCycle` if the operation would wait for a barrier that waits for it.
    ///   Nothing changes then.
    public func addOperation(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        try scheduler.submit(operation)
    }

    /// Adds operations in one step: priorities are weighed over all of them before any starts, and what has to be
    /// searched for a cycle is searched once.
    ///
    /// - Throws: As for one operation; if one is refused, none is added.
    public func addOperations(_ operations: [AnyTaskOperation]) throws(TaskOperationError) {
        try scheduler.submit(operations)
    }

    /// Makes an operation from a closure and adds it.
    ///
    /// - Parameters:
    ///   - name: What it is called in messages and descriptions.
    ///   - priority: What orders it among the ready operations of the queue, and is its task's own.
    ///   - weight: How many permits its body takes; see `AnyTaskOperation.setWeight(_:)`.
    ///   - limits: Semaphores of each of which it needs a permit too; see `AnyTaskOperation.setLimits(_:)`.
    ///   - dependencies: Operations that have to be finished first, whatever comes of them.
    ///   - body: The work. Isolate it to an actor, with `{ @MainActor in … }` for one, to have it run there.
    @inlinable  // In the caller, the type is known: looking it up costs as much as adding the operation.
    @discardableResult
    public func addOperation<Success>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        weight: Int = 1,
        limits: [AsyncSemaphore] = [],
        dependencies: [AnyTaskOperation] = [],
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(name: name, priority: priority, dependencies: dependencies, body: body)
        if weight != 1 || !limits.isEmpty { operation.initializePermits(weight: weight, limits: limits) }
        addNew(operation)
        return operation
    }

    /// Makes an operation from a type that holds the work and adds it.
    @discardableResult
    public func addOperation<Success>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        dependencies: [AnyTaskOperation] = [],
        _ body: some TaskOperationBody<Success>
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(name: name, priority: priority, dependencies: dependencies, body)
        addNew(operation)
        return operation
    }

    /// Makes an operation that needs the value of another and adds it. If that failed or was cancelled, the body
    /// does not run and the operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - input: The operation whose value the body gets.
    ///   - dependencies: More operations that have to be finished first, whatever comes of them.
    @discardableResult
    public func addOperation<Input, Success>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        after input: TaskOperation<Input>,
        dependencies: [AnyTaskOperation] = [],
        body: @escaping @Sendable (Input) async throws -> Success
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(
            name: name, priority: priority, after: input, dependencies: dependencies, body: body)
        addNew(operation)
        return operation
    }

    /// Makes an operation that needs the values of others and adds it. If one of these failed or was
    /// cancelled, the body does not run and the operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - first: An operation whose value the body gets.
    ///   - inputs: More of these, in the order in which the body gets their values.
    ///   - dependencies: More operations that have to be finished first, whatever comes of them.
    @discardableResult
    public func addOperation<First, each Input, Success>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        after first: TaskOperation<First>,
        _ inputs: repeat TaskOperation<each Input>,
        dependencies: [AnyTaskOperation] = [],
        body: @escaping TaskOperation<Success>.BodyAfter<First, repeat each Input>
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(
            name: name, priority: priority, after: first, repeat each inputs, dependencies: dependencies, body: body)
        addNew(operation)
        return operation
    }

    /// Makes an operation from a closure, adds it, and waits for its value. Cancelling the task that calls this
    /// cancels the operation.
    ///
    /// - Parameter priority: The caller's if none is given.
    /// - Throws: What the body throws; `CancellationError` if it was cancelled before it started;
    ///   `TaskOperationError.waitCycle` if a body of this queue calls this and could not end.
    public func run<Success>(
        name: String? = nil,
        priority: TaskPriority? = nil,
        dependencies: [AnyTaskOperation] = [],
        body: @escaping TaskOperation<Success>.Body
    ) async throws -> Success {
        let operation = addOperation(
            name: name, priority: priority ?? Task.currentPriority, dependencies: dependencies, body: body)
        return try await withTaskCancellationHandler {
            try await operation.result.get()
        } onCancel: {
            operation.cancel()
        }
    }

    /// Adds an operation that was just made. Nothing waits for it, so only a dependency on a body that awaits the
    /// end of this queue can be refused; the operation fails with that error.
    @usableFromInline
    package func addNew(_ operation: AnyTaskOperation, isBarrier: Bool = false) {
        do {
            try scheduler.submit(operation, isBarrier: isBarrier)
        } catch {
            operation.endBeforeStart(error, isCancellation: false)
        }
    }
}

// MARK: - Barriers

extension TaskOperationQueue {
    /// Adds an operation that starts after everything added before it is finished, runs alone, and holds back
    /// everything added after it until it is finished.
    ///
    /// - Throws: `TaskOperationError.alreadyAdded` if it was added to a queue before or started by hand, and
    ///   `.dependencyCycle` if something before it waits for it. Nothing changes then.
    public func addBarrier(_ operation: AnyTaskOperation) throws(TaskOperationError) {
        try scheduler.submit(operation, isBarrier: true)
    }

    /// Makes a barrier from a closure and adds it.
    @discardableResult
    public func addBarrier<Success>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        dependencies: [AnyTaskOperation] = [],
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(name: name, priority: priority, dependencies: dependencies, body: body)
        addNew(operation, isBarrier: true)
        return operation
    }
}
