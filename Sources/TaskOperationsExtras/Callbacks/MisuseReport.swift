internal import CTaskOperations
import Synchronization
import TaskOperations

/// Reports misuse that neither stops the process nor throws an error. An example is a completion that is called twice.
public enum MisuseReport {
    /// A function that receives a message. The message names the misused object. The function is called on the thread
    /// of the misuse.
    public typealias Handler = @Sendable (_ message: String) -> Void

    /// A lock that contained the function itself would wrap it once more at each access, as `BodyInterceptor` explains.
    private struct Reporter: Sendable {
        let handler: Handler
    }

    private static let current = Lock(Reporter(handler: printMessage))

    /// The handler for all messages in the process. The default handler prints each message on standard error.
    public static var handler: Handler {
        get { current.withLock { $0.handler } }
        set {
            // Frees the former handler after unlocking, because freeing a closure may run any code.
            _ = current.withLock { reporter in
                defer { reporter = Reporter(handler: newValue) }
                return reporter
            }
        }
    }

    package static func report(_ message: String) {
        handler(message)
    }

    @Sendable private static func printMessage(_ message: String) {
        taskOperationsWriteToStandardError("TaskOperations: \(message)\n")
    }
}
