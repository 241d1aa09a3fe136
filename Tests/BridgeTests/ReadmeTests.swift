import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("The examples of the bridge's reference", .inTurns)
struct ReadmeTests {
    @Test("both worlds on one graph")
    func oneGraph() async throws {
        let events = Recorder<String>()
        let scan = SynchronousOperation { _ in events.record("scan") }
        let publish = BlockOperation { events.record("publish") }
        let (queue, legacyQueue) = (TaskOperationQueue(), OperationQueue())

        let index = queue.addOperation(dependencies: [scan.asTaskOperation]) { events.record("index") }
        try publish.addDependency(index)
        legacyQueue.addOperation(publish)
        try queue.addOperation(scan)
        await publish.finished()

        #expect(events.events == ["scan", "index", "publish"])
    }
}
