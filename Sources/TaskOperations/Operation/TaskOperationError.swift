/// An error of this library. `description` names the operations and the remedy.
///
/// It contains labels of operations instead of the operations, because an error may exist longer than its operation.
public enum TaskOperationError: Error, Sendable {
    /// A dependency would have made an operation wait for itself. The list begins and ends with the same
    /// operation, and each one on it waits for the next.
    case dependencyCycle([OperationLabel])

    /// A body would have awaited something that cannot end before the body does. The list begins and ends with
    /// the operation of that body, and each one on it waits for the next.
    case waitCycle([OperationLabel])

    /// The operation was added to a queue or started before. It cannot be added again, and its weight and limits can no
    /// longer be changed.
    case alreadyAdded(OperationLabel)

    /// The operation has started or finished, so that its dependencies and bodies are settled.
    case alreadyStarted(OperationLabel)

    /// `start()` was called while these dependencies were unfinished; or the operation started before the end of operations
    /// whose values it needs, because they were removed from its dependencies.
    case notReady(OperationLabel, waitingFor: [OperationLabel])

    /// An operation that needs the value of another did not run, because the other failed.
    ///
    /// `dependency` is the operation whose value is missing. In a chain of failures, `origin` is the first operation that
    /// failed; otherwise it is `dependency`. `error` is the error of `origin`.
    case dependencyFailed(dependency: OperationLabel, origin: OperationLabel, error: any Error)

    /// The operation was added to a queue after `shutDown`.
    case queueShutDown(OperationLabel, queueName: String?)

    /// The operation was added to a full queue.
    case queueFull(OperationLabel, queueName: String?)

    /// The queue was full and dropped this operation for one that was added later.
    case dropped(OperationLabel, queueName: String?)

    /// The operation did not start within the time that `OperationOptions.starting(within:)` allows. Its body never runs.
    case notStarted(OperationLabel, after: Duration)

    /// The operation did not finish within its time limit, or before its deadline. The body was cancelled. With the overrun
    /// `.abandon`, it may still execute.
    case timedOut(OperationLabel, after: Duration)
}

extension TaskOperationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .dependencyCycle(let cycle):
            """
            The dependency would close a cycle: \(Self.path(cycle)). None of these could ever start. \
            Remove one of the dependencies on the cycle.
            """
        case .waitCycle(let cycle):
            """
            The wait could never end: \(Self.path(cycle)). Await the operation outside of the body of \
            \(cycle[0]), or make what follows the wait an operation of its own.
            """
        case .alreadyAdded(let operation):
            """
            \(operation) was added to a queue or started before. An operation runs once: make a new one, and set its \
            weight and limits before adding it.
            """
        case .alreadyStarted(let operation):
            "\(operation) has started or finished. Change its dependencies and bodies before that."
        case .notReady(let operation, let dependencies):
            """
            \(operation) is not ready: it waits for \(Self.list(dependencies)). Await these first, or add it to a \
            queue, which starts it in time.
            """
        case .dependencyFailed(let dependency, let origin, let error):
            """
            Did not run, because \(dependency) failed\(dependency == origin ? "" : " after \(origin)"): \(error). \
            Use `dependencies:` instead of `after:` for work that is to run whatever comes of the other.
            """
        case .queueShutDown(let operation, let queueName):
            "\(operation) was added to \(Self.queue(queueName)) after its shutdown."
        case .queueFull(let operation, let queueName):
            """
            \(operation) was added to \(Self.queue(queueName)), which is full. Use `addOperationWaitingForRoom` to wait, \
            or raise its `maxQueuedOperationCount`.
            """
        case .dropped(let operation, let queueName):
            "\(operation) was dropped from \(Self.queue(queueName)), which was full, for one that was added later."
        case .notStarted(let operation, let limit):
            "\(operation) did not start within \(limit). Its queue had too much other work, or its dependencies took too long."
        case .timedOut(let operation, let limit):
            "\(operation) was not finished after \(limit), the time that it was given."
        }
    }

    private static func queue(_ name: String?) -> String { name.map { "queue \"\($0)\"" } ?? "a queue" }

    private static func path(_ labels: [OperationLabel]) -> String {
        labels.map(\.description).joined(separator: " waits for ")
    }

    private static func list(_ labels: [OperationLabel]) -> String {
        labels.map(\.description).joined(separator: ", ")
    }
}
