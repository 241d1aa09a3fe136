import Synchronization

/// A unit of work with a typed outcome.
///
/// Create an operation, configure it, and add it to a `TaskOperationQueue`. Alternatively, create and add it with one
/// call of the queue. The body runs at most once, in a task with the priority of the operation. Only a retry policy runs
/// it again.
///
/// The operation ends with exactly one outcome. The outcome is the value that the body returned, or the error that the
/// body threw. If the operation was cancelled before it started, the outcome is `CancellationError`.
///
/// ```swift
/// let listing = TaskOperation(name: "list") { try await list(folder) }
/// let report = TaskOperation(name: "report", after: listing) { files in files.count }
/// try queue.addOperations([listing, report])
/// print(try await report.value)
/// ```
public final class TaskOperation<Success: Sendable>: AnyTaskOperation, @unchecked Sendable {
    // `body` is accessed under the lock of `record` before the start. Afterwards, only the thread that started or ended
    // the operation accesses it.

    /// The work of an operation. Cancelling the operation cancels the task of the body.
    public typealias Body = @Sendable () async throws -> Success

    /// The work of an operation that needs the values of other operations.
    ///
    /// The type is `@concurrent`, because of a crash of the Swift 6.3 compiler. The crash occurs if a closure is passed
    /// for a `nonisolated(nonsending)` function that has a parameter pack. On `TaskOperationQueue.main`, isolate such a
    /// body with `{ @MainActor in … }`.
    ///
    /// The compiler also crashes for three or more inputs if the body is isolated to a global actor and an input other
    /// than the first is a tuple. In this case, pass `{ await function($0, $1, $2) }`.
    public typealias BodyAfter<each Input> = @concurrent @Sendable (repeat each Input) async throws -> Success

    private var body: Body?

    /// Creates an operation. It does nothing until it is added to a queue or started.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: The operations that must finish first, with any outcome.
    ///   - body: The work. A closure that is isolated to an actor, such as `{ @MainActor in … }`, runs on that actor.
    public init(
        name: String? = nil,
        priority: TaskPriority? = nil,
        dependencies: [AnyTaskOperation] = [],
        body: @escaping Body
    ) {
        self.body = body
        // The priority is converted before it is copied, because the runtime looks up the type `TaskPriority?` for each
        // copy. `if let` would copy it first.
        var level: PriorityLevel?
        switch priority {
        case nil: break
        case .some(let priority): level = PriorityLevel(priority)
        }
        super.init(name: name, level: level, dependencies: dependencies)
    }

    /// Creates an operation that the caller is about to add to a queue. Nothing else may use it before.
    @usableFromInline
    init(
        name: String?, dependencies: [AnyTaskOperation], plainlyAddedTo queue: borrowing TaskOperationQueue,
        body: @escaping Body
    ) {
        self.body = body
        super.init(name: name, level: nil, dependencies: dependencies, addedTo: queue.scheduler)
    }

    /// Creates an operation with options.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: The operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - body: The work.
    public convenience init(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions,
        body: @escaping Body
    ) {
        self.init(name, dependencies, options.with(priority), after: [], body)
    }

    /// - Parameter inputs: The dependencies whose values the body needs.
    convenience init(
        _ name: String?, _ dependencies: [AnyTaskOperation], _ options: OperationOptions,
        after inputs: [AnyTaskOperation], _ body: @escaping Body
    ) {
        let all = dependencies.isEmpty ? inputs : inputs + dependencies
        self.init(name: name, dependencies: all, inputCount: inputs.count, body)
        if options.isEmpty { return }
        var replaced: [OptionSetting] = []
        record.withLock { $0.add(options, &replaced) }
    }

    private init(name: String?, dependencies: [AnyTaskOperation], inputCount: Int, _ body: @escaping Body) {
        self.body = body
        super.init(name: name, level: nil, dependencies: dependencies, inputCount: inputCount)
    }

    /// Creates an operation from a type that contains the work.
    public convenience init(
        _ body: some TaskOperationBody<Success>,
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions()
    ) {
        self.init(name: name, priority: priority, dependencies: dependencies, options) { try await body.main() }
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
    /// - Parameter wrap: Called under the lock of the operation. It must only create a closure.
    func wrapBody(_ wrap: (@escaping Body) -> Body) -> Bool {
        let (isWrapped, effects) = inOneStepWithQueue { _, _ in
            guard phase < .executing, let first = body else { return false }
            body = wrap(first)
            return true
        }
        effects.perform()
        return isWrapped
    }

    override func discardBody() { body = nil }

    override func wrapBody(in options: BodyOptions) {
        inOneStepWithQueue { record, _ in
            guard phase < .executing, record.wrapping == .none, let inner = body else { return }
            record.wrapping = .wrapped
            body = { try await Self.runWithPolicies(inner, options) }
        }.effects.perform()
    }
}

// MARK: - Outcome

extension TaskOperation {
    /// The outcome; nil until the operation has finished.
    public var outcome: Result<Success, any Error>? {
        isFinished ? Result { try finishedValue() } : nil
    }

