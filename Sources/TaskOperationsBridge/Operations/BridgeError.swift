/// The errors of the bridge. `description` names the operation and suggests a remedy.
public enum BridgeError: Error, Hashable, Sendable {
    /// The Foundation operation was already added to a `TaskOperationQueue`.
    case alreadyAdded(operation: String)

    /// The Foundation operation is in an `OperationQueue`, which will start it.
    case inOperationQueue(operation: String)

    /// The Foundation operation is already executing or finished.
    case alreadyStarted(operation: String)

    /// A blocking wait was called on a thread of the cooperative pool.
    case blockingCooperativePool(waitingFor: String)

    /// A blocking wait took longer than its limit.
    case timedOut(waitingFor: String, after: Duration)
}

extension BridgeError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .alreadyAdded(let operation):
            "\(operation) was already added to a queue. An operation runs once, on one queue: create a new one."
        case .inOperationQueue(let operation):
            """
            \(operation) is in an OperationQueue, which will start it. Add it to one queue only. To wait for it, add it \
            as a dependency, or await finished().
            """
        case .alreadyStarted(let operation):
            """
            \(operation) is already executing or finished, so no queue can start it. Create a new one. To wait for \
            this one, add it as a dependency, or await finished().
            """
        case .blockingCooperativePool(let target):
            """
            This call would block a thread of the cooperative pool until \(target) is finished, which may need that \
            thread. Use `await` instead, or call this from a thread that may block.
            """
        case .timedOut(let target, let timeout):
            "Timed out after \(timeout) waiting for \(target) to finish."
        }
    }
}
