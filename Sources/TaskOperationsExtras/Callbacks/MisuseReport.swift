import Synchronization
import TaskOperations

/// Reports misuse that neither stops the process nor throws an error. An example is a completion that is called twice.
public enum MisuseReport {
    /// A function that receives a message. The message names the misused object. The function is called on the thread
    /// of the misuse.
    public typealias Handler = @Sendable (_ message: String) -> Void

    private static let current = Lock<Handler>(printMessage)

    /// The handler for all messages in the process. The default handler prints each message on standard error.
    public static var handler: Handler {
        get { current.withLock { $0 } }
        set {
            // Frees the former handler after unlocking, because freeing a closure may run any code.
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
