/// Makes a queue for a piece of work that nothing outlives: when this returns, every operation of the queue is
/// finished.
///
/// Leaving the scope waits for what is left, on a suspended queue too: it is resumed. Leaving it by an error, or
/// cancelling the task around it, cancels all that is left, and all that is added later. Afterwards the queue is
/// shut down.
///
/// ```swift
/// try await withTaskOperationQueue(maxConcurrentOperationCount: 8) { queue in
///     for url in urls { queue.addOperation { try await download(url) } }
/// }
/// ```
///
/// What operations throw stays with them: keep those whose outcome matters and ask for their values.
///
/// - Parameters: As for `TaskOperationQueue.init`.
///   - body: Adds operations to the queue, and may await them.
/// - Returns: What `body` returns.
/// - Throws: What `body` throws.
public func withTaskOperationQueue<Value, Failure>(
    name: String? = nil,
    maxConcurrentOperationCount: Int = TaskOperationQueue.defaultMaxConcurrentOperationCount,
    executor: (any TaskExecutor)? = nil,
    carrying taskLocals: [CarriedTaskLocal] = [],
    _ body: (TaskOperationQueue) async throws(Failure) -> Value
) async throws(Failure) -> Value {
    let queue = TaskOperationQueue(
        name: name, maxConcurrentOperationCount: maxConcurrentOperationCount, executor: executor,
        carrying: taskLocals)
    let result = await AnyTaskOperation.asScope(of: queue.scheduler) {
        await withTaskCancellationHandler { () -> Result<Value, Failure> in
            do throws(Failure) {
                let value = try await body(queue)
                await queue.scheduler.close()
                return .success(value)
            } catch {
                queue.scheduler.cancelAll(andAdded: true)
                await queue.scheduler.close()
                return .failure(error)
            }
        } onCancel: {
            queue.scheduler.cancelAll(andAdded: true)
        }
    }
    return try result.get()
}
