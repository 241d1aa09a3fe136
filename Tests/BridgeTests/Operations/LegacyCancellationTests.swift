import Foundation
import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsBridge

@Suite("Cancelling an operation of Foundation on a queue of ours, from either side", .inTurns)
struct LegacyCancellationTests {
    @Test("cancelled here before the start: main() never runs, both finish, and dependents of both start")
    func ourSideBeforeStart() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let never = BlockOperation {}
        let legacy = BlockOperation { Issue.record("a cancelled operation ran") }
        legacy.addDependency(never)
        let runner = try queue.addOperation(legacy)
        let dependent = BlockOperation {}
        dependent.addDependency(legacy)
        OperationQueue().addOperation(dependent)
        runner.cancel()
        #expect(runner.isFinished)
        await legacy.finished()
        await dependent.finished()
        #expect(legacy.isCancelled)
        #expect(runner.failure is CancellationError)
    }

    /// On Linux, Foundation does not retain dependents, and relies on its queues to remove them.
    @Test("cancelled here before the start: its dependency can finish after its release")
    func goneBeforeDependency() async throws {
        for _ in 0..<20 {
            let first = BlockOperation {}
            let queue = TaskOperationQueue(.init(isSuspended: true))
            let isGone = AsyncGroup()
            for _ in 0..<50 {
                let legacy = WatchedOperation(leaving: isGone)
                legacy.addDependency(first)
                try queue.addOperation(legacy)
            }
            queue.cancelAllOperations()
            await isGone.wait()
            first.start()
            #expect(first.isFinished)
        }
    }

    @Test("our side, before the start, an asynchronous subclass that finishes later: it can be gone then too")
    func asynchronousGoneBeforeDependency() async throws {
        let first = BlockOperation {}
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let finishing = Gate()
        let isGone = AsyncGroup()
        for _ in 0..<50 {
            let legacy = LateOperation(leaving: isGone, after: finishing)
            legacy.addDependency(first)
            try queue.addOperation(legacy)
        }
        queue.cancelAllOperations()
        await finishing.waitForArrivals(50)
        finishing.open()
        await isGone.wait()
        first.start()
        #expect(first.isFinished)
    }

    @Test("our side, an asynchronous subclass before the start: it finishes by itself")
    func asynchronousBeforeStart() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let legacy = AsynchronousOperation { _ in Issue.record("a cancelled operation ran") }
        try queue.addOperation(legacy).cancel()
        await legacy.finished()
        #expect(legacy.isCancelled)
    }

    @Test("our side, while it executes: the operation learns of it")
    func ourSideExecuting() async throws {
        let gate = Gate()
        let legacy = AsynchronousOperation { operation in
            Task {
                await gate.pass()
                #expect(operation.isCancelled)
                operation.finish()
            }
        }
        let runner = try TaskOperationQueue().addOperation(legacy)
        await gate.waitForArrivals(1)
        runner.cancel()
        gate.open()
        try await runner.waitUntilFinished()
        #expect(runner.failure is CancellationError)
    }

    @Test("their side, before the start: main() never runs, and ours fails with CancellationError")
    func theirSideBeforeStart() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let legacy = BlockOperation { Issue.record("a cancelled operation ran") }
        let runner = try queue.addOperation(legacy)
        legacy.cancel()
        try await runner.waitUntilFinished()
        await legacy.finished()
        #expect(runner.failure is CancellationError)
    }

    @Test("their side, while it executes: ours fails with CancellationError once it is done")
    func theirSideExecuting() async throws {
        let legacy = SynchronousOperation { $0.cancel() }
        let runner = try TaskOperationQueue().addOperation(legacy)
        try await runner.waitUntilFinished()
        #expect(runner.failure is CancellationError)
    }

    @Test("cancelling all of a queue finishes every operation of it")
    func all() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let gate = Gate()
        queue.addBarrier { await gate.pass() }
        await gate.waitForArrivals(1)
        let legacies = (0..<100).map { _ in BlockOperation { Issue.record("a cancelled operation ran") } }
        for legacy in legacies { try queue.addOperation(legacy) }
        queue.cancelAllOperations()
        gate.open()
        for legacy in legacies { await legacy.finished() }
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("an operation added after shutdown is cancelled and finished")
    func shutDown() async throws {
        let queue = TaskOperationQueue()
        queue.shutDown()
        let legacy = BlockOperation { Issue.record("a refused operation ran") }
        let runner = try queue.addOperation(legacy)
        await legacy.finished()
        guard case TaskOperationError.queueShutDown? = runner.failure else {
            return _ = Issue.record("\(runner.debugDescription)")
        }
    }
}

/// Records when it is freed.
private class WatchedOperation: Foundation.Operation, @unchecked Sendable {  // All stored properties are constant.
    private let group: AsyncGroup

    init(leaving group: AsyncGroup) {
        self.group = group
        super.init()
        group.enter()
    }

    deinit { group.leave() }
}

/// Finishes some time after its start, whether or not it is cancelled.
private final class LateOperation: WatchedOperation, @unchecked Sendable {  // `hasFinished` is a lock.
    private let gate: Gate
    private let hasFinished = Lock(false)

    init(leaving group: AsyncGroup, after gate: Gate) {
        self.gate = gate
        super.init(leaving: group)
    }

    override var isAsynchronous: Bool { true }
    override var isFinished: Bool { hasFinished.withLock { $0 } }

    override func start() {
        Task {
            await gate.pass()
            willChangeValue(forKey: "isFinished")
            hasFinished.withLock { $0 = true }
            didChangeValue(forKey: "isFinished")
        }
    }
}
