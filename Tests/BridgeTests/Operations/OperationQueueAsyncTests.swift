import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Asynchronous code and an OperationQueue", .inTurns)
struct OperationQueueAsyncTests {
    @Test("waiting for a queue covers operations that are added meanwhile, and barriers")
    func finished() async throws {
        let events = Recorder<String>()
        let queue = OperationQueue()
        queue.addOperation {
            queue.addOperation {
                queue.addOperation { events.record("operation") }
                queue.addBarrierBlock { events.record("barrier") }
            }
        }
        await queue.finished()
        #expect(events.events == ["operation", "barrier"])
        #expect(queue.operationCount == 0)
    }

    @Test("waiting for an empty queue is over at once, also where it is suspended")
    func finishedEmpty() async {
        let queue = OperationQueue()
        queue.isSuspended = true
        await queue.finished()
    }

    @Test("a closure runs on the queue, and its value or error is returned")
    func run() async throws {
        struct Failure: Error {}
        let queue = OperationQueue()
        queue.name = "runs"
        let name = try await queue.run { OperationQueue.current?.name }
        #expect(name == "runs")
        await #expect(throws: Failure.self) { try await queue.run { () -> Int in throw Failure() } }
        // The value is passed on before Foundation has noted the end.
        await queue.finished()
        #expect(queue.operationCount == 0 || queue.operations.allSatisfy { $0.isFinished })
    }

    @Test("an asynchronous closure counts in the width until it is done")
    func runAsynchronous() async throws {
        let gate = Gate()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        async let value = queue.run { () async -> Int in
            await gate.pass()
            return 42
        }
        await gate.waitForArrivals(1)
        let second = BlockOperation {}
        queue.addOperation(second)
        #expect(!second.isExecuting && !second.isFinished)
        gate.open()
        #expect(try await value == 42)
        await second.finished()
    }

    @Test("the caller's cancellation before the start is answered at once, also on a suspended queue")
    func cancelledBeforeStart() async throws {
        let queue = OperationQueue()
        queue.isSuspended = true
        let synchronous = Task { try await queue.run { Issue.record("a cancelled closure ran") } }
        let asynchronous = Task {
            try await queue.run { () async -> Void in Issue.record("a cancelled closure ran") }
        }
        await until { queue.operationCount >= 2 }
        synchronous.cancel()
        asynchronous.cancel()
        await #expect(throws: CancellationError.self) { try await synchronous.value }
        await #expect(throws: CancellationError.self) { try await asynchronous.value }
        #expect(queue.operations.filter(\.isCancelled).count == 2)
        queue.isSuspended = false
        await queue.finished()
    }

    @Test("a caller that is cancelled already runs nothing")
    func cancelledBefore() async throws {
        let queue = OperationQueue()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await queue.run { Issue.record("a cancelled closure ran") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        await queue.finished()
    }

    @Test("the caller's cancellation reaches an asynchronous closure that executes")
    func cancelledExecuting() async throws {
        let gate = Gate()
        let queue = OperationQueue()
        let task = Task {
            try await queue.run { () async throws -> Void in
                await gate.pass()
                try Task.checkCancellation()
            }
        }
        await gate.waitForArrivals(1)
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
