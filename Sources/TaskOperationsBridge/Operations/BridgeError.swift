/// The errors of the bridge. `description` names the operation and suggests a remedy.
public enum BridgeError: Error, Hashable, Sendable {
    /// The operation of Foundation was added to a `TaskOperationQueue` before.
    case alreadyAdded(operation: String)

    /// The operation of Foundation is in an `OperationQueue`, which is to start it.
    case inOperationQueue(operation: String)

    /// The operation of Foundation executes already, or is finished.
    case alreadyStarted(operation: String)

    /// A thread of the cooperative pool was to block until something else is finished.
    case blockingCooperativePool(waitingFor: String)

    /// A blocking wait has taken too long.
    case timedOut(waitingFor: String, after: Duration)
}

extension BridgeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .alreadyAdded(let operation):
            "\(operation) was added to a queue before. An operation runs once, on one queue: make a new one."
        case .inOperationQueue(let operation):
            """
            \(operation) is in an OperationQueue, which starts it. Take it out of one of the two queues; to wait for \
            it, add it as a dependency, or await finished().
            """
        case .alreadyStarted(let operation):
            """
            \(operation) executes already, or is finished, so no queue can start it. Make a new one; to wait for \
            this one, add it as a dependency, or await finished().
            """
        case .blockingCooperativePool(let target):
            """
            A thread of the cooperative pool was to block until \(target) is finished, which may need that thread. \
            Use `await` here, or call this from a thread that may block.
            """
        case .timedOut(let target, let timeout):
            "\(target) was not finished after \(timeout)."
        }
    }
}
