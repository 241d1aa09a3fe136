import Synchronization
import TaskOperations

/// A value that is computed once, at its first use. It replaces `dispatch_once` and lazy shared state for `async`
/// computations.
///
/// ```swift
/// static let schema = AsyncLazy(name: "schema") { try await Schema(contentsOf: url) }
/// let schema = try await Self.schema.value
/// ```
///
/// All tasks that use the value during the computation await the same computation. The computation continues if these
/// tasks are cancelled. If a more urgent task awaits the value, the priority of the computation is raised.
///
/// The computation is the body of an operation without a queue. `AnyTaskOperation.current` returns this operation
/// within the computation. A wait that would close a cycle throws an error that names the operations of the cycle. The
/// cycle may include other lazy values and operations.
public final class AsyncLazy<Value: Sendable>: Sendable {
    /// A function that computes the value.
    public typealias Computation = @Sendable () async throws -> Value

    /// The rule for an error of the computation.
    public enum FailurePolicy: Sendable {
        /// All calls that await the failed computation throw its error. The next call starts another computation.
        case retry
        /// The error is kept like a value, and all later calls throw it. The computation runs only once.
        case keep
    }

    private typealias Outcome = Promise<Result<Value, any Error>>

    private struct State: Sendable {
        /// The final result; nil before the computation has ended.
        var settled: Result<Value, any Error>?
        /// The computation in progress.
        var computation: TaskOperation<Void>?
        /// The calls that await the computation. They receive the outcome in the order of their numbers.
        var waiters: [Int: Outcome] = [:]
    }

    private let name: String
    private let failurePolicy: FailurePolicy
    private let compute: Computation
    private let state = Lock(State())

    /// Creates a value without computing it.
    ///
    /// - Parameters:
    ///   - name: The name of the computation in messages. The default names the type of the value.
    ///   - failurePolicy: The rule for an error that the computation throws.
    ///   - computation: A function that computes the value. It may await other lazy values, but not this one.
    public init(
        name: String? = nil, failurePolicy: FailurePolicy = .retry, _ computation: @escaping Computation
    ) {
        self.name = name ?? "AsyncLazy<\(Value.self)>"
        self.failurePolicy = failurePolicy
        compute = computation
    }

    /// The value; nil if it has not been computed.
    public var valueIfComputed: Value? {
        state.withLock { $0.settled.flatMap { try? $0.get() } }
    }

    /// Waits for the value. The first use starts the computation.
    ///
    /// - Throws: The error that the computation throws.
    ///   - `CancellationError` if the calling task is cancelled before the value is computed.
    ///   - `TaskOperationError.waitCycle` if the computation of this value waits for the calling body or computation.
    public var value: Value {
        get async throws {
            if let settled = state.withLock({ $0.settled }) { return try settled.get() }
            try Task.checkCancellation()
            let (number, outcome) = (AnyTaskOperation.nextWaitNumber(), Outcome())
            guard let computation = join(number, outcome) else { return try await outcome.value.get() }
            var result: Result<Value, any Error>?
            do {
                try await computation.whileAwaited {
                    result = await wait(number, for: outcome)
                }
            } catch {
                leave(number)
                throw error
            }
            return try result!.get()
        }
    }
}

// MARK: - Computing

extension AsyncLazy {
    /// Waits for the outcome. If the task is cancelled, the wait ends. If the task is escalated, so is the computation.
    private func wait(_ number: Int, for outcome: Outcome) async -> Result<Value, any Error> {
        var result: Result<Value, any Error>?
        await withTaskCancellationHandler {
            await withEscalationHandler {
                // Called within the scope of the escalation handler, so that no escalation is missed in between.
                escalate(for: number, to: Task.currentPriority)
                result = await outcome.value
            } onEscalated: { [self] priority in
                escalate(for: number, to: priority)
            }
        } onCancel: {
            if outcome.provide(.failure(CancellationError())) { leave(number) }
        }
        return result!
    }

    /// Registers `outcome` for the end of the computation, and returns the computation. If there already is a result,
    /// provides it to `outcome` and returns nil.
    private func join(_ number: Int, _ outcome: Outcome) -> TaskOperation<Void>? {
        let priority = Task.currentPriority
        let (settled, computation, isNew) = state.withLock { state in
            if let settled = state.settled { return (Optional(settled), state.computation, false) }
            state.waiters[number] = outcome
            let isNew = state.computation == nil
            if isNew { state.computation = makeComputation(priority) }
            return (nil, state.computation, isNew)
        }
        if let settled { outcome.provide(settled) }
        if isNew { computation?.startNew() }
        return settled == nil ? computation : nil
    }

    private func makeComputation(_ priority: TaskPriority) -> TaskOperation<Void> {
        TaskOperation(name: name, priority: priority) { [self] () async throws in
            do {
                settle(.success(try await compute()))
            } catch {
                settle(.failure(error))
            }
        }
    }

    private func escalate(for number: Int, to priority: TaskPriority) {
        let computation = state.withLock { state in state.waiters[number] == nil ? nil : state.computation }
        computation?.inherit(to: PriorityLevel(priority))
    }

    private func leave(_ number: Int) {
        _ = state.withLock { state in
            let left = state.waiters.removeValue(forKey: number)
            state.waiters.shrink()
            return left
        }
    }

    private func settle(_ result: Result<Value, any Error>) {
        let (waiters, computation) = state.withLock { state in
            if case .success = result { state.settled = result }
            if failurePolicy == .keep { state.settled = result }
            defer { state.waiters = [:] }
            return (state.waiters, state.computation.take())
        }
        for (_, waiter) in waiters.sorted(by: { $0.key < $1.key }) { waiter.provide(result) }
        extendLifetime(computation)
    }
}
