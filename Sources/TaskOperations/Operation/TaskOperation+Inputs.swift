// Operations that need the values of other operations.
//
// The initialisers for one and for two inputs have no parameter pack. With a pack, the compiler of Swift 6.3 crashes if
// an input is a tuple and the body is isolated to a global actor.

extension TaskOperation {
    /// Creates an operation that needs the value of another operation. The new operation starts after the input has
    /// finished. If the input failed or was cancelled, the body does not run, and the new operation fails with
    /// `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - options: The options. Their dependencies must also finish first, with any outcome.
    ///   - input: The operation whose value is passed to the body.
    ///   - body: The work.
    public convenience init<Input>(
        _ options: OperationOptions = OperationOptions(),
        after input: TaskOperation<Input>,
        body: @escaping @Sendable (Input) async throws -> Success
    ) {
        self.init(options, after: [input]) { try await body(input.requireValue()) }
    }

    /// Creates an operation that needs the values of two other operations. If an input failed or was cancelled, the
    /// body does not run, and the new operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - options: The options. Their dependencies must also finish first, with any outcome.
    ///   - first: The operation whose value is the first argument of the body.
    ///   - second: The operation whose value is the second argument of the body.
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

    /// Creates an operation that needs the values of several other operations. If an input failed or was cancelled, the
    /// body does not run, and the new operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - options: The options. Their dependencies must also finish first, with any outcome.
    ///   - first: The operation whose value is the first argument of the body.
    ///   - inputs: The operations whose values are the remaining arguments of the body, in this order.
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

    /// Creates an operation that needs the values of any number of other operations. If an input failed or was
    /// cancelled, the body does not run, and the new operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - options: The options. Their dependencies must also finish first, with any outcome.
    ///   - inputs: The operations whose values are passed to the body, in this order.
    ///   - body: The work.
    public convenience init<Input>(
        _ options: OperationOptions = OperationOptions(),
        after inputs: [TaskOperation<Input>],
        body: @escaping @Sendable ([Input]) async throws -> Success
    ) {
        self.init(options, after: inputs) { try await body(inputs.map { try $0.requireValue() }) }
    }

    /// Returns the value of this operation for an operation that needs the value.
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
