import Dispatch
import Foundation
import TaskOperationsTesting

/// `OperationQueue`.
final class FoundationQueue: QueueUnderTest {
    private let queue = OperationQueue()
    private let log: Recorder<String>

    init(name: String, width: Int, isSuspended: Bool, log: Recorder<String>) {
        queue.name = name
        queue.maxConcurrentOperationCount = width
        queue.isSuspended = isSuspended
        // Bodies block their threads, and tasks of the same priority share these few threads.
        queue.qualityOfService = .userInteractive
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

    func add(_ operation: any OperationUnderTest) { queue.addOperation(operation as! FoundationOperation) }

    func add(_ operations: [any OperationUnderTest]) {
        queue.addOperations(operations.map { $0 as! FoundationOperation }, waitUntilFinished: false)
    }

    func addBarrier(_ steps: Step...) {
        queue.addBarrierBlock { [log] in steps.perform(log, isCancelled: { false }) }
    }

    func cancelAll() { queue.cancelAllOperations() }

    func waitUntilAllAreFinished() async {
        await onThreadOfItsOwn { [queue] in queue.waitUntilAllOperationsAreFinished() }
    }
}

/// `Foundation.Operation`.
final class FoundationOperation: Operation, OperationUnderTest, @unchecked Sendable {  // Its state is constant.
    private let steps: [Step]
    private let log: Recorder<String>

    init(priority: Priority, steps: [Step], log: Recorder<String>) {
        self.steps = steps
        self.log = log
        super.init()
        queuePriority =
            switch priority {
            case .veryLow: .veryLow
            case .low: .low
            case .normal: .normal
            case .high: .high
            case .veryHigh: .veryHigh
            }
    }

    override func main() { steps.perform(log, isCancelled: { isCancelled }) }

    func depend(on other: any OperationUnderTest) { addDependency(other as! FoundationOperation) }

    func onCompletion(_ handler: @escaping @Sendable () -> Void) { completionBlock = handler }

    func waitForEnd() async { await onThreadOfItsOwn { self.waitUntilFinished() } }
}

extension [Step] {
    /// Performs the steps on this thread.
    fileprivate func perform(_ log: Recorder<String>, isCancelled: () -> Bool) {
        for step in self {
            switch step {
            case .says(let words): log.record(words)
            case .passes(let gate): gate.passBlocking()
            case .does(let work): try! work()
            case .looks(let look):
                log.record(look(.init(isCancelled: isCancelled(), queueName: OperationQueue.current?.name)))
            case .fails: return
            }
        }
    }
}

extension Gate {
    /// Blocks the calling thread until the gate is open. Call it only on threads that run no tasks.
    fileprivate func passBlocking() {
        let passed = DispatchSemaphore(value: 0)
        Task.detached {
            await self.pass()
            passed.signal()
        }
        passed.wait()
    }
}

/// Runs blocking work on a separate thread, so that it blocks no thread of the pool.
func onThreadOfItsOwn(_ work: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread {
            work()
            continuation.resume()
        }
    }
}
