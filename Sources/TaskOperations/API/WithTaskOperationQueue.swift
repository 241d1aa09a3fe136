import Synchronization

/// Creates a queue for a scope. When the call returns, all operations of the queue have finished.
///
/// When `body` returns, a suspended queue is resumed, and the call waits for the remaining operations. If `body`
/// throws, or the calling task is cancelled, the remaining operations are cancelled. Operations that are added
/// afterwards are cancelled, too. Finally, the queue is shut down.
///
/// ```swift
/// try await withTaskOperationQueue(maxConcurrentOperationCount: 8) { queue in
///     for url in urls { queue.addOperation { store(try await download(url)) } }
/// }
/// ```
///
/// Bodies run in child tasks of the task that opens the scope, even if another task adds their operations. The child
/// tasks inherit the task locals, the cancellation and the priority of the task that opens the scope.
///
/// - Parameters:
///   - configuration: The configuration of the queue. If it has no executor, bodies run on the preferred executor of
///     the task, or on the cooperative pool.
///   - failures: The effect of an operation's failure on the scope.
///   - body: A closure that adds operations to the queue, and may await them.
/// - Returns: The result of `body`.
/// - Throws: The error that `body` throws, or the error that `failures` selects. If there are both, the error of
///   `body`, unless it is a `CancellationError`.
public func withTaskOperationQueue<Value>(
    _ configuration: TaskOperationQueue.Configuration,
    failures: FailurePolicy = .cancelRest,
    _ body: (TaskOperationQueue) async throws -> Value
) async throws -> Value {
    let (workers, log) = (ScopeWorkers(queueName: configuration.name), FailureLog(failures))
    let queue = TaskOperationQueue(configuration, scopeWorkers: workers, failures: log)
    let result = await withDiscardingTaskGroup(returning: Result<Value, any Error>.self) { group in
        workers.addChild(to: &group)
        return await AnyTaskOperation.withScopeEdge(of: queue.scheduler) {
            await withTaskCancellationHandler {
                await perform(body, on: queue, in: &group)
            } onCancel: {
                queue.scheduler.cancelAll(andSet: .cancelling)
            }
        }
    }
    guard let error = log?.error else { return try result.get() }
    if case .failure(let own) = result, !(own is CancellationError) { throw own }
    throw error
}

/// Creates a queue for a scope, with a name and a width. See the function with a configuration.
///
/// - Parameters:
///   - name: The name in messages and descriptions.
///   - maxConcurrentOperationCount: The width of the queue, which is the number of bodies that may execute at once. It
///     must not be negative.
///   - failures: The effect of an operation's failure on the scope.
///   - body: A closure that adds operations to the queue, and may await them.
public func withTaskOperationQueue<Value>(
    name: String? = nil,
    maxConcurrentOperationCount: Int = TaskOperationQueue.defaultMaxConcurrentOperationCount,
    failures: FailurePolicy = .cancelRest,
    _ body: (TaskOperationQueue) async throws -> Value
) async throws -> Value {
    let configuration = TaskOperationQueue.Configuration(
        name: name, maxConcurrentOperationCount: maxConcurrentOperationCount)
    return try await withTaskOperationQueue(configuration, failures: failures, body)
}

/// Runs the body of a scope and closes the queue.
// Inlined: see `ScopeWorkers`.
@inline(__always)
private func perform<Value>(
    _ body: (TaskOperationQueue) async throws -> Value, on queue: TaskOperationQueue,
    in group: inout DiscardingTaskGroup
) async -> Result<Value, any Error> {
    let result: Result<Value, any Error>
    do {
        result = .success(try await body(queue))
    } catch {
        queue.scheduler.cancelAll(andSet: .cancelling)
        result = .failure(error)
    }
    let cycle = await queue.scheduler.close(in: &group)
    if let cycle, case .success = result { return .failure(cycle) }
    return result
}

// MARK: - Failures

/// The effect of an operation's failure on its scope or group.
///
/// An operation that was cancelled, before or after its start, does not count as a failure. An operation that exceeded
/// its timeout counts as a failure.
public enum FailurePolicy: Sendable {
    /// The first failure cancels the remaining operations, and is thrown at the end.
    case cancelRest

    /// All operations run, except those whose inputs have failed. If any failed, `OperationFailures` is thrown at the
    /// end.
    case collect

    /// Failures have no effect on the scope or group. Only a task that awaits the value of the operation receives its
    /// error.
    case ignore
}

/// The failures of the operations of a scope or a group with the policy `collect`.
public struct OperationFailures: Error, Sendable {
    /// An operation that failed.
    public struct Failure: Sendable {
        /// The operation.
        public let operation: OperationLabel
        /// The error of the operation.
        public let error: any Error
    }

    /// All failures, in the order in which they occurred.
    public let failures: [Failure]
}

extension OperationFailures: CustomStringConvertible {
    public var description: String {
        let list = failures.map { "\($0.operation): \($0.error)" }.joined(separator: "; ")
        return "\(failures.count) operations failed: \(list)"
    }
}

/// The failures of the operations of a queue, for a scope or a group that throws them.
final class FailureLog: Sendable {
    private struct State: Sendable {
        var failures: [OperationFailures.Failure] = []
        var hasCancelled = false
    }

    private let policy: FailurePolicy
    private let state = Lock(State())

    /// - Returns: Nil if the policy ignores failures.
    init?(_ policy: FailurePolicy) {
        if case .ignore = policy { return nil }
        self.policy = policy
    }

    /// Records that an operation has failed or was cancelled. Returns whether the remaining operations must be
    /// cancelled.
    func note(_ operation: AnyTaskOperation) -> Bool {
        guard let error = operation.failure, !operation.isInternal else { return false }
        let failure = OperationFailures.Failure(operation: OperationLabel(operation), error: error)
        let isCancelled = operation.isCancelled && !error.isTimeout
        state.withLock { state in
            if isCancelled { state.hasCancelled = true } else { state.failures.append(failure) }
        }
        return !isCancelled && policy == .cancelRest
    }

    /// Whether any operation was cancelled.
    var hasCancelled: Bool { state.withLock { $0.hasCancelled } }

    /// The error that the scope or the group throws because of its operations; nil if none has failed.
    var error: (any Error)? {
        let failures = state.withLock { $0.failures }
        guard let first = failures.first else { return nil }
        return policy == .cancelRest ? first.error : OperationFailures(failures: failures)
    }
}

extension Scheduler {
    /// Whether any operation was cancelled. False without a policy for failures.
    package nonisolated var hasCancelledOperations: Bool { failures?.hasCancelled ?? false }

    nonisolated func noteFailure(of operation: AnyTaskOperation) {
        if let failures, failures.note(operation) { cancelAll(andSet: .cancelling) }
    }
}

extension Error {
    fileprivate var isTimeout: Bool {
        if case .timedOut(.operation, _) = self as? TaskOperationError { true } else { false }
    }
}
