/// A task local whose value a queue passes from the code that adds an operation to the operation's body.
///
/// ```swift
/// enum Request { @TaskLocal static var id: String? }
/// let queue = TaskOperationQueue(.init(taskLocals: [InheritedTaskLocal(Request.$id)]))
/// ```
public struct InheritedTaskLocal: Sendable {
    /// Reads the value, and returns a function that runs a body with this value.
    let capture: @Sendable () -> TaskLocalBinding

    /// Creates a value from the projected value of a task local, such as `Request.$id`.
    public init<Value: Sendable>(_ taskLocal: TaskLocal<Value>) {
        capture = {
            let value = taskLocal.get()
            return { body in await taskLocal.withValue(value) { await body() } }
        }
    }
}
