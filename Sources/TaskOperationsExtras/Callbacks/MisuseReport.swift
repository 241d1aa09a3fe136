@_spi(Lock) import TaskOperations

/// Reports misuse that does not stop the process and that no call can throw, such as a completion that is called
/// twice.
public enum MisuseReport {
    /// A function that receives a message that names the misused object. It is called on the thread of the misuse.
    public typealias Handler = @Sendable (_ message: String) -> Void

    private static let current = Lock<Handler>(printMessage)

    /// The handler for all messages of the process. The default handler prints them on standard error.
    public static var handler: Handler {
        get { current.withLock { $0 } }
        set {
            // The former handler is freed after the lock is released, because freeing it may run any code.
            _ = current.withLock { handler in
                defer { handler = newValue }
                return handler
            }
        }
    }

    package static func report(_ message: String) {
        handler(message)
    }

    @Sendable private static func printMessage(_ message: String) {
        TaskOperations.writeToStandardError("TaskOperations: \(message)\n")
    }
}
