/// Makes a queue for a piece of work that nothing outlives: when this returns, every operation of the queue is
/// finished.
///
/// Leaving the scope waits for what is left, on a suspended queue too: it is resumed. Leaving it by an error, or
/// cancelling the task around it, cancels all that is left, and all that is added later. Afterwards the queue is
/// shut down.
///
/// ```swift
/// try await withTaskOperationQueue(maxConcurrentOperationCount: 8) { queue in
///     for url in urls { queue.addOperation { store(try await download(url)) } }
/// }
/// ```
///
/// Bodies run in child tasks of the task that opens the scope, whatever task adds their operations: they see its task
/// locals, are cancelled with it, and rise with its priority.
///
/// - Parameters:
///   - configuration: The configuration of the queue. Without an executor bodies run where child tasks do: on the executor
///     that the task prefers, or the cooperative pool.
///   - failures: What the failure of an operation does to the scope.
///   - body: Adds operations to the queue, and may await them.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws, unless that is a `CancellationError` that follows from the failure of an operation;
///   otherwise the error that `failures` decides on.
public func withTaskOperationQueue<Value>(
    _ configuration: TaskOperationQueue.Configuration,
    failures: FailurePolicy = .cancelRest,
    _ body: (TaskOperationQueue) async throws -> Value
) async throws -> Value {
    let (workers, log) = (ScopeWorkers(queueName: configuration.name), FailureLog(failures))
    let queue = TaskOperationQueue(configuration, scopeWorkers: workers, failures: log)
    let result = await withDiscardingTaskGroup(returning: Result<Value, any Error>.self) { group in
        workers.addChild(to: &group)
        return await AnyTaskOperation.asScope(of: queue.scheduler) {
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

/// Creates a queue for a piece of work that nothing outlives, as the function with a configuration does.
///
/// - Parameters:
///   - name: The name in messages and descriptions.
///   - maxConcurrentOperationCount: The width: how many bodies may execute at once; not negative.
///   - failures: What the failure of an operation does to the scope.
///   - body: Adds operations to the queue, and may await them.
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

/// Does the work of a scope, and closes the queue.
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
    await queue.scheduler.close(in: &group)
    return result
}