    /// Waits until the operation has finished, and returns its value. The wait blocks no thread. It affects priorities
    /// and permits as `waitUntilFinished()` does.
    ///
    /// Cancelling the waiting task ends the wait and does not cancel the operation, so a cancelled task can end at
    /// once. `result` always waits until the operation has finished. `TaskOperationQueue.run` cancels the operation
    /// when the task is cancelled. `withTimeout` limits the time of the wait:
    ///
    /// ```swift
    /// let page = try await withTimeout(.seconds(5)) { try await operation.value }
    /// ```
    ///
    /// - Throws: The error that the body threw. If the body did not run because of a failed input,
    ///   `TaskOperationError.dependencyFailed`. `CancellationError` if the operation was cancelled before its start, or
    ///   if the waiting task is cancelled. `TaskOperationError.waitCycle` if a body awaits an operation that cannot end
    ///   before the body does.
    public var value: Success {
        get async throws {
            try await waitUntilFinished()
            return try finishedValue()
        }
    }

    /// Waits until the operation has finished, and returns its value. Cancelling the task cancels the operation.
    package var valueOfCaller: Success {
        get async throws {
            try await withTaskCancellationHandler {
                try await waitToTheEnd()
                return try finishedValue()
            } onCancel: {
                cancel()
            }
        }
    }

    /// Waits until the operation has finished, and returns its outcome. The wait blocks no thread. Cancelling the task
    /// does not end the wait.
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

    /// Returns the value of a finished operation. Creates no `Result`, because the runtime would look up that generic
    /// type at each use.
    package func finishedValue() throws -> Success { try Self.value(of: finalOutcome) }

    /// - Parameter outcome: The outcome; nil means success without a value.
    private static func value(of outcome: Outcome?) throws -> Success {
        guard let outcome else { return cast(()) }
        switch outcome.result {
        case .success(let value): return cast(value)
        case .failure(let error): throw error
        }
    }

    /// Converts a value to the operation's type. Compares types first, because a cast costs five times as much as a
    /// comparison.
    private static func cast<Value>(_ value: Value) -> Success {
        // The bits are valid, because `Value` and `Success` are the same type.
        Value.self == Success.self ? unsafeBitCast(value, to: Success.self) : value as! Success
    }

    /// Adds a handler that is called once with the outcome. The rules for the time and the task of the call are those
    /// for a handler without an outcome, which also exists for operations whose type is not known. To stay on your
    /// actor, call `whenFinished(_:)`.
    public func addCompletionHandler(_ handler: @escaping @Sendable (Result<Success, any Error>) -> Void) {
        addHandler { handler(($0 as! Self).outcome!) }
    }
}

extension TaskOperation {
    /// Calls a handler once with the outcome, on the actor of the caller.
    ///
    /// If the caller is a method of a main-actor class, the handler runs on the main actor. It needs neither `Task` nor
    /// `@MainActor in`:
    ///
    /// ```swift
    /// queue.addOperation { try await load(url) }.whenFinished { result in self.show(result) }
    /// ```
    ///
    /// Unlike a completion handler, this handler runs in a separate task. Dependents and waiting tasks might continue
    /// before the handler is called.
    ///
    /// The handler receives no value after `cancel()` has returned on its actor, even if the operation was finished. It
    /// then receives `CancellationError`. `TaskOperationQueue.cancelAllOperations` does not have this effect on an
    /// operation that has finished: the handler can still receive its value.
    public func whenFinished(
        @_inheritActorContext _ handler: @escaping @Sendable @isolated(any) (Result<Success, any Error>) -> Void
    ) {
        addHandler { operation in
            Task.detached(executorPreference: preferredTaskExecutor(), priority: operation.effectivePriority) {
                await (operation as! Self).deliver(to: handler, isolation: handler.isolation)
            }
        }
    }

    /// Calls a handler with the outcome. This function has the isolation of the handler, so that code on that actor
    /// cannot cancel the operation between the check and the call.
    private func deliver(
        to handler: @Sendable @isolated(any) (Result<Success, any Error>) -> Void, isolation: isolated (any Actor)?
    ) async {
        var outcome = outcome!
        if case .success = outcome, record.withLock({ $0.cancellation != .none }) {
            outcome = .failure(CancellationError())
        }
        await handler(outcome)
    }
}

/// The operations whose values are passed to a body.
private final class InputList<Input: Sendable>: @unchecked Sendable {
    // The list is accessed under the operation's lock before the start, and only by the operation's body after the
    // start.
    var operations: [TaskOperation<Input>]

