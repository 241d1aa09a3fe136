import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Subclasses of a bridged queue", .inTurns)
struct BridgedOperationQueueSubclassTests {
    /// A subclass whose `addOperation` calls `addOperations`; the base class does the reverse.
    private final class ReversedQueue: BridgedOperationQueue, @unchecked Sendable {  // It adds no stored properties.
        override func addOperation(_ operation: Foundation.Operation) {
            addOperations([operation], waitUntilFinished: false)
        }
    }

    /// A subclass that counts the calls of its overridden functions.
    private final class CountingQueue: BridgedOperationQueue, @unchecked Sendable {  // The recorder is thread-safe.
        let calls = Recorder<String>()

        override func addOperation(_ operation: Foundation.Operation) {
            calls.record("addOperation")
            super.addOperation(operation)
        }

        override func addOperations(_ operations: [Foundation.Operation], waitUntilFinished wait: Bool) {
            calls.record("addOperations")
            super.addOperations(operations, waitUntilFinished: wait)
        }

        override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
            calls.record("addBarrierBlock")
            super.addBarrierBlock(barrier)
        }

        override func cancelAllOperations() {
            calls.record("cancelAllOperations")
            super.cancelAllOperations()
        }
    }

    /// A subclass with a stored property and its own initializer.
    private final class LabelledQueue: BridgedOperationQueue, @unchecked Sendable {  // The label is constant.
        let label: String

        init(label: String) {
            self.label = label
            super.init()
        }
    }

    private func add(_ operations: [Foundation.Operation], to queue: OperationQueue, wait: Bool = false) {
        queue.addOperations(operations, waitUntilFinished: wait)
    }

    @Test("addOperations may loop over addOperation, and addOperation may call addOperations")
    func eitherCallsTheOther() async throws {
        let runs = ConcurrencyMeter()
        for queue: OperationQueue in [PreparingBridgedQueue(), ReversedQueue()] {
            add([BlockOperation { runs.enter() }, BlockOperation { runs.enter() }], to: queue)
            queue.addOperation(BlockOperation { runs.enter() })
            try await onThread { add([BlockOperation { runs.enter() }], to: queue, wait: true) }
            await queue.finished()
        }
        #expect(runs.total == 8)
    }

    @Test("no function calls another one that can be overridden")
    func noCallOfAnother() async {
        let queue = CountingQueue()
        queue.addOperation(BlockOperation {})
        add([BlockOperation {}, BlockOperation {}], to: queue)
        queue.addBarrierBlock {}
        queue.addOperation {}
        queue.cancelAllOperations()
        await queue.finished()
        #expect(queue.calls.events == ["addOperation", "addOperations", "addBarrierBlock", "cancelAllOperations"])
    }

    @Test("a subclass can have a stored property and an initializer that calls init()")
    func ownInitializer() async {
        let queue = LabelledQueue(label: "uploads")
        let runs = ConcurrencyMeter()
        queue.addOperation { runs.enter() }
        await queue.finished()
        #expect(runs.total == 1 && queue.label == "uploads")
        #expect(queue.name == BridgedOperationQueue().name)
        #expect(queue.maxConcurrentOperationCount == OperationQueue.defaultMaxConcurrentOperationCount)
    }

    /// An operation of the application.
    private final class Upload: Foundation.Operation, @unchecked Sendable {}  // It adds no stored properties.

    @Test("operations of the task queue keep their class; listed operations keep it with the Objective-C runtime only")
    func classesOfOperations() async {
        let queue = BridgedOperationQueue()
        queue.isSuspended = true
        let upload = Upload()
        add([upload, BlockOperation {}], to: queue)
        #expect(queue.taskQueue.operations.compactMap { $0.asOperation as? Upload } == [upload])
        #if canImport(ObjectiveC)
            #expect(queue.operations.compactMap { $0 as? Upload } == [upload])
        #else
            #expect(queue.operations.compactMap { $0 as? Upload } == [])
        #endif
        queue.isSuspended = false
        await queue.finished()
    }

    /// An operation that calls `super.start()` before its work. The work ends when a semaphore is signalled.
    private final class Request: Foundation.Operation, @unchecked Sendable {  // Its properties are constant.
        let (answer, answers) = (DispatchSemaphore(value: 0), ConcurrencyMeter())

        override var isAsynchronous: Bool { true }

        override func start() {
            super.start()
            Thread.detachNewThread { [answer, answers] in
                answer.wait()
                answers.enter()
            }
        }
    }

    @Test("an operation whose start() calls super.start() ends when main() returns, also in an OperationQueue")
    func superStart() async {
        for queue in [BridgedOperationQueue(), OperationQueue()] {
            let request = Request()
            queue.addOperation(request)
            await request.finished()
            #expect(request.answers.total == 0)
            request.answer.signal()
            await until { request.answers.total == 1 }
        }
    }
}
