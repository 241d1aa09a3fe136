/// A unit of work with a typed outcome.
///
/// Create an operation, configure it, and add it to a `TaskOperationQueue`; or create and add it with one call of the
/// queue. The body runs at most once, in a task with the priority of the operation. The operation ends with exactly one
/// outcome: the value that the body returned, the error that the body threw, or `CancellationError` if the operation
/// was cancelled before it started.
///
/// ```swift
/// let listing = TaskOperation(name: "list") { try await list(folder) }
/// let report = TaskOperation(.name("report"), after: listing) { files in files.count }
/// try queue.addOperations([listing, report])
/// print(try await report.value)
/// ```
public final class TaskOperation<Success: Sendable>: AnyTaskOperation, @unchecked Sendable {
    // `body` is accessed under the lock of `record` before the start, and afterwards only by the thread that started or
    // ended the operation.

    /// The work of an operation. Cancelling the operation cancels the task of the body.
    public typealias Body = @Sendable () async throws -> Success

    /// The work of an operation that needs the values of other operations.
    ///
    /// The type is `@concurrent`, because the compiler of Swift 6.3 crashes if a closure is passed for a
    /// `nonisolated(nonsending)` function that takes a parameter pack. On `TaskOperationQueue.main`, isolate such a
    /// body with `{ @MainActor in … }`.
    ///
    /// The compiler also crashes if the body is isolated to a global actor, there are at least three inputs, and an
    /// input other than the first is a tuple. In this case, pass `{ await function($0, $1, $2) }`.
    public typealias BodyAfter<each Input> = @concurrent @Sendable (repeat each Input) async throws -> Success

    private var body: Body?

    /// Creates an operation, which does nothing until it is added to a queue or started.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: Operations that must finish first, with any outcome.
    ///   - body: The work. A closure that is isolated to an actor runs there, such as `{ @MainActor in … }`.
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        dependencies: [AnyTaskOperation] = [],
        body: @escaping Body
    ) {
        self.body = body
        // Converted before any copy, because the runtime looks up the type `TaskPriority?` for each copy.
        var level: PriorityLevel?
        if let priority { level = PriorityLevel(priority) }
        super.init(name: name, level: level, dependencies: dependencies)
    }

    /// Creates an operation with options.
    public convenience init(_ options: OperationOptions, body: @escaping Body) {
        self.init(options, after: [], body)
    }

    /// - Parameter inputs: Dependencies in addition to those of the options.
    convenience init(_ options: OperationOptions, after inputs: [AnyTaskOperation], _ body: @escaping Body) {
        if options.isEmpty {
            self.init(dependencies: inputs, body: body)
        } else {
            let values = options.values
            self.init(
                name: values.name, priority: values.priority, dependencies: inputs + values.dependencies, body: body)
            record.withLock { $0.add(options) }
        }
    }

    /// Creates an operation from a type that contains the work.
    public convenience init(_ body: some TaskOperationBody<Success>, _ options: OperationOptions = OperationOptions()) {
        self.init(options) { try await body.main() }
    }

    override func runBody() async -> Outcome? {
        let body = body!
        self.body = nil
        do {
            let value = try await body()
            return Success.self == Void.self ? nil : Outcome(.success(value))
        } catch {
            return Outcome(.failure(error))
        }
    }

    deinit {
        // The body never ran. The body and the links may hold the last references to other operations. They are passed
        // directly, because a variable would keep them alive until after the call.
        if body == nil { return }
        ChainRelease.release(body.take() as Any)
        ChainRelease.release(record.withLock { $0.links.take() } as Any)
    }

    override package func addStartHandler(_ handler: @escaping @Sendable () -> Void) -> Bool {
        wrapBody { body in
            {
                handler()
                return try await body()
            }
        }
    }

    /// Replaces the body with a closure that wraps it. If the operation has started or ended, returns false and does
    /// nothing.
    ///
    /// - Parameter wrap: Called under the lock of the operation. It must only make a closure.
    func wrapBody(_ wrap: (@escaping Body) -> Body) -> Bool {
        record.withLock { record in
            guard record.phase < .executing, let first = body else { return false }
            body = wrap(first)
            return true
        }
    }

    override func discardBody() { body = nil }

    override func surroundBody() {
        record.withLock { record in
            guard record.phase < .executing, !record.isBodySurrounded, let inner = body else { return }
            record.isBodySurrounded = true
            body = { try await Self.runWithPolicies(inner) }
        }
    }
}

// MARK: - Outcome

extension TaskOperation {
    /// The outcome; nil until the operation has finished.
    public var outcome: Result<Success, any Error>? {
        let (isFinished, outcome) = record.withLock { ($0.phase == .finished, $0.outcome) }
        return isFinished ? Result { try Self.value(of: outcome) } : nil
    }

    /// Waits for the end without blocking a thread, and returns the value. The wait affects priorities and permits as
    /// `waitUntilFinished()` does.
    ///
    /// Cancelling the waiting task ends the wait and does not cancel the operation, so a cancelled task can end at
    /// once. `result` always waits for the end. `TaskOperationQueue.run` cancels the operation with the task.
    ///
    /// - Throws: The error that the body threw. If the body did not run because an operation whose value it needs
    ///   failed, the error of that operation; `failure` names the operations in between. `CancellationError` if the
    ///   operation was cancelled before its start, or if the waiting task is cancelled. `TaskOperationError.waitCycle`
    ///   if a body awaits an operation that cannot end before the body does.
    public var value: Success {
        get async throws {
            try await waitUntilFinished()
            return try originalValue()
        }
    }

    /// Waits for the end and returns the value, like `value`. Cancelling the task does not end the wait.
    var valueAtEnd: Success {
        get async throws {
            try await waitToTheEnd()
            return try originalValue()
        }
    }

