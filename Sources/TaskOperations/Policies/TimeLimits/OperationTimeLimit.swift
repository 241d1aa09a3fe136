/// Records whether the time limit of an operation, or of one run of its body, has passed. If there are several limits,
/// the first one that passes counts.
final class OperationTimeLimit: Sendable {
    private enum State: Sendable {
        case running
        case passed(after: Duration)
        /// The body has ended in time, or the operation was cancelled before.
        case over

        var passed: Duration? { if case .passed(let limit) = self { limit } else { nil } }
    }

    private let overrun: TimeLimitOverrun
    /// The executor on which an operation is ended when its time is over.
    private let executor: (any TaskExecutor)?
    private let state = Lock(State.running)

    init(_ overrun: TimeLimitOverrun, clock: some Clock) {
        self.overrun = overrun
        executor = clock.executorOfSleepers
    }

    /// Runs a body, and fails if the time passes before its end.
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

    /// Records that the time of a limit is over, and ends the operation.
    ///
    /// It ends the operation in a new task: cancelling a body calls its cancellation handlers, and other deadlines must
    /// not wait for them.
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

    private func end(_ operation: AnyTaskOperation, after limit: Duration) {
        let error = TaskOperationError.timedOut(OperationLabel(operation), after: limit)
        if overrun == .abandon { operation.abandon(error) }
        operation.endBeforeStart(error, isCancellation: true)
        // The operation may have started between the two calls.
        if overrun == .abandon { operation.abandon(error) }
    }
}
