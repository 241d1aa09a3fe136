/// An error of this library. Its `description` names the operations and suggests a remedy.
///
/// The error contains labels instead of operations, so it keeps no operation in memory.
public enum TaskOperationError: Error, Sendable {
    /// The dependency would make an operation wait for itself. The list begins and ends with the same operation. Each
    /// operation in the list waits for the next.
    case dependencyCycle([OperationLabel])

    /// The body would wait for an operation or a queue that cannot end before the body does. The list begins and ends
    /// with the body's operation. Each operation in the list waits for the next.
    case waitCycle([OperationLabel])

    /// The operation was already added to a queue or started. It cannot be added again, and its weight and limits can
    /// no longer be changed.
    case alreadyAdded(OperationLabel)

    /// The operation has started or finished, so its dependencies can no longer change.
    case alreadyStarted(OperationLabel)

    /// The body did not run, because an interceptor of the queue returned without calling it.
    case bodyNotCalled(OperationLabel)

    /// `start()` was called before these dependencies had finished. Alternatively, the body needs the values of these
    /// operations. They were removed from the dependencies and had not finished when the operation started.
    case notReady(OperationLabel, waitingFor: [OperationLabel])

    /// The body did not run, because an operation whose value it needs has failed.
    ///
    /// `dependency` is the operation whose value is missing. In a chain of failures, `origin` is the operation that
    /// failed first. Otherwise, `origin` is `dependency`. `error` is the error of `origin`.
    case dependencyFailed(dependency: OperationLabel, origin: OperationLabel, error: any Error)

    /// The operation was added to a queue after `shutDown`.
    case queueShutDown(OperationLabel, queueName: String?)

    /// The operation was added to a full queue, which rejected it.
    case queueFull(OperationLabel, queueName: String?)

    /// The queue was full, and dropped this operation to make room for a later one.
    case dropped(OperationLabel, queueName: String?)

    /// A task or an operation needs more permits than a semaphore has ever had. `capacity` is the largest capacity so
    /// far.
    case weightExceedsCapacity(semaphoreName: String?, weight: Int, capacity: Int)

    /// The operation was added while a limit had no room for another operation, in total or of the operation's key. See
    /// `AsyncSemaphore.maxQueuedOperationCount`. `key` is the key as text; nil if the bound in total was reached.
    case limitFull(OperationLabel, semaphoreName: String?, key: String?)

    /// The operation did not start within the time that `OperationOptions.timeout(untilStart:)` allows. Its body never
    /// runs.
    case startTimedOut(OperationLabel, after: Duration)

    /// The time of an operation, or of a call that waits, was over.
    case timedOut(TimeoutOwner, after: Duration)

    /// The owner of a timeout that has passed.
    public enum TimeoutOwner: Hashable, Sendable {
        /// The operation did not finish within its timeout. Its body was cancelled. With the overrun rule `.abandon`,
        /// the body may still be executing.
        case operation(OperationLabel)

        /// A call waited, for example, for the end of an operation or for a permit. The awaited work continues. One
        /// exception is `withTimeout`, whose body was cancelled and has ended.
        case wait(for: String)
    }
}

extension TaskOperationError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .dependencyCycle(let cycle):
            """
            The dependency would close a cycle: \(Self.path(cycle)). None of these operations could start. \
            Remove one of the dependencies on the cycle.
            """
        case .waitCycle(let cycle):
            """
            The wait would never end: \(Self.path(cycle)). Await the operation outside the body of \
            \(cycle[0]), or move the code after the wait into a separate operation.
            """
        case .alreadyAdded(let operation):
            """
            \(operation) was already added to a queue or started. An operation runs once: create a new one, and set its \
            weight and limits before you add it.
            """
        case .alreadyStarted(let operation):
            "\(operation) has already started or finished. Change its dependencies before it starts."
        case .bodyNotCalled(let operation):
            "A body interceptor did not call the body of \(operation)."
        case .notReady(let operation, let dependencies):
            """
            \(operation) is not ready: it waits for \(Self.list(dependencies)). Await these operations first, or add \
            it to a queue, which starts it when it is ready.
            """
        case .dependencyFailed(let dependency, let origin, let error):
            """
            Did not run, because \(dependency) failed\(dependency == origin ? "" : " after \(origin)"): \(error). \
            If the work should run even then, use `dependencies:` instead of `after:`.
            """
        case .queueShutDown(let operation, let queueName):
            "\(operation) was added to \(Self.queue(queueName)) after its shutdown."
        case .queueFull(let operation, let queueName):
            """
            \(operation) was added to \(Self.queue(queueName)), which is full. Use `addOperationWaitingForRoom` to wait, \
            or raise its `maxQueuedOperationCount`.
            """
        case .dropped(let operation, let queueName):
            """
            \(operation) was dropped from \(Self.queue(queueName)), which was full, to make room for a later operation. \
            Raise its `maxQueuedOperationCount`, or add operations with `addOperationWaitingForRoom`.
            """
        case .weightExceedsCapacity(let name, let weight, let capacity):
            """
            The call or operation needs \(weight) permits of \(AsyncSemaphore.label(name)), which has \
            never had more than \(capacity). Raise its capacity, or use a smaller weight.
            """
        case .limitFull(let operation, let name, let key):
            """
            \(operation) was added while \(AsyncSemaphore.label(name)) had no room for another \
            operation\(key.map { " of key \($0)" } ?? ""). Add it later, or raise the semaphore's bound of queued operations.
            """
        case .startTimedOut(let operation, let limit):
            """
            \(operation) did not start within \(limit). Its queue had too much other work, its limits were not free, or its \
            dependencies took too long.
            """
        case .timedOut(.operation(let operation), let limit):
            """
            \(operation) did not finish within its timeout of \(limit). Raise the timeout if the work needs longer. If another \
            attempt can succeed, allow one with `.retry(_:)`.
            """
        case .timedOut(.wait(let awaited), let limit):
            "Timed out after \(limit) waiting for \(awaited). Allow more time, or let a TaskDump show what holds it up."
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

/// The name of an operation in errors and descriptions. A label does not keep the operation in memory. If the operation
/// was freed, another operation with the same name may use its address, and then has an equal label.
public struct OperationLabel: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The operation's name; nil if the operation has no name.
    public let name: String?

    private let id: UInt

    package init(_ operation: AnyTaskOperation) {
        name = operation.name
        id = UInt(bitPattern: ObjectIdentifier(operation))
    }

    /// The name in quotation marks, or the operation's identity if it has no name.
    public var description: String {
        name.map { "\"\($0)\"" } ?? "unnamed operation 0x\(String(id, radix: 16))"
    }
}

/// The name and the number of a queue in events and reports. A label does not keep the queue in memory.
public struct QueueLabel: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The queue's name at the creation of the label; nil if the queue had no name.
    public let name: String?

    /// The number of the queue. It is unique among all queues of the process, including freed queues.
    public let number: Int

    init(_ identity: QueueIdentity) {
        name = identity.name
        number = identity.number
    }

    package init(_ scheduler: Scheduler) {
        self.init(scheduler.identity)
    }

    /// The name in quotation marks, as in `queue "images"`.
    public var description: String { name.map { "queue \"\($0)\"" } ?? "an unnamed queue" }
}
