extension TaskOperation {
    /// Makes an operation that needs the values of two others. It starts after they are finished; if one of them failed
    /// or was cancelled, the body does not run and the operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// It does what the form for any number of inputs does, without a parameter pack: the compiler of Swift 6.3 crashes
    /// if a function that is isolated to a global actor is passed as a body, and an input of the pack is a tuple.
    ///
    /// - Parameters:
    ///   - first: An operation whose value the body gets.
    ///   - second: The operation whose value it gets after that.
    ///   - dependencies: More operations that have to be finished first, whatever comes of them.
    public convenience init<First, Second>(
        name: String? = nil,
        priority: TaskPriority = .medium,
        after first: TaskOperation<First>,
        _ second: TaskOperation<Second>,
        dependencies: [AnyTaskOperation] = [],
        body: @escaping @Sendable (First, Second) async throws -> Success
    ) {
        self.init(name: name, priority: priority, dependencies: [first, second] + dependencies) {
            try await body(first.requireValue(), second.requireValue())
        }
    }
}
