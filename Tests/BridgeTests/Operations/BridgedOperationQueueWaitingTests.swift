import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import Testing

@Suite("Blocking until a bridged queue is empty")
struct BridgedOperationQueueWaitingTests {
    // Neither can be called from an asynchronous context.

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

    @Test("whoever blocks in an operation of the queue until all are finished waits for the others")
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
