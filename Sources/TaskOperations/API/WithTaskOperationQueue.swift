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
