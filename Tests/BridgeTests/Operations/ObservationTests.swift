import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("The observation of operations of Foundation", .inTurns, .endsInTime)
struct ObservationTests {
    private final class NeverFinishing: Foundation.Operation, @unchecked Sendable {
        override var isAsynchronous: Bool { true }
        override func start() {}
    }

    @Test("a dependency of Foundation that never finishes is named as the cause of a stall")
    func foreignDependency() async throws {
        let (clock, queue) = (ManualClock(), TaskOperationQueue(name: "queue"))
        let legacy = BlockOperation {}
        legacy.name = "legacy"
        let waiting = queue.addOperation(dependencies: [legacy.asTaskOperation]) {}
        var reports = queue.stalls(longerThan: .seconds(10), clock: clock).makeAsyncIterator()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        let report = try #require(await reports.next())
        guard case .foreign(let label) = report.culprit else {
            Issue.record("\(report)")
            return
        }
        #expect(label.name == "legacy")
        legacy.start()
        try await waiting.value
    }

    @Test("an operation of Foundation that never finishes is named as the cause of a stall")
    func neverFinishing() async throws {
        let (clock, queue) = (ManualClock(), TaskOperationQueue(name: "queue", maxConcurrentOperationCount: 1))
        let legacy = NeverFinishing()
        legacy.name = "legacy"
        try queue.addOperation(legacy)
        await until { queue.operations.first?.isExecuting == true }
        let behind = queue.addOperation(name: "behind") {}
        var reports = queue.stalls(longerThan: .seconds(10), clock: clock).makeAsyncIterator()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        let report = try #require(await reports.next())
        #expect(report.chain.last?.operation.name == "legacy", "\(report)")
        queue.cancelAllOperations()
        _ = behind
    }

    @Test("operations of a bridged queue are observed on the queue that drives it")
    func bridgedQueue() async throws {
        let queue = BridgedOperationQueue()
        let names = Recorder<String>()
        let observer = NameObserver(names)
        queue.taskQueue.addObserver(observer)
        let operation = BlockOperation {}
        operation.name = "block"
        queue.addOperation(operation)
        await operation.finished()
        #expect(await eventually { names.events.contains("block succeeded") }, "\(names.events)")
    }

    @Test("later events have a name that the queue gets after the observer")
    func lateName() async {
        let queue = BridgedOperationQueue()
        var events = queue.taskQueue.events.makeAsyncIterator()
        for name in [nil, "late"] {
            queue.name = name
            queue.addOperation {}
            for _ in 0..<4 { #expect(await events.next()?.queue.name == name) }
        }
        #expect(queue.name == "late" && queue.taskQueue.name == "late")
    }

    private final class NameObserver: TaskOperationObserver {
        private let names: Recorder<String>

        init(_ names: Recorder<String>) {
            self.names = names
        }

        func operationChanged(_ event: TaskOperationEvent) {
            names.record("\(event.operation.name ?? "") \(event.kind)")
        }
    }
}
