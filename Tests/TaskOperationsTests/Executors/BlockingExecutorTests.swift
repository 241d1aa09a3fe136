import Dispatch
import Foundation
import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

private struct Refusal: Error, Equatable {}

@Suite("Threads for work that blocks", .inTurns)
struct BlockingExecutorTests {
    @Test("a function's value and error are returned")
    func valueAndError() async throws {
        let executor = BlockingExecutor(maxThreadCount: 2)
        #expect(try await executor.run { 5 } == 5)
        await #expect(throws: Refusal()) { try await executor.run { throw Refusal() } }
    }

    #if canImport(Glibc)
        @Test("threads of both executors have at least the stack size that was asked for")
        func stackSize() async throws {
            let size = 1 << 26
            #expect(try await BlockingExecutor(maxThreadCount: 1).run { currentStackSize() } < size)
            #expect(try await BlockingExecutor(maxThreadCount: 1, stackSize: size).run { currentStackSize() } >= size)
            #expect(try await ThreadExecutor(stackSize: size).run { currentStackSize() } >= size)
        }
    #endif

    @Test("blocked work leaves the cooperative pool to other tasks")
    func poolGoesOn() async throws {
        let count = 4 * TaskOperationQueue.defaultMaxConcurrentOperationCount
        let executor = BlockingExecutor(maxThreadCount: count)
        let semaphore = DispatchSemaphore(value: 0)
        let meter = ConcurrencyMeter()
        try await withThrowingTaskGroup { group in
            for _ in 0..<count {
                group.addTask {
                    try await executor.run {
                        meter.enter()
                        block(on: semaphore)
                    }
                }
            }
            // While the threads of the pool are blocked, this task could not run on the pool, and the test would not
            // end.
            group.addTask {
                await until { meter.total == count }
                #expect(executor.threadCount == count)
                for _ in 0..<count { semaphore.signal() }
            }
            try await group.waitForAll()
        }
    }

    @Test("no more functions run at once than there may be threads, and all run")
    func bounded() async throws {
        let executor = BlockingExecutor(maxThreadCount: 3)
        let meter = ConcurrencyMeter()
        try await withThrowingTaskGroup { group in
            for _ in 0..<200 {
                group.addTask {
                    try await executor.run {
                        meter.enter()
                        usleep(100)
                        meter.leave()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(meter.total == 200)
        #expect(meter.most <= 3)
        #expect(executor.threadCount <= 3)
    }

    @Test("functions start in the order in which they came")
    func order() async throws {
        let executor = BlockingExecutor(maxThreadCount: 1)
        let gate = DispatchSemaphore(value: 0)
        let order = Recorder<Int>()
        async let first: Void = executor.run { block(on: gate) }
        let others = (0..<20).map { number in
            // An immediate task submits its function before the next task is created.
            Task.immediate { try await executor.run { order.record(number) } }
        }
        gate.signal()
        try await first
        for other in others { try await other.value }
        #expect(order.events == Array(0..<20))
    }

    @Test("a function whose task is cancelled before its turn is not called, and the task continues at once")
    func cancelledBeforeTurn() async throws {
        let executor = BlockingExecutor(maxThreadCount: 1)
        let hasBlocked = Gate()
        let semaphore = DispatchSemaphore(value: 0)
        let blocker = Task {
            try await executor.run {
                Task { await hasBlocked.pass() }
                block(on: semaphore)
            }
        }
        await hasBlocked.waitForArrivals(1)
        let calls = Recorder<String>()
        let waiting = Task { try await executor.run { calls.record("called") } }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        semaphore.signal()
        try await blocker.value
        try await executor.run {}
        #expect(calls.events.isEmpty)
    }

    @Test("bodies of a queue run on the threads")
    func queue() async throws {
        let executor = BlockingExecutor(name: "a name too long for Linux", maxThreadCount: 2)
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, executor: executor))
        let names = Recorder<String>()
        for _ in 0..<20 {
            queue.addOperation {
                names.record(try threadName())
                await Task.yield()
                names.record(try threadName())
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(names.events.count == 40)
        #expect(names.events.allSatisfy { $0.hasPrefix("a name too long") })
    }

    @Test("work continues after the executor is released")
    func releasedWhileBusy() async throws {
        let semaphore = DispatchSemaphore(value: 0)
        let done = Gate()
        let hasBlocked = Gate()
        do {
            let executor = BlockingExecutor(maxThreadCount: 1)
            Task(executorPreference: executor) {
                Task { await hasBlocked.pass() }
                block(on: semaphore)
                await Task.yield()
                await done.pass()
            }
        }
        await hasBlocked.waitForArrivals(1)
        semaphore.signal()
        await done.waitForArrivals(1)
        done.open()
    }
}