    /// Waits for the end, at most for a limited time, and returns the value.
    ///
    /// - Parameters:
    ///   - timeout: The longest duration of the wait.
    ///   - clock: The clock that measures it.
    /// - Throws: `WaitTimeoutError` if the operation has not finished in time, which does not cancel it; otherwise the
    ///   errors of `value`.
    public func value(timeout: Duration, clock: any Clock<Duration> = ContinuousClock()) async throws -> Success {
        try await waitUntilFinished(timeout: timeout, clock: clock)
        return try originalValue()
    }

    /// Waits for the end, at most for a limited time, and returns the outcome. Cancelling the task ends the wait, too.
    ///
    /// - Parameters:
    ///   - timeout: The longest duration of the wait.
    ///   - clock: The clock that measures it.
    /// - Throws: `WaitTimeoutError` if the operation has not finished in time. `CancellationError` if the task is
    ///   cancelled before the operation has finished. Neither cancels the operation. `TaskOperationError.waitCycle` if
    ///   a body awaits an operation that cannot end before the body does.
    public func result(
        timeout: Duration, clock: any Clock<Duration> = ContinuousClock()
    ) async throws -> Result<Success, any Error> {
        try await waitUntilFinished(timeout: timeout, clock: clock)
        return outcome!
    }

    /// Waits for the end without blocking a thread, and returns the outcome. Cancelling the task does not end the wait.
    ///
    /// If a body awaits an operation that cannot end before the body does, the result is a failure with
    /// `TaskOperationError.waitCycle`.
    public var result: Result<Success, any Error> {
        get async {
            do {
                try await waitToTheEnd()
                return .success(try finishedValue())
            } catch {
                return .failure(error)
            }
        }
    }

    /// Returns the value of a finished operation. It makes no `Result`, because the runtime would look up that generic
    /// type at each use.
    package func finishedValue() throws -> Success { try Self.value(of: record.withLock { $0.outcome }) }

    /// The value of a finished operation, or the original error if the operation did not run because of another one.
    private func originalValue() throws -> Success {
        do {
            return try finishedValue()
        } catch TaskOperationError.dependencyFailed(_, _, let error) {
            throw error
        }
    }

    /// - Parameter outcome: The outcome; nil is success without a value.
    private static func value(of outcome: Outcome?) throws -> Success {
        guard let outcome else { return () as! Success }
        switch outcome.result {
        case .success(let value): return cast(value)
        case .failure(let error): throw error
        }
    }

    /// Converts a value to the operation's type. A cast costs five times as much as the comparison of two types.
    private static func cast<Value>(_ value: Value) -> Success {
        // The bits are valid, because `Value` and `Success` are the same type.
        Value.self == Success.self ? unsafeBitCast(value, to: Success.self) : value as! Success
    }

    /// Adds a handler that is called once with the outcome. The handler is called when, and on the task on which, a
    /// handler without an outcome is called.
    public func addCompletionHandler(_ handler: @escaping @Sendable (Result<Success, any Error>) -> Void) {
        addHandler { handler(($0 as! Self).outcome!) }
    }
}

extension TaskOperation {
    /// Calls a handler once with the outcome, on the actor of the caller.
    ///
    /// In a method of a main-actor class, the handler runs on the main actor, without `Task` or `@MainActor in`:
    ///
    /// ```swift
    /// queue.addOperation { try await load(url) }.whenFinished { result in self.show(result) }
    /// ```
    ///
    /// Unlike a completion handler, this handler runs in a task of its own. Dependents and waiting tasks might continue
    /// before it is called.
    public func whenFinished(
        @_inheritActorContext _ handler: @escaping @Sendable @isolated(any) (Result<Success, any Error>) -> Void
    ) {
        addHandler { operation in
            let outcome = (operation as! Self).outcome!
            Task.detached(executorPreference: preferredTaskExecutor(), priority: operation.effectivePriority) {
                await handler(outcome)
            }
        }
    }
}

// MARK: - Several bodies

extension TaskOperation where Success == Void {
    /// Adds a body that runs at the same time as the other bodies of this operation. The operation finishes when all
    /// its bodies have ended. It takes only one set of permits. If a body throws, the other bodies are cancelled, and
    /// the operation fails with that error.
    ///
    /// - Throws: `TaskOperationError.alreadyStarted` if the operation has started or finished.
    public func addBody(_ additional: @escaping Body) throws(TaskOperationError) {
        try record.withLock { record throws(TaskOperationError) in
            guard record.phase < .executing, let first = body else { throw .alreadyStarted(OperationLabel(self)) }
            let links = record.madeLinks()
            if let added = links.addedBodies { return added.bodies.append(additional) }
            let added = AddedBodies(additional)
            links.addedBodies = added
            body = {
                try await withThrowingTaskGroup { group in
                    group.addTask { try await first() }
                    for body in added.bodies { group.addTask { try await body() } }
                    added.bodies = []
                    // `waitForAll` would let the other tasks run to their end if one throws.
                    for try await _ in group {}
                }
            }
        }
    }
}

/// The bodies of an operation other than the first. They are in a list, because nested closures would be called and
/// freed recursively and could overflow the stack.
final class AddedBodies: @unchecked Sendable {
    // Accessed under the operation's lock before the start, and only by the operation's body after the start.
    var bodies: [TaskOperation<Void>.Body]

    init(_ first: @escaping TaskOperation<Void>.Body) {
        bodies = [first]
    }
}

// MARK: - The current operation

extension TaskOperation where Success == Never {
    /// The operation whose body is running in the current task or in one of its parent tasks; otherwise nil.
    public static var current: AnyTaskOperation? { AnyTaskOperation.executing }
}
