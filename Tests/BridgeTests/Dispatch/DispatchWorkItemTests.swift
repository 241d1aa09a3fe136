import Dispatch
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Dispatch work items", .inTurns)
struct DispatchWorkItemTests {
    private let queue = DispatchQueue(label: "items")

    @Test("the wait lasts until the item has run")
    func finished() async {
        let runs = ConcurrencyMeter()
        let item = DispatchWorkItem { @Sendable in runs.enter() }
        #expect(await item.finished(timeout: .now()) == .timedOut)
        queue.async(execute: item)
        await item.finished()
        #expect(runs.total == 1)
        #expect(await item.finished(timeout: .distantFuture) == .success)
    }

    @Test("a cancelled item is finished when its turn has come")
    func cancelled() async {
        let runs = ConcurrencyMeter()
        let item = DispatchWorkItem { @Sendable in runs.enter() }
        item.cancel()
        queue.async(execute: item)
        await item.finished()
        #expect(runs.total == 0)
    }

    @Test("an operation runs an item on its queue, and old code can observe it")
    func operation() async throws {
        let marked = MarkedQueue("item")
        let labels = Recorder<String?>()
        let item = DispatchWorkItem { @Sendable in labels.record(MarkedQueue.current) }
        let notified = Gate()
        item.notify(queue: queue) { @Sendable in Task { await notified.pass() } }
        let operation = TaskOperation(item, on: marked.queue, name: "item")
        let dependent = TaskOperation(dependencies: [operation]) { labels.events.count }
        try TaskOperationQueue().addOperations([dependent, operation])
        #expect(try await dependent.value == 1)
        #expect(labels.events == ["item"])
        await notified.waitForArrivals(1)
        notified.open()
    }

    @Test("cancelling an executing operation cancels an item that has not started")
    func operationCancelled() async throws {
        let runs = ConcurrencyMeter()
        queue.suspend()
        let item = DispatchWorkItem { @Sendable in runs.enter() }
        let operation = TaskOperation(item, on: queue)
        try operation.start()
        await until { operation.isExecuting }
        operation.cancel()
        // The body may only now submit the item, and learn of the cancellation.
        await until { item.isCancelled }
        queue.resume()
        await #expect(throws: CancellationError.self) { try await operation.value }
        #expect(runs.total == 0)
    }

    @Test("an item that old code cancels makes its operation fail")
    func itemCancelled() async throws {
        let runs = ConcurrencyMeter()
        let item = DispatchWorkItem { @Sendable in runs.enter() }
        let operation = TaskOperation(item, on: queue)
        item.cancel()
        try operation.start()
        await #expect(throws: CancellationError.self) { try await operation.value }
        #expect(runs.total == 0)
    }
}
