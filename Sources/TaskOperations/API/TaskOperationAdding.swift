/// A queue or a group, to which operations are added.
///
/// A function that adds operations to either takes `some TaskOperationAdding`.
public protocol TaskOperationAdding: Sendable {
    /// The priority of operations that are created without one. It is nil for a queue, and the current priority of a
    /// group.
    var priorityOfAddedOperations: TaskPriority? { get }

    /// Adds a new operation. If the operation is refused, it fails with the error that `addOperation(_:)` would throw.
    func addNew(_ operation: AnyTaskOperation, isBarrier: Bool)
}

// MARK: - Operations and barriers

extension TaskOperationAdding {
    /// Creates an operation with options and adds it.
    ///
    /// ```swift
    /// queue.addOperation(name: "load", [.weight(2), .timeout(.seconds(30))]) { try await load(url) }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`. In a group, the default is the group's current priority.
    ///   - dependencies: The operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - body: The work.
    @inlinable  // The caller knows the type. A lookup of the type costs as much as the addition.
    @discardableResult
    public func addOperation<Success>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(
            name: name, priority: priority ?? priorityOfAddedOperations, dependencies: dependencies,
            options, body: body)
        addNew(operation, isBarrier: false)
        return operation
    }

    /// Creates an operation from a type that contains the work and adds it.
    @discardableResult
    public func addOperation<Success>(
        _ body: some TaskOperationBody<Success>,
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions()
    ) -> TaskOperation<Success> {
        added(
            TaskOperation(
                body, name: name, priority: priority ?? priorityOfAddedOperations,
                dependencies: dependencies, options))
    }

    /// Creates an operation from a closure, adds it, and waits for its value. Cancelling the calling task cancels the
    /// operation.
    ///
    /// - Throws: The error that the body throws. `CancellationError` if the operation was cancelled before it started.
    ///   `TaskOperationError.waitCycle` if a body makes the call and the operation cannot end before that body.
    public func run<Success>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        body: @escaping TaskOperation<Success>.Body
    ) async throws -> Success {
        try await addOperation(
            name: name, priority: priority, dependencies: dependencies, options, body: body
        ).valueOfCaller
    }

    /// Creates a barrier from a closure, adds it, and waits for its value. See `addBarrier(_:)` and `run(_:body:)`.
    ///
    /// - Throws: The errors of `run(_:body:)`.
    public func runBarrier<Success>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        body: @escaping TaskOperation<Success>.Body
    ) async throws -> Success {
        try await addBarrier(
            name: name, priority: priority, dependencies: dependencies, options, body: body
        ).valueOfCaller
    }

    /// Creates a barrier from a closure and adds it.
    @discardableResult
    public func addBarrier<Success>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        body: @escaping TaskOperation<Success>.Body
    ) -> TaskOperation<Success> {
        let operation = TaskOperation(
            name: name, priority: priority ?? priorityOfAddedOperations, dependencies: dependencies,
            options, body: body)
        addNew(operation, isBarrier: true)
        return operation
    }

    private func added<Success>(_ operation: TaskOperation<Success>) -> TaskOperation<Success> {
        addNew(operation, isBarrier: false)
        return operation
    }
}

// MARK: - Operations that need values

extension TaskOperationAdding {
    /// Creates an operation that needs the value of another operation, and adds it. If the input failed or was
    /// cancelled, the body does not run, and the new operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: More operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - input: The operation whose value is passed to the body.
    ///   - body: The work.
    @discardableResult
    public func addOperation<Input, Success>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        after input: TaskOperation<Input>,
        body: @escaping @Sendable (Input) async throws -> Success
    ) -> TaskOperation<Success> {
        added(
            TaskOperation(
                name: name, priority: priority ?? priorityOfAddedOperations, dependencies: dependencies,
                options, after: input, body: body)
        )
    }

    /// Creates an operation that needs the values of two other operations, and adds it. If an input failed or was
    /// cancelled, the body does not run, and the new operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: More operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - first: The operation whose value is the first argument of the body.
    ///   - second: The operation whose value is the second argument of the body.
    ///   - body: The work.
    @discardableResult
    public func addOperation<First, Second, Success>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        after first: TaskOperation<First>,
        _ second: TaskOperation<Second>,
        body: @escaping @Sendable (First, Second) async throws -> Success
    ) -> TaskOperation<Success> {
        added(
            TaskOperation(
                name: name, priority: priority ?? priorityOfAddedOperations, dependencies: dependencies,
                options, after: first, second, body: body))
    }

    /// Creates an operation that needs the values of several other operations, and adds it. If an input failed or was
    /// cancelled, the body does not run, and the new operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: More operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - first: The operation whose value is the first argument of the body.
    ///   - inputs: The operations whose values are the remaining arguments of the body, in this order.
    ///   - body: The work.
    @discardableResult
    public func addOperation<First, each Input, Success>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        after first: TaskOperation<First>,
        _ inputs: repeat TaskOperation<each Input>,
        body: @escaping TaskOperation<Success>.BodyAfter<First, repeat each Input>
    ) -> TaskOperation<Success> {
        added(
            TaskOperation(
                name: name, priority: priority ?? priorityOfAddedOperations, dependencies: dependencies,
                options, after: first, repeat each inputs,
                body: body))
    }

    /// Creates an operation that needs the values of any number of other operations, and adds it. If an input failed or
    /// was cancelled, the body does not run, and the new operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: More operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - inputs: The operations whose values are passed to the body, in this order.
    ///   - body: The work.
    @discardableResult
    public func addOperation<Input, Success>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        after inputs: [TaskOperation<Input>],
        body: @escaping @Sendable ([Input]) async throws -> Success
    ) -> TaskOperation<Success> {
        added(
            TaskOperation(
                name: name, priority: priority ?? priorityOfAddedOperations, dependencies: dependencies,
                options, after: inputs, body: body))
    }
}
