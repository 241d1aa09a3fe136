/// A value that is computed once, when it is first asked for: `dispatch_once` and lazy shared state for values that
/// have to be awaited.
///
/// ```swift
/// static let schema = AsyncLazy { try await Schema(contentsOf: url) }
/// let schema = try await Self.schema.value
/// ```
///
/// All that ask while it is computed await the one computation, which runs in a task of its own. It goes on where
/// one of them is cancelled, or all are, and is escalated where a more urgent one comes.
public final class AsyncLazy<Value: Sendable>: Sendable {
    /// Computes the value.
    public typealias Computation = @Sendable () async throws -> Value

    /// What becomes of an error.
    public enum FailurePolicy: Sendable {
        /// It goes to all that await the failed computation. Whoever asks afterwards starts another one.
        case retried
        /// It is kept like a value. The computation runs once only.
        case kept
    }

    private let failurePolicy: FailurePolicy
    private let computation: Computation
    private let state = Lock(LazyState<Value>())

    /// Makes a value that is not computed yet.
    ///
    /// - Parameters:
    ///   - failurePolicy: What becomes of an error that the computation throws.
    ///   - computation: Computes the value. It may await other ones of these, but not this one.
    public init(failurePolicy: FailurePolicy = .retried, _ computation: @escaping Computation) {
        self.failurePolicy = failurePolicy
        self.computation = computation
    }

    /// The value, if it has been computed.
    public var valueIfComputed: Value? {
        state.withLock { $0.settled.flatMap { try? $0.get() } }
    }

    /// Waits for the value, and has it computed where nobody did before.
    ///
    /// - Throws: What the computation throws; `CancellationError` where the calling task is cancelled before the
    ///   value is there; `AsyncLazyError.awaitsItself` within the computation, which could never end.
    public var value: Value {
        get async throws {
            if let settled = state.withLock({ $0.settled }) { return try settled.get() }
            if LazyComputation.current.contains(ObjectIdentifier(self)) { throw AsyncLazyError.awaitsItself }
            try Task.checkCancellation()
            return try await awaitComputation()
        }
    }
}

// MARK: - Computing

extension AsyncLazy {
    private func awaitComputation() async throws -> Value {
        let outcome = OneShot<Result<Value, any Error>>()
        var result: Result<Value, any Error>?
        let task = join(outcome, priority: Task.currentPriority)
        await withTaskCancellationHandler {
            await withEscalationHandler {
                result = await outcome.value
            } onEscalated: { priority in
                task?.escalateIfAvailable(to: priority)
            }
        } onCancel: {
            if outcome.provide(.failure(CancellationError())) { leave(outcome) }
        }
        return try result!.get()
    }

    /// Has the outcome provided when it is there. Returns the task that computes it; nil where it is there now.
    private func join(
        _ outcome: OneShot<Result<Value, any Error>>, priority: TaskPriority
    ) -> Task<Void, Never>? {
        let surrounding = LazyComputation.current
        let (settled, task) = state.withLock { state in
            if state.settled == nil {
                state.waiters[ObjectIdentifier(outcome)] = outcome
                // Making a task calls nobody: it only puts it into line.
                if state.task == nil { state.task = startTask(within: surrounding, priority) }
            }
            return (state.settled, state.task)
        }
        if let settled { outcome.provide(settled) }
        task?.escalateIfAvailable(to: priority)
        return task
    }

    private func leave(_ outcome: OneShot<Result<Value, any Error>>) {
        _ = state.withLock { $0.waiters.removeValue(forKey: ObjectIdentifier(outcome)) }
    }

    private func startTask(
        within surrounding: Set<ObjectIdentifier>, _ priority: TaskPriority
    ) -> Task<Void, Never> {
        Task.detached(priority: priority) { [self] in
            let all = surrounding.union([ObjectIdentifier(self)])
            await LazyComputation.$current.withValue(all) {
                do {
                    settle(.success(try await computation()))
                } catch {
                    settle(.failure(error))
                }
            }
        }
    }

    private func settle(_ result: Result<Value, any Error>) {
        let waiters = state.withLock { state in
            if case .failure = result, failurePolicy == .retried {
                state.settled = nil
            } else {
                state.settled = result
            }
            state.task = nil
            defer { state.waiters = [:] }
            return state.waiters.values
        }
        for waiter in waiters { waiter.provide(result) }
    }
}

private struct LazyState<Value: Sendable>: Sendable {
    /// What is handed out from now on.
    var settled: Result<Value, any Error>?
    /// What computes it at present.
    var task: Task<Void, Never>?
    /// Who awaits that.
    var waiters: [ObjectIdentifier: OneShot<Result<Value, any Error>>] = [:]
}

private enum LazyComputation {
    /// The values whose computation this is part of.
    @TaskLocal static var current: Set<ObjectIdentifier> = []
}

/// What an `AsyncLazy` refuses, and why.
public enum AsyncLazyError: Error, Sendable {
    /// A computation asked for the very value that it computes.
    case awaitsItself
}

extension AsyncLazyError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .awaitsItself:
            """
            The computation of an AsyncLazy awaits its own value, directly or through another one, and could never \
            end. Compute what both need in an AsyncLazy of its own.
            """
        }
    }
}
