import TaskOperations

/// Starts work that reports with a completion handler, and waits for its result without blocking a thread: a checked
/// continuation that cannot hang and supports cancellation.
///
/// ```swift
/// let data = try await withCompletionHandler { completion in
///     let request = client.load(url) { data, error in completion(data, error) }
///     completion.onCancel { _ in request.cancel() }
/// }
/// ```
///
/// Cancelling the task calls the handler of `onCancel`. The call still returns only when the completion is called,
/// because only then is the work over.
///
/// - Parameters:
///   - name: The name of the work in messages; by default, the file and line of the call.
///   - file: The file of the call.
///   - line: The line of the call.
///   - start: Starts the work. It is called synchronously, and must not block.
/// - Returns: The value that the completion is called with.
/// - Throws: The error that the completion is called with, the error that `start` throws, or a `CallbackError` if the
///   completion is dropped, or called with neither a value nor an error.
public func withCompletionHandler<Success: Sendable>(
    name: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ start: (_ completion: CompletionHandler<Success>) throws -> Void
) async throws -> Success {
    let call = PendingCallback<Success>(name.map { "\"\($0)\"" } ?? "the call at \(file):\(line)")
    call.begin(start)
    return try await call.value
}
