/// A type that contains the work of an operation. Use it instead of a long closure, or to give names to the inputs of
/// the work. It replaces a subclass of `Operation`.
///
/// ```swift
/// struct Thumbnail: TaskOperationBody {
///     let source: Image
///     func main() async throws -> Image { try await source.scaled(to: 64) }
/// }
/// let thumbnail = queue.addOperation(Thumbnail(source: image))
/// ```
public protocol TaskOperationBody<Success>: Sendable {
    /// The type of the operation's value.
    associatedtype Success: Sendable

    /// Performs the work. The operation calls this method at most once, unless a retry policy repeats the call.
    /// Cancelling the operation cancels the task of this call. Check `Task.isCancelled`, or call
    /// `Task.checkCancellation()`.
    nonisolated(nonsending) func main() async throws -> Success
}
