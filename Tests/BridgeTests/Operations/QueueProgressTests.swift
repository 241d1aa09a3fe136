import Foundation
import Synchronization
import TaskOperations
import TaskOperationsBridge
import TaskOperationsTesting
import TestSupport
import Testing

/// On Linux, the arithmetic of a progress with children can stop the process. Tests with a parent therefore run in
/// separate processes.
@Suite("The progress of a queue", .inTurns, .prompt, .endsInTime)
struct QueueProgressTests {
    @Test("The progress of a queue counts added and ended operations, before and after its first use")
    func counts() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        queue.addOperation {}
        let progress = queue.progress
        #expect(queue.progress === progress)
        #expect(progress.totalUnitCount == 1)
        #expect(progress.completedUnitCount == 0)
        #expect(progress.fractionCompleted == 0)
        queue.addOperation { throw CancellationError() }
        #expect(progress.totalUnitCount == 2)
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(progress.completedUnitCount == 2 && progress.isFinished)
        await until { progress.fractionCompleted == 1 }
    }

    @Test("The counts include an operation that has ended, before the progress learns of its end")
    func ended() async throws {
        let queue = TaskOperationQueue()
        let observer = EarlyObserver(of: queue)
        queue.addObserver(observer)
        _ = queue.progress
        try await queue.addOperation {}.value
        await until { !observer.completed.events.isEmpty }
        #expect(observer.completed.events == [1])
    }

    @Test("every end completes its unit, that of a cancelled operation too")
    func cancelled() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let progress = queue.progress
        let operations = (0..<10).map { _ in queue.addOperation {} }
        operations[3].cancel()
        #expect(progress.completedUnitCount == 1)
        queue.cancelAllOperations()
        #expect(progress.completedUnitCount == 10)
        #expect(progress.isFinished)
    }

    @Test("cancelling it cancels every operation of the queue")
    func cancelling() async throws {
        let gate = Gate()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let executing = queue.addOperation {
            await gate.pass()
            try Task.checkCancellation()
        }
        let waiting = queue.addOperation { Issue.record("a cancelled operation ran") }
        await gate.waitForArrivals(1)
        #expect(queue.progress.isCancellable)
        queue.progress.cancel()
        #expect(queue.progress.isCancelled)
        #expect(executing.isCancelled && waiting.isFinished)
        gate.open()
        await #expect(throws: CancellationError.self) { try await executing.value }
    }

    @Test("The progress of a queue moves its parent, and the parent cancels it")
    func child() async {
        await #expect(processExitsWith: .success) {
            let queue = TaskOperationQueue(.init(isSuspended: true))
            let parent = Progress.discreteProgress(totalUnitCount: 10)
            queue.progress.totalUnitCount = 4
            parent.addChild(queue.progress, withPendingUnitCount: 10)
            let operations = (0..<4).map { _ in queue.addOperation {} }
            #expect(queue.progress.totalUnitCount == 4)
            operations[0].cancel()
            await until { parent.fractionCompleted == 0.25 }
            parent.cancel()
            #expect(operations.filter(\.isFinished).count == 4)
            await until { parent.completedUnitCount == 10 }
        }
    }

    @Test("with operations that end on many threads it ends at its total")
    func concurrent() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 8)
        let progress = queue.progress
        await withTaskGroup { group in
            for _ in 0..<4 { group.addTask { for _ in 0..<1000 { queue.addOperation { await Task.yield() } } } }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        await until { progress.completedUnitCount == 4000 }
        #expect(progress.totalUnitCount == 4000)
    }

    @Test("its counts can be read by any thread while they change, also under a parent, and only grow")
    func reading() async {
        await #expect(processExitsWith: .success) {
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 8)
            let progress = queue.progress
            let parent = Progress.discreteProgress(totalUnitCount: 1)
            parent.addChild(progress, withPendingUnitCount: 1)
            let count = size(2000, deep: 20_000)
            await withTaskGroup { group in
                for _ in 0..<2 {
                    group.addTask { for _ in 0..<count / 2 { queue.addOperation { await Task.yield() } } }
                    group.addTask {
                        var last = (completed: Int64(0), total: Int64(0))
                        while last.completed < count {
                            // The order of the two reads matters: an operation is counted as added before it is counted as
                            // completed.
                            let completed = progress.completedUnitCount
                            let total = progress.totalUnitCount
                            #expect(completed >= last.completed && total >= last.total && completed <= total)
                            #expect(total == 0 || !progress.isIndeterminate)
                            last = (completed, total)
                            await Task.yield()
                        }
                        #expect(progress.isFinished)
                    }
                }
            }
            #expect(progress.totalUnitCount == count)
            await until { parent.isFinished }
        }
    }

    /// On Linux, Foundation's progress has no locks, and each change of a child reads and writes the parent.
    @Test("queues with a parent in common, whose operations end on many threads, end at its total")
    func siblings() async {
        await #expect(processExitsWith: .success) {
            let count = 2000
            for _ in 0..<size(3, deep: 20) {
                let queues = (0..<3).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 4) }
                let parent = Progress.discreteProgress(totalUnitCount: Int64(queues.count))
                for queue in queues { parent.addChild(queue.progress, withPendingUnitCount: 1) }
                await withTaskGroup { group in
                    for queue in queues {
                        group.addTask {
                            queue.progress.totalUnitCount = Int64(count)
                            for _ in 0..<count { queue.addOperation { await Task.yield() } }
                        }
                    }
                }
                for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
                await until { queues.allSatisfy { $0.progress.isFinished } }
                await until { parent.completedUnitCount == queues.count }
                await until { parent.fractionCompleted == 1 }
            }
        }
    }

    @Test("A queue that is empty many times can have a progress with a parent", .prompt)
    func emptyManyTimes() async {
        await #expect(processExitsWith: .success) {
            let queue = TaskOperationQueue()
            let parent = Progress.discreteProgress(totalUnitCount: 10)
            parent.addChild(queue.progress, withPendingUnitCount: 7)
            for number in 1...100 {
                try await queue.run {}
                await until { queue.progress.completedUnitCount == number }
                #expect(queue.progress.totalUnitCount == number)
            }
            await until { parent.completedUnitCount == 7 }
            await until { parent.fractionCompleted == 0.7 }
            #expect(queue.progress.fractionCompleted == 1)
        }
    }

    @Test("A queue can end more operations than the total that was set", .prompt)
    func beyondTheTotal() async {
        await #expect(processExitsWith: .success) {
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
            let parent = Progress.discreteProgress(totalUnitCount: 10)
            queue.progress.totalUnitCount = 5
            parent.addChild(queue.progress, withPendingUnitCount: 7)
            for number in 1...100 {
                try await queue.run {}
                await until { queue.progress.completedUnitCount == number }
            }
            await until { parent.completedUnitCount == 7 }
            await until { parent.fractionCompleted == 0.7 }
            #expect(queue.progress.isFinished)
        }
    }

    @Test("The progress does not retain the queue")
    func release() {
        let progress = TaskOperationQueue().progress
        #expect(progress.totalUnitCount == 0)
        progress.cancel()
    }

    @Test("a bridged queue has that of its task queue, in which legacy operations count")
    func bridged() async throws {
        let queue = BridgedOperationQueue()
        #expect(queue.progress === queue.taskQueue.progress)
        queue.addOperation {}
        queue.addOperation(BlockOperation {})
        await queue.finished()
        await until { queue.progress.completedUnitCount == 2 }
    }
}

/// Reads the count of ended operations at each end. The queue tells the progress after this observer.
private final class EarlyObserver: TaskOperationObserver {
    let completed = Recorder<Int64>()
    private weak let queue: TaskOperationQueue?

    init(of queue: TaskOperationQueue) { self.queue = queue }

    func operationChanged(_ event: TaskOperationEvent) {
        if case .finished = event.kind, let queue { completed.record(queue.progress.completedUnitCount) }
    }
}
