import TaskOperations

/// Starts work that reports with a completion handler, and waits for the result without blocking a thread.
///
/// Unlike a checked continuation, the call throws an error if the completion is never called. It also supports
/// cancellation.
///
/// ```swift
/// let data = try await withCompletionHandler { completion in
///     let request = client.load(url) { data, error in completion(data, error) }
///     completion.onCancel { _ in request.cancel() }
/// }
/// ```
///
/// Cancelling the task calls the handler of `onCancel`. The function does not return before the completion is called,
/// because the work is still in progress.
///
/// - Parameters:
///   - name: The name of the work in messages. The default is the file and line of the call.
///   - file: The file of the call.
///   - line: The line of the call.
///   - start: Starts the work. It is called synchronously, and must not block.
/// - Returns: The value that is passed to the completion.
/// - Throws: The error that is passed to the completion, or the error that `start` throws. If the completion is
///   released without a call, or called with neither a value nor an error, throws a `CallbackError`.
public func withCompletionHandler<Success: Sendable>(
    name: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ start: (_ completion: CompletionHandler<Success>) throws -> Void
) async throws -> Success {
    let call = PendingCallback<Success>(name.map { "\"\($0)\"" } ?? "the call at \(file):\(line)")
    call.begin(start)
    return try await call.value
}
