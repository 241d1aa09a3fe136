/// Makes a queue for a piece of work that nothing outlives: when this returns, every operation of the queue is
/// finished.
///
/// Leaving the scope waits for what is left, on a suspended queue too: it is resumed. Leaving it by an error, or
/// cancelling the task around it, cancels all that is left, and all that is added later. Afterwards the queue is
/// shut down.
///
/// ```swift
/// try await withTaskOperationQueue(maxConcurrentOperationCount: 8) { queue in
///     let pages = urls.map { url in queue.addOperation { try await download(url) } }
///     for page in pages { store(try await page.value) }
/// }
/// ```
///
/// Bodies run in child tasks of the task that opens the scope, whatever task adds their operations: they see its task
/// locals, are cancelled with it, and rise with its priority.
///
/// An error of an operation does not leave the scope by itself. Ask for the values of operations, as above: the first
/// error that is thrown by this leaves the scope, and cancels the rest.
///
/// - Parameters: As for `TaskOperationQueue.init`. Without an executor bodies run where child tasks do: on the executor
///   that the task prefers, or the cooperative pool.
///   - body: Adds operations to the queue, and may await them.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws.
public func withTaskOperationQueue<Value, Failure>(
    name: String? = nil,
    maxConcurrentOperationCount: Int = TaskOperationQueue.defaultMaxConcurrentOperationCount,
    order: OperationOrder = .firstInFirstOut,
    maxPendingOperationCount: Int = TaskOperationQueue.unlimitedPendingOperationCount,
    overflow: QueueOverflow = .refuse,
    rate: OperationRate? = nil,
    ageing: OperationAgeing? = nil,
    clock: any Clock<Duration> = ContinuousClock(),
    lendsPermits: Bool = true,
    executor: (any TaskExecutor)? = nil,
    inheriting taskLocals: [InheritedTaskLocal] = [],
    _ body: (TaskOperationQueue) async throws(Failure) -> Value
) async throws(Failure) -> Value {
    let workers = ScopeWorkers()
    let queue = TaskOperationQueue(
        name: name, width: maxConcurrentOperationCount,
        policies: QueuePolicies(
            order: order, pendingLimit: maxPendingOperationCount, overflow: overflow, rate: rate, ageing: ageing),
        clock: clock, isSuspended: false, lendsPermits: lendsPermits, executor: executor, taskLocals: taskLocals,
        scopeWorkers: workers)
    return try await withDiscardingTaskGroup(returning: Result<Value, Failure>.self) { group in
        workers.addChild(to: &group)
        return await AnyTaskOperation.asScope(of: queue.scheduler) {
            await withTaskCancellationHandler {
                await perform(body, on: queue, in: &group)
            } onCancel: {
                queue.scheduler.cancelAll(andAdded: true)
            }
        }
    }.get()
}

/// Does the work of a scope, and closes the queue.
// Inlined: see `ScopeWorkers`.
@inline(__always)
private func perform<Value, Failure>(
    _ body: (TaskOperationQueue) async throws(Failure) -> Value, on queue: TaskOperationQueue,
    in group: inout DiscardingTaskGroup
) async -> Result<Value, Failure> {
    let result: Result<Value, Failure>
    do throws(Failure) {
        result = .success(try await body(queue))
    } catch {
        queue.scheduler.cancelAll(andAdded: true)
        result = .failure(error)
    }
    await queue.scheduler.close(in: &group)
    return result
}
