@_spi(Lock) import TaskOperations

/// Where the library reports wrong use that it can survive and that no error can be thrown for, as a completion
/// that is called twice.
public enum MisuseReport {
    /// Receives a message that names the misused object. It is called on the thread of the misuse.
    public typealias Handler = @Sendable (_ message: String) -> Void

    private static let current = Lock<Handler>(printMessage)

    /// The handler of the messages of the whole process. The default prints lines on standard error.
    public static var handler: Handler {
        get { current.withLock { $0 } }
        set {
            // The former handler is freed after the lock is left: it may hold anything.
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
