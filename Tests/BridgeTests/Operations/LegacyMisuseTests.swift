import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsBridge

@Suite("Bad use of operations of Foundation is refused by name", .inTurns)
struct LegacyMisuseTests {
    @Test("one operation on two queues of ours")
    func twoQueues() async throws {
        let first = TaskOperationQueue(.init(isSuspended: true))
        let legacy = BlockOperation {}
        legacy.name = "upload"
        try first.addOperation(legacy)
        #expect(throws: BridgeError.alreadyAdded(operation: "\"upload\" (BlockOperation)")) {
            try TaskOperationQueue().addOperation(legacy)
        }
        #expect(throws: BridgeError.alreadyAdded(operation: "\"upload\" (BlockOperation)")) {
            try first.addOperations([BlockOperation {}, legacy])
        }
        #expect(first.operationCount == 1)
        first.isSuspended = false
        await legacy.finished()
    }

    @Test("the same operation twice in one step: none is added, and each can be added afterwards")
    func twiceInOneStep() async throws {
        let queue = TaskOperationQueue()
        let (one, two) = (BlockOperation {}, BlockOperation {})
        #expect(throws: BridgeError.self) { try queue.addOperations([one, two, one]) }
        #expect(queue.operationCount == 0)
        try queue.addOperations([one, two])
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(one.isFinished && two.isFinished)
    }

    #if !canImport(ObjectiveC)
        @Test("an operation that an OperationQueue has")
        func inOperationQueue() async throws {
            let legacyQueue = OperationQueue()
            legacyQueue.isSuspended = true
            let legacy = BlockOperation {}
            legacyQueue.addOperation(legacy)
            #expect(throws: BridgeError.inOperationQueue(operation: legacy.title)) {
                try TaskOperationQueue().addOperation(legacy)
            }
            legacyQueue.isSuspended = false
            await legacy.finished()
        }
    #endif

    @Test("an operation that executes, or is finished")
    func alreadyStarted() async throws {
        let gate = Gate()
        let executing = AsynchronousOperation { operation in
            Task {
                await gate.pass()
                operation.finish()
            }
        }
        executing.start()
        #expect(throws: BridgeError.alreadyStarted(operation: executing.title)) {
            try TaskOperationQueue().addOperation(executing)
        }
        gate.open()
        await executing.finished()
        #expect(throws: BridgeError.alreadyStarted(operation: executing.title)) {
            try TaskOperationQueue().addOperation(executing)
        }
    }

    @Test("an operation that says it is finished before its start is not started")
    func finishedBeforeStart() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let starts = Recorder<String>()
        let legacy = AsynchronousOperation { operation in
            starts.record("started")
            operation.finish()
        }
        let runner = try queue.addOperation(legacy)
        legacy.cancel()
        legacy.finish()
        queue.isSuspended = false
        try await runner.waitUntilFinished()
        #expect(runner.failure is CancellationError)
        #expect(starts.events == [])
    }

    @Test("operations that depend on each other in a circle")
    func circle() throws {
        let (one, two) = (BlockOperation {}, BlockOperation {})
        one.addDependency(two)
        two.addDependency(one)
        let queue = TaskOperationQueue()
        #expect(throws: TaskOperationError.self) { try queue.addOperations([one, two]) }
        #expect(queue.operationCount == 0)
    }

    @Test("each message names the operation and the remedy")
    func messages() {
        let errors: [BridgeError] = [
            .alreadyAdded(operation: "\"a\""), .inOperationQueue(operation: "\"a\""),
            .alreadyStarted(operation: "\"a\""),
        ]
        for error in errors {
            #expect("\(error)".contains("\"a\""))
            #expect("\(error)".contains("."))
        }
        #expect("\(BridgeError.alreadyAdded(operation: "\"a\""))".contains("create a new one"))
        #expect("\(BridgeError.inOperationQueue(operation: "\"a\""))".contains("finished()"))
    }
}
