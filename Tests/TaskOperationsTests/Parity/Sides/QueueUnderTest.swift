import TaskOperationsTesting

/// The common interface of both kinds of queue.
protocol QueueUnderTest: AnyObject, Sendable {
    var width: Int { get set }
    var isSuspended: Bool { get set }
    var operationCount: Int { get }

    /// The queue under test.
    var underlying: any AnyObject & Sendable { get }

    func add(_ operation: any OperationUnderTest) throws

    /// Adds operations in one call.
    func add(_ operations: [any OperationUnderTest]) throws

    /// Adds a barrier.
    func addBarrier(_ steps: Step...)

    func cancelAll()

    func waitUntilAllAreFinished() async throws
}

/// The common interface of both kinds of operation.
protocol OperationUnderTest: AnyObject, Sendable {
    var isReady: Bool { get }
    var isExecuting: Bool { get }
    var isFinished: Bool { get }
    var isCancelled: Bool { get }

    func depend(on other: any OperationUnderTest) throws

    func cancel()

    func onCompletion(_ handler: @escaping @Sendable () -> Void)

    func waitForEnd() async throws
}

/// The steps of a body. At a gate, the body of a Foundation operation blocks its thread, and a body of this library
/// suspends.
enum Step: Sendable {
    case says(String)
    case passes(Gate)
    case does(@Sendable () throws -> Void)
    /// Logs a property of the body's environment.
    case looks(@Sendable (Surroundings) -> String)
    /// Leaves the body, by throwing if bodies can throw.
    case fails

    struct Surroundings {
        let isCancelled: Bool
        let queueName: String?
    }

    struct Failure: Error {}
}

enum Priority: Sendable {
    case veryLow, low, normal, high, veryHigh
}
