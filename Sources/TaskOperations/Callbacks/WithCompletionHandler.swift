/// Starts work that reports with a completion handler, and waits for what comes of it without blocking a thread: a
/// checked continuation that cannot hang, and knows cancellation.
///
/// ```swift
/// let data = try await withCompletionHandler { completion in
///     let request = client.load(url) { data, error in completion(data, error) }
///     completion.onCancel { _ in request.cancel() }
/// }
/// ```
///
/// In the body of an operation this takes the place of another operation that is made only to be awaited. Cancelling the
/// task calls the handler given to `onCancel`; the call returns when the completion is called even so, since the work is
/// not over before that.
///
/// - Parameters:
///   - name: The name of the work in messages; the place of the call if it is nil.
///   - file: The file of the call.
///   - line: The line of the call.
///   - start: Starts the work. It is called at once, in place, and must not block.
/// - Returns: The value that the completion is called with.
/// - Throws: The error that the completion is called with, what `start` throws, or a `CallbackError` if the completion
///   is dropped, or called with neither a value nor an error.
public func withCompletionHandler<Success: Sendable>(
    name: String? = nil, file: StaticString = #fileID, line: UInt = #line,
    _ start: (_ completion: CompletionHandler<Success>) throws -> Void
) async throws -> Success {
    let call = PendingCallback<Success>(name.map { "\"\($0)\"" } ?? "the call at \(file):\(line)")
    call.begin(start)
    return try await call.value
}