    init(_ operations: [TaskOperation<Input>]) {
        self.operations = operations
    }
}

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
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: More operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - input: The operation whose value is passed to the body.
    ///   - body: The work.
    public convenience init<Input>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        after input: TaskOperation<Input>,
        body: @escaping @Sendable (Input) async throws -> Success
    ) {
        self.init(name, dependencies, options.with(priority), after: [input]) { try await body(input.requireValue()) }
    }

    /// Creates an operation that needs the values of two other operations. If an input failed or was cancelled, the
    /// body does not run, and the new operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: More operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - first: The operation whose value is the first argument of the body.
    ///   - second: The operation whose value is the second argument of the body.
    ///   - body: The work.
    public convenience init<First, Second>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        after first: TaskOperation<First>,
        _ second: TaskOperation<Second>,
        body: @escaping @Sendable (First, Second) async throws -> Success
    ) {
        self.init(name, dependencies, options.with(priority), after: [first, second]) {
            try await body(first.requireValue(), second.requireValue())
        }
    }

    /// Creates an operation that needs the values of several other operations. If an input failed or was cancelled, the
    /// body does not run, and the new operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: More operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - first: The operation whose value is the first argument of the body.
    ///   - inputs: The operations whose values are the remaining arguments of the body, in this order.
    ///   - body: The work.
    public convenience init<First, each Input>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        after first: TaskOperation<First>,
        _ inputs: repeat TaskOperation<each Input>,
        body: @escaping BodyAfter<First, repeat each Input>
    ) {
        var all: [AnyTaskOperation] = [first]
        for input in repeat each inputs { all.append(input) }
        self.init(name, dependencies, options.with(priority), after: all) {
            try await body(first.requireValue(), repeat (each inputs).requireValue())
        }
    }

    /// Creates an operation that needs the values of any number of other operations. If an input failed or was
    /// cancelled, the body does not run, and the new operation fails with `TaskOperationError.dependencyFailed`.
    ///
    /// - Parameters:
    ///   - name: The name in messages and descriptions.
    ///   - priority: See `OperationOptions.priority(_:)`.
    ///   - dependencies: More operations that must finish first, with any outcome.
    ///   - options: The other options.
    ///   - inputs: The operations whose values are passed to the body, in this order. `addInput(_:)` adds more.
    ///   - body: The work.
    public convenience init<Input>(
        name: String? = nil, priority: TaskPriority? = nil, dependencies: [AnyTaskOperation] = [],
        _ options: OperationOptions = OperationOptions(),
        after inputs: [TaskOperation<Input>],
        body: @escaping @Sendable ([Input]) async throws -> Success
    ) {
        let list = InputList(inputs)
        self.init(name, dependencies, options.with(priority), after: inputs) {
            try await body(list.operations.map { try $0.requireValue() })
        }
        record.withLock { $0.madeLinks().madeExtras().inputs = list }
    }

    /// Adds an operation whose value is passed to the body, behind the values of the other inputs. Use this method to
    /// connect a graph after the creation of its operations, for example a graph that is read from a file:
    ///
    /// ```swift
    /// for file in project.files {
    ///     builds[file.name] = TaskOperation(name: file.name, after: [TaskOperation<Output>]()) { try await build(file, $0) }
    /// }
    /// for file in project.files {
    ///     for name in file.imports { try builds[file.name]!.addInput(builds[name]!) }
    /// }
    /// try queue.addOperations(project.files.map { builds[$0.name]! })
    /// ```
    ///
    /// The operation must have been created with `after:` and an array of operations with values of the type `Input`.
    /// Any other operation stops the process with a message. The cost is that of `addDependency(_:)`.
    ///
    /// - Parameter input: The operation whose value is passed to the body. If it is an input already, its value is
    ///   passed again.
    /// - Throws: `TaskOperationError.dependencyCycle` if the input is this operation or waits for it.
    ///   `TaskOperationError.alreadyStarted` if this operation has started or finished. If the call throws, nothing
    ///   changes.
    public func addInput<Input>(_ input: TaskOperation<Input>) throws(TaskOperationError) {
        // The type of the list does not change, so it needs no lock until the input is added.
        guard let list = record.withLock({ $0.links?.extras?.inputs }) as? InputList<Input> else {
            if isFinished { throw .alreadyStarted(OperationLabel(self)) }
            fatalError(
                "\(OperationLabel(self)) takes no list of \(Input.self). Create it with after: [TaskOperation<\(Input.self)>]."
            )
        }
        try addDependency(input, asInput: true) { list.operations.append(input) }
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
            throw .notReady(OperationLabel(Self.current ?? self), waitingFor: [OperationLabel(self)])
        }
    }
}

// MARK: - Types that contain work

/// A type that contains the work of an operation. Use it instead of a long closure, or to give names to the inputs of
/// the work. It replaces a subclass of `Operation`.
///
/// ```swift
/// struct Thumbnail: TaskOperationBody {
///     let source: Image
///     func main() async throws -> Image { try await source.scaled(to: 64) }
/// }
/// let thumbnail = queue.addOperation(Thumbnail(source: image))
/// ```
public protocol TaskOperationBody<Success>: Sendable {
    /// The type of the operation's value.
    associatedtype Success: Sendable

    /// Performs the work. The operation calls this method at most once, unless a retry policy repeats the call.
    /// Cancelling the operation cancels the task of this call. Check `Task.isCancelled`, or call
    /// `Task.checkCancellation()`.
    nonisolated(nonsending) func main() async throws -> Success
}
