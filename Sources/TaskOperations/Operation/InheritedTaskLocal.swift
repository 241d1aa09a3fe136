/// A task local that a queue carries from where an operation is added to where its body runs.
///
/// ```swift
/// enum Request { @TaskLocal static var id: String? }
/// let queue = TaskOperationQueue(.init(inheriting: [InheritedTaskLocal(Request.$id)]))
/// ```
public struct InheritedTaskLocal: Sendable {
    /// Reads the value, and returns a binding that sets it around a body.
    let capture: @Sendable () -> TaskLocalBinding

    /// Names the task local, by its projected value.
    public init<Value: Sendable>(_ taskLocal: TaskLocal<Value>) {
        capture = {
            let value = taskLocal.get()
            return { body in await taskLocal.withValue(value) { await body() } }
        }
    }
}
