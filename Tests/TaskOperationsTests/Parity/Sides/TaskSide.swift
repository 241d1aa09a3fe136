import TaskOperations
import TaskOperationsTesting

/// `TaskOperationQueue`.
final class TaskQueue: QueueUnderTest {
    private let queue: TaskOperationQueue
    private let log: Recorder<String>

    init(name: String, width: Int, isSuspended: Bool, log: Recorder<String>) {
        queue = TaskOperationQueue(.init(name: name, maxConcurrentOperationCount: width, isSuspended: isSuspended))
        self.log = log
    }

    var width: Int {
        get { queue.maxConcurrentOperationCount }
        set { queue.maxConcurrentOperationCount = newValue }
    }

    var isSuspended: Bool {
        get { queue.isSuspended }
        set { queue.isSuspended = newValue }
    }

    var operationCount: Int { queue.operationCount }

    var underlying: any AnyObject & Sendable { queue }

    func add(_ operation: any OperationUnderTest) throws {
        try queue.addOperation((operation as! TaskSideOperation).operation)
    }

    func add(_ operations: [any OperationUnderTest]) throws {
        try queue.addOperations(operations.map { ($0 as! TaskSideOperation).operation })
    }

    func addBarrier(_ steps: Step...) {
        queue.addBarrier { [log] in try await steps.perform(log) }
    }

    func cancelAll() { queue.cancelAllOperations() }

    func waitUntilAllAreFinished() async throws { try await queue.waitUntilAllOperationsAreFinished() }
}

/// `TaskOperation`.
final class TaskSideOperation: OperationUnderTest {
    let operation: TaskOperation<Void>

    init(priority: Priority, steps: [Step], log: Recorder<String>) {
        let taskPriority: TaskPriority =
            switch priority {
            case .veryLow: .background
            case .low: .low
            case .normal: .medium
            case .high: .high
            case .veryHigh: TaskPriority(rawValue: 33)
            }
        operation = TaskOperation(priority: taskPriority) { try await steps.perform(log) }
    }

    var isReady: Bool { operation.isReady }
    var isExecuting: Bool { operation.isExecuting }
    var isFinished: Bool { operation.isFinished }
    var isCancelled: Bool { operation.isCancelled }

    func depend(on other: any OperationUnderTest) throws {
        try operation.addDependency((other as! TaskSideOperation).operation)
    }

    func cancel() { operation.cancel() }

    func onCompletion(_ handler: @escaping @Sendable () -> Void) { operation.addCompletionHandler(handler) }

    func waitForEnd() async throws { try await operation.waitUntilFinished() }
}

extension [Step] {
    /// Performs the steps in this task.
    fileprivate func perform(_ log: Recorder<String>) async throws {
        for step in self {
            switch step {
            case .says(let words): log.record(words)
            case .passes(let gate): await gate.pass()
            case .does(let work): try work()
            case .looks(let look):
                let queueName = TaskOperationQueue.current?.name
                log.record(look(.init(isCancelled: Task.isCancelled, queueName: queueName)))
            case .fails: throw Step.Failure()
            }
        }
    }
}
