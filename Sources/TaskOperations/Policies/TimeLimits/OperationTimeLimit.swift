import Synchronization

/// Records whether a time limit of an operation has passed. `timeLimit(_:)` and `ending(within:)` of one operation
/// share this object, and the limit that passes first determines the error.
final class OperationTimeLimit: Sendable {
    private enum State: Sendable {
        case running
        case passed(after: Duration)
        /// The body ended before a limit passed, or the operation was cancelled before.
        case over

        var passed: Duration? { if case .passed(let limit) = self { limit } else { nil } }
    }

    private let overrun: TimeLimitOverrun
    /// The executor of the task that ends the operation after a limit has passed.
    private let executor: (any TaskExecutor)?
    private let state = Lock(State.running)

    init(_ overrun: TimeLimitOverrun, clock: some Clock) {
        self.overrun = overrun
        executor = clock.executorOfSleepers
    }

    /// Runs a body. Throws `TaskOperationError.timedOut` if a limit has passed before the body ends.
    func run<Success>(_ body: TaskOperation<Success>.Body) async throws -> Success {
        let result: Result<Success, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        let passed = state.withLock { state in
            if case .running = state { state = .over }
            return state.passed
        }
        if let passed { throw TaskOperationError.timedOut(OperationLabel(.executing!), after: passed) }
        return try result.get()
    }

    /// Records that a limit has passed, and ends the operation in a new task.
    ///
    /// Ending an operation may call the cancellation handlers of its body. Other deadlines must not wait for these
    /// handlers.
    func pass(_ limit: Duration, for operation: AnyTaskOperation) {
        let isTooLate = operation.isCancelled && overrun == .wait
        let isFirst = state.withLock { state in
            guard case .running = state else { return false }
            state = isTooLate ? .over : .passed(after: limit)
            return !isTooLate
        }
        if isFirst {
            Task.detached(executorPreference: executor, priority: .high) { [self] in end(operation, after: limit) }
        }
    }

    /// Ends the operation with the error of a limit that has passed.
    func end(_ operation: AnyTaskOperation, after limit: Duration) {
        let error = TaskOperationError.timedOut(OperationLabel(operation), after: limit)
        if overrun == .abandon { operation.abandon(error) }
        operation.endBeforeStart(error, isCancellation: true)
        // The operation may have started after the first call of `abandon`.
        if overrun == .abandon { operation.abandon(error) }
    }
}
