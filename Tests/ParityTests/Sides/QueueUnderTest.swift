import TaskOperationsTesting

/// What both kinds of queue can do, under one name each.
protocol QueueUnderTest: AnyObject, Sendable {
    var width: Int { get set }
    var isSuspended: Bool { get set }
    var operationCount: Int { get }

    /// The queue that is tested, without what stands around it here.
    var underlying: any AnyObject & Sendable { get }

    func add(_ operation: any OperationUnderTest) throws

    /// Adds operations in one step.
    func add(_ operations: [any OperationUnderTest]) throws

    /// Adds a barrier.
    func addBarrier(_ steps: Step...)

    func cancelAll()

    func waitUntilAllAreFinished() async throws
}

/// What both kinds of operation can do.
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

/// What a body does, one after the other. A body of Foundation blocks its thread at a gate, one of ours waits.
enum Step: Sendable {
    case says(String)
    case passes(Gate)
    case does(@Sendable () throws -> Void)
    /// Says something of what the body sees around it.
    case looks(@Sendable (Surroundings) -> String)
    /// Leaves the body, by an error where there are errors.
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
