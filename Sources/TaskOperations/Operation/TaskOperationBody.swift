/// Work with a name of its own: a type to make operations from, where a closure would grow too long or its
/// parameters deserve names. It takes the place of a subclass of `Operation`.
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

    /// Does the work. It is called at most once for an operation. Cancelling the operation cancels the task that
    /// this runs in; `Task.isCancelled` and `Task.checkCancellation()` tell.
    nonisolated(nonsending) func main() async throws -> Success
}
