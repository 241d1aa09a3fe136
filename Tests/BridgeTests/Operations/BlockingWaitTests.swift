import Dispatch
import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Blocking until an operation is finished", .inTurns)
struct BlockingWaitTests {
    private func blockOnPool(_ operation: AnyTaskOperation) throws {
        try operation.waitUntilFinishedBlocking(timeout: .seconds(60))
    }

    private func blockOnPool(_ queue: TaskOperationQueue) throws {
        try queue.waitUntilAllOperationsAreFinishedBlocking(timeout: .seconds(60))
    }

    @Test("a thread continues when the operation, or the last one of a queue, has finished")
    func blocks() async throws {
        let events = Recorder<String>()
        let gate = Gate()
        let queue = TaskOperationQueue()
        let operation = queue.addOperation {
            await gate.pass()
            events.record("body")
        }
        async let wait: Void = onThread {
            try operation.waitUntilFinishedBlocking()
            try queue.waitUntilAllOperationsAreFinishedBlocking()
            events.record("waited")
        }
        await gate.waitForArrivals(1)
        gate.open()
        try await wait
        #expect(events.events == ["body", "waited"])
    }

    @Test("the wait ends at the end of its time, and the operation continues")
    func timeout() async throws {
        let gate = Gate()
        let queue = TaskOperationQueue(name: "queue")
        let operation = queue.addOperation(name: "slow") { await gate.pass() }
        await gate.waitForArrivals(1)
        await #expect(throws: BridgeError.timedOut(waitingFor: "\"slow\"", after: .milliseconds(1))) {
            try await onThread { try operation.waitUntilFinishedBlocking(timeout: .milliseconds(1)) }
        }
        await #expect(throws: BridgeError.self) {
            try await onThread { try queue.waitUntilAllOperationsAreFinishedBlocking(timeout: .milliseconds(1)) }
        }
        #expect(operation.isExecuting)
        gate.open()
        try await operation.value
    }

    @Test("on a thread of the cooperative pool it throws at once")
    func onPool() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operation = queue.addOperation(name: "never") {}
        await Task.detached {
            #expect(throws: BridgeError.blockingCooperativePool(waitingFor: "\"never\"")) {
                try blockOnPool(operation)
            }
            #expect(throws: BridgeError.self) { try blockOnPool(queue) }
        }.value
        let body = TaskOperationQueue().addOperation { try blockOnPool(operation) }
        await #expect(throws: BridgeError.self) { try await body.value }
        operation.cancel()
        try blockOnPool(operation)
    }

    @Test("a body that may block lends its permit out while it waits for another of its queue")
    func lendsThePermit() async throws {
        let queue = BridgedOperationQueue(name: nil, maxConcurrentOperationCount: 1)
        let events = Recorder<String>()
        queue.addOperation {
            let inner = queue.taskQueue.addOperation { events.record("inner") }
            do { try inner.waitUntilFinishedBlocking() } catch { Issue.record(error) }
            events.record("outer")
        }
        await queue.finished()
        #expect(events.events == ["inner", "outer"])
    }

    @Test("a body that may block is refused a wait that could never end")
    func waitCycle() async throws {
        let queue = BridgedOperationQueue(name: nil, maxConcurrentOperationCount: 2)
        let errors = Recorder<String>()
        let dependent = TaskOperation(name: "dependent") {}
        let outer = TaskOperation<Void>(name: "outer") {
            do { try dependent.blockForTest() } catch { errors.record("\(type(of: error))") }
        }
        try dependent.addDependency(outer)
        try queue.addOperation(dependent)
        try queue.addOperation(outer)
        await queue.finished()
        #expect(errors.events == ["TaskOperationError"])
    }
}

extension AnyTaskOperation {
    fileprivate func blockForTest() throws { try waitUntilFinishedBlocking() }
}
