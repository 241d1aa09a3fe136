// Operations that need the values of other operations.
//
// The initialisers for one and for two inputs have no parameter pack. With a pack, the compiler of Swift 6.3 crashes if
// the body is a function that is isolated to a global actor and an input is a tuple.

extension TaskOperation {
    /// Creates an operation that needs the value of another operation. It starts after that operation has finished. If
    /// the input failed or was cancelled, the body does not run, and the operation fails with
    /// `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - options: The options; their dependencies must also finish first, with any outcome.
    ///   - input: The operation whose value the body gets.
    ///   - body: The work.
    public convenience init<Input>(
        _ options: OperationOptions = OperationOptions(),
        after input: TaskOperation<Input>,
        body: @escaping @Sendable (Input) async throws -> Success
    ) {
        self.init(options, after: [input]) { try await body(input.requireValue()) }
    }

    /// Creates an operation that needs the values of two other operations. If one of them failed or was cancelled, the
    /// body does not run, and the operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - options: The options; their dependencies must also finish first, with any outcome.
    ///   - first: The operation whose value the body gets first.
    ///   - second: The operation whose value the body gets second.
    ///   - body: The work.
    public convenience init<First, Second>(
        _ options: OperationOptions = OperationOptions(),
        after first: TaskOperation<First>,
        _ second: TaskOperation<Second>,
        body: @escaping @Sendable (First, Second) async throws -> Success
    ) {
        self.init(options, after: [first, second]) {
            try await body(first.requireValue(), second.requireValue())
        }
    }

    /// Creates an operation that needs the values of several other operations. If one of them failed or was cancelled,
    /// the body does not run, and the operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - options: The options; their dependencies must also finish first, with any outcome.
    ///   - first: An operation whose value the body gets.
    ///   - inputs: More such operations, in the order in which the body gets their values.
    ///   - body: The work.
    public convenience init<First, each Input>(
        _ options: OperationOptions = OperationOptions(),
        after first: TaskOperation<First>,
        _ inputs: repeat TaskOperation<each Input>,
        body: @escaping BodyAfter<First, repeat each Input>
    ) {
        var all: [AnyTaskOperation] = [first]
        for input in repeat each inputs { all.append(input) }
        self.init(options, after: all) {
            try await body(first.requireValue(), repeat (each inputs).requireValue())
        }
    }

    /// Creates an operation that needs the values of any number of other operations. If one of them failed or was
    /// cancelled, the body does not run, and the operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - options: The options; their dependencies must also finish first, with any outcome.
    ///   - inputs: The operations whose values the body gets, in this order.
    ///   - body: The work.
    public convenience init<Input>(
        _ options: OperationOptions = OperationOptions(),
        after inputs: [TaskOperation<Input>],
        body: @escaping @Sendable ([Input]) async throws -> Success
    ) {
        self.init(options, after: inputs) { try await body(inputs.map { try $0.requireValue() }) }
    }

    /// The value of a finished operation, for an operation that needs it.
    private func requireValue() throws(TaskOperationError) -> Success {
        switch outcome {
        case .success(let value): return value
        case .failure(TaskOperationError.dependencyFailed(_, let origin, let error)):
            throw .dependencyFailed(dependency: OperationLabel(self), origin: origin, error: error)
        case .failure(let error):
            throw .dependencyFailed(dependency: OperationLabel(self), origin: OperationLabel(self), error: error)
        case nil:
            // The dependency was removed, but the body still needs the value.
            throw .notReady(OperationLabel(Self.executing ?? self), waitingFor: [OperationLabel(self)])
        }
    }
}
