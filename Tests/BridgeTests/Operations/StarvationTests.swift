import Dispatch
import Foundation
import TaskOperations
import TaskOperationsBridge
import TaskOperationsExpectations
import TaskOperationsTesting
import Testing

@Suite("Operations that block do not starve the cooperative pool", .inTurns)
struct StarvationTests {
    #if os(Linux) || os(macOS)
        /// What is measured is who waits for whom, not time: the operations block until tasks on the pool have made
        /// all their steps. If the operations held threads of the pool, neither would ever go on. In a process of its
        /// own, so that no other test's tasks are on the pool.
        @Test(
            "500 operations block in main() until tasks on the pool have gone on a thousand times", .prompt,
            .timeLimit(.minutes(10)))
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
                // More block than the pool has threads.
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
}
