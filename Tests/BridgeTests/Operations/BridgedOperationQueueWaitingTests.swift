import Dispatch
import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Blocking until a bridged queue is empty", .inTurns)
struct BridgedOperationQueueWaitingTests {
    // Both functions are unavailable in asynchronous contexts.

    private func add(_ operations: [Foundation.Operation], to queue: OperationQueue) {
        queue.addOperations(operations, waitUntilFinished: true)
    }

    private func wait(for queue: OperationQueue) {
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test("adding several can block until these are finished")
    func addingAndWaiting() async throws {
        let queue = BridgedOperationQueue()
        let operations = (0..<20).map { _ in BlockOperation {} }
        try await onThread { add(operations, to: queue) }
        #expect(operations.filter(\.isFinished).count == 20)
    }

    @Test("every thread of the cooperative pool can block until the queue is empty, as with the base class")
    func waitingOnPool() async {
        let runs = ConcurrencyMeter()
        await withTaskGroup { group in
            for _ in 0..<2 * TaskOperationQueue.defaultMaxConcurrentOperationCount {
                group.addTask {
                    let queue = BridgedOperationQueue()
                    queue.addOperation { runs.enter() }
                    add([BlockOperation { runs.enter() }], to: queue)
                    wait(for: queue)
                }
            }
        }
        #expect(runs.total == 4 * TaskOperationQueue.defaultMaxConcurrentOperationCount)
    }

    #if os(Linux) || os(macOS)
        /// Runs in a separate process, because the timeout of a test cannot be reported while the pool is blocked.
        @Test(
            "every thread of the cooperative pool can block until what was cancelled before its start has ended",
            .prompt)
        func waitingForCancelled() async {
            await #expect(processExitsWith: .success) {
                let runs = ConcurrencyMeter()
                await onAllThreadsOfPool {
                    // This operation has finished before the queue can list it.
                    let cancelled = BlockOperation { runs.enter() }
                    cancelled.cancel()
                    let queue = BridgedOperationQueue()
                    queue.addOperations([cancelled], waitUntilFinished: true)
                    queue.isSuspended = true
                    let listed = BlockOperation { runs.enter() }
                    queue.addOperation(listed)
                    queue.cancelAllOperations()
                    listed.waitUntilFinished()
                    queue.waitUntilAllOperationsAreFinished()
                }
                #expect(runs.total == 0)
            }
        }

        @Test(
            "every thread of the cooperative pool can block until the face of what has ended before is finished",
            .prompt)
        func waitingForFace() async {
            await #expect(processExitsWith: .success) {
                await onAllThreadsOfPool {
                    let operation = TaskOperation {}
                    operation.cancel()
                    let face = operation.asOperation
                    let dependent = BlockOperation {}
                    dependent.addDependency(face)
                    let queue = OperationQueue()
                    let threads = DispatchQueue(label: "threads of its own")
                    queue.underlyingQueue = threads
                    queue.addOperations([dependent], waitUntilFinished: true)
                }
            }
        }
    #endif

    @Test("a block in an operation of the queue until all have finished waits for the others")
    func waitingWithin() async {
        let events = Recorder<String>()
        let queue = BridgedOperationQueue(name: nil, maxConcurrentOperationCount: 1)
        queue.addOperation {
            queue.addOperation { events.record("inner") }
            wait(for: queue)
            events.record("outer")
        }
        await queue.finished()
        #expect(events.events == ["inner", "outer"])
    }
}
