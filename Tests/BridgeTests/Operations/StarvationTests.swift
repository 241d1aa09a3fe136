import Dispatch
import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Operations that block do not starve the cooperative pool", .inTurns)
struct StarvationTests {
    #if os(Linux) || os(macOS)
        /// The test checks that tasks continue, and measures no times. The operations block until tasks on the pool
        /// have finished all their steps. If the operations occupied threads of the pool, neither would ever continue.
        /// The test runs in a separate process, so that the pool runs no tasks of other tests.
        @Test(
            "500 operations block in main() until tasks on the pool have gone on a thousand times", .prompt,
            .endsInTime)
        func tasksGoOn() async {
            await #expect(processExitsWith: .success) {
                let tasksAreDone = DispatchSemaphore(value: 0)
                let blocked = Gate()
                let runs = ConcurrencyMeter()
                let queue = TaskOperationQueue(maxConcurrentOperationCount: 500)
                for _ in 0..<500 {
                    try queue.addOperation(
                        SynchronousOperation { _ in
                            runs.enter()
                            Task { await blocked.pass() }
                            tasksAreDone.wait()
                            tasksAreDone.signal()
                            runs.leave()
                        })
                }
                // More operations block than the pool has threads.
                await blocked.waitForArrivals(TaskOperationQueue.defaultMaxConcurrentOperationCount + 8)
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<8 {
                        group.addTask { for _ in 0..<125 { await Task.yield() } }
                    }
                }
                #expect(runs.now > TaskOperationQueue.defaultMaxConcurrentOperationCount)
                #expect(queue.operationCount == 500, "no operation can have ended yet")
                tasksAreDone.signal()
                blocked.open()
                try await queue.waitUntilAllOperationsAreFinished()
                #expect(runs.total == 500)
            }
        }

    #endif

    @Test("an operation of ours runs to its end while more legacy operations block than there are processors")
    func operationsGoOn() async throws {
        let release = DispatchSemaphore(value: 0)
        let blocking = TaskOperationQueue(maxConcurrentOperationCount: 32)
        for _ in 0..<32 {
            try blocking.addOperation(
                BlockOperation {
                    release.wait()
                    release.signal()
                })
        }
        let queue = TaskOperationQueue()
        let values = (0..<100).map { number in queue.addOperation { number } }
        for (number, operation) in values.enumerated() { #expect(try await operation.value == number) }
        #expect(blocking.operationCount == 32)
        release.signal()
        try await blocking.waitUntilAllOperationsAreFinished()
    }

    /// More operations than a queue has threads.
    private static let many = 100

    /// Operations of Foundation that block all threads of a queue until `end()`.
    private struct Blocked {
        private let release = DispatchSemaphore(value: 0)
        private let runs = ConcurrencyMeter()
        private let queue = TaskOperationQueue(maxConcurrentOperationCount: many)

        init() async throws {
            for _ in 0..<many {
                try queue.addOperation(
                    BlockOperation { [release, runs] in
                        runs.enter()
                        release.wait()
                        release.signal()
                    })
            }
            await until { runs.total >= 64 }
        }

        func end() async throws {
            #expect(queue.operationCount == many)
            release.signal()
            try await queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test(
        "legacy operations that block on one queue do not keep those of another from a thread",
        .endsInTime
    )
    func queuesHaveThreadsOfTheirOwn() async throws {
        let blocked = try await Blocked()
        let queue = TaskOperationQueue()
        try await queue.addOperation(BlockOperation {}).waitUntilFinished()
        // The same holds for a queue whose own executor must not block.
        let pooled = TaskOperationQueue(.init(executor: globalConcurrentExecutor))
        try await pooled.addOperation(BlockOperation {}).waitUntilFinished()
        try await blocked.end()
    }

    @Test(
        "the proxy of an operation finishes while legacy operations block",
        .endsInTime)
    func facesFinish() async throws {
        let blocked = try await Blocked()
        let ended = TaskOperation {}
        ended.cancel()
        await ended.asOperation.finished()
        try await blocked.end()
    }

    @Test(
        "a cancelled operation whose start() or cancel() blocks does not keep another from finishing",
        .endsInTime, arguments: [false, true])
    func cancelledOperationsFinish(isBlockingCancel: Bool) async throws {
        let release = DispatchSemaphore(value: 0)
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let blocked = BlockingWhenCancelled(release, isBlockingCancel: isBlockingCancel)
        let other = BlockOperation {}
        for operation in try queue.addOperations([blocked, other]) { operation.cancel() }
        await other.finished()
        #expect(!blocked.isFinished)
        release.signal()
        await blocked.finished()
    }
}

/// Blocks when it is cancelled, like an operation that waits for its own cleanup.
private final class BlockingWhenCancelled: Foundation.Operation, @unchecked Sendable {  // It is immutable.
    private let release: DispatchSemaphore
    private let isBlockingCancel: Bool

    init(_ release: DispatchSemaphore, isBlockingCancel: Bool) {
        self.release = release
        self.isBlockingCancel = isBlockingCancel
    }

    override func cancel() {
        if isBlockingCancel { release.wait() }
        super.cancel()
    }

    override func start() {
        if !isBlockingCancel { release.wait() }
        super.start()
    }
}
