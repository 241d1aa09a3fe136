import Dispatch
import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("An operation of Foundation whose own cancel() is called before its start", .inTurns)
struct LegacyOwnCancellationTests {
    private func queues(isSuspended: Bool) -> [AnyQueue] {
        let bridged = BridgedOperationQueue()
        bridged.isSuspended = isSuspended
        return [.ours(TaskOperationQueue(.init(isSuspended: isSuspended))), .bridged(bridged)]
    }

    @Test("with an unfinished dependency: it finishes, and its dependents start")
    func unfinishedDependency() async throws {
        for queue in queues(isSuspended: false) {
            let never = BlockOperation {}
            let legacy = BlockOperation { Issue.record("a cancelled operation ran") }
            legacy.addDependency(never)
            try queue.add(.foundation(legacy))
            let dependent = TaskOperation {}
            try dependent.addDependency(legacy)
            try TaskOperationQueue().addOperation(dependent)
            legacy.cancel()
            await legacy.finished()
            try await dependent.value
            try await queue.finished()
        }
    }

    @Test("on a suspended queue: its node is finished when cancel() returns, and it is soon")
    func suspended() async throws {
        for queue in queues(isSuspended: true) {
            let legacy = BlockOperation { Issue.record("a cancelled operation ran") }
            let dependent = TaskOperation {}
            try dependent.addDependency(legacy)
            try queue.add(.foundation(legacy))
            legacy.cancel()
            #expect(dependent.isReady)
            await legacy.finished()
            try await queue.finished()
        }
    }

    @Test("a subclass with its own states, waiting for anything: it finishes, cancelled once")
    func subclass() async throws {
        for queue in queues(isSuspended: true) {
            let legacy = ConditionedOperation(condition: { _ in }) { _ in Issue.record("a cancelled operation ran") }
            let ends = Recorder<String>()
            legacy.addObserver { _ in ends.record("finished") }
            legacy.willEnqueue()
            try queue.add(.foundation(legacy))
            legacy.cancel()
            await legacy.finished()
            try await queue.finished()
            await until { ends.events == ["finished"] }
            #expect(legacy.cancelCount == 1)
        }
    }

    @Test("while others add and run: every operation finishes")
    func storm() async throws {
        for queue in queues(isSuspended: false) {
            for _ in 0..<size(20, deep: 100) {
                let operations = (0..<32).map { _ in BlockOperation {} }
                for (first, second) in zip(operations, operations.dropFirst()) { second.addDependency(first) }
                async let cancelling: Void = onThread { for operation in operations { operation.cancel() } }
                for operation in operations { try queue.add(.foundation(operation)) }
                try await cancelling
                for operation in operations { await operation.finished() }
            }
            try await queue.finished()
        }
    }
}

@Suite(
    "What is cancelled before its start is finished at once, however busy the place is where it would have run",
    .inTurns)
struct LegacyBusyPlaceTests {
    @Test("behind a serial Dispatch queue that is busy")
    func serialQueue() async throws {
        let release = DispatchSemaphore(value: 0)
        let underlying = DispatchQueue(label: "busy")
        let queue = BridgedOperationQueue()
        queue.underlyingQueue = underlying
        underlying.async { release.wait() }
        try await cancelAndWait(on: queue)
        release.signal()
        await queue.finished()
    }

    @Test("behind 64 blocked threads, which hold up no other queue")
    func threads() async throws {
        let release = DispatchSemaphore(value: 0)
        let blocked = Gate()
        let blocking = BridgedOperationQueue()
        for _ in 0..<64 {
            blocking.addOperation {
                Task { await blocked.pass() }
                release.wait()
                release.signal()
            }
        }
        await blocked.waitForArrivals(64)
        blocked.open()
        try await cancelAndWait(on: blocking)
        let other = BridgedOperationQueue()
        other.addOperation { release.signal() }
        await other.finished()
        await blocking.finished()
    }

    private func cancelAndWait(on queue: BridgedOperationQueue) async throws {
        let elsewhere = TaskOperationQueue()
        let legacies = (0..<3).map { _ in BlockOperation { Issue.record("a cancelled operation ran") } }
        for legacy in legacies { queue.addOperation(legacy) }
        let ours = queue.taskQueue.addOperation { Issue.record("a cancelled operation ran") }
        ours.addCompletionHandler {}
        let dependents = legacies.map { elsewhere.addOperation(dependencies: [$0.asTaskOperation]) {} }
        let legacyDependent = BlockOperation {}
        legacyDependent.addDependency(legacies[0])
        OperationQueue().addOperation(legacyDependent)
        let dependent = elsewhere.addOperation(dependencies: [ours]) {}
        for legacy in legacies { legacy.cancel() }
        ours.cancel()
        for operation in dependents + [dependent] { try await operation.value }
        await legacyDependent.finished()
        for legacy in legacies { await legacy.finished() }
    }
}
