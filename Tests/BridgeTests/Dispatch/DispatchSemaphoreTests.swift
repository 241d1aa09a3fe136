import Dispatch
import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsBridge

@Suite("Dispatch semaphores", .inTurns)
struct DispatchSemaphoreTests {
    @Test("a free permit is taken at once, each one once")
    func available() async throws {
        let semaphore = DispatchSemaphore(value: 2)
        try await semaphore.acquire()
        #expect(try await semaphore.acquire(timeout: .distantFuture) == .success)
        #expect(try await semaphore.acquire(timeout: .now()) == .timedOut)
        semaphore.signal()
        semaphore.signal()
    }

    @Test("tasks wait for signals without holding threads of the pool, and are served in order")
    func order() async throws {
        let semaphore = DispatchSemaphore(value: 0)
        let order = Recorder<Int>()
        let count = 4 * TaskOperationQueue.defaultMaxConcurrentOperationCount
        let waits = (0..<count).map { number in
            Task.immediate {
                try await semaphore.acquire()
                order.record(number)
            }
        }
        for (number, wait) in waits.enumerated() {
            semaphore.signal()
            try await wait.value
            #expect(order.events == Array(0...number))
        }
    }

    @Test("tasks and blocked threads share the permits, and none is lost")
    func mixed() async throws {
        let semaphore = DispatchSemaphore(value: 2)
        let executor = BlockingExecutor(maxThreadCount: 3)
        let meter = ConcurrencyMeter()
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    try await executor.run {
                        block(on: semaphore)
                        meter.enter()
                        meter.leave()
                        semaphore.signal()
                    }
                }
                group.addTask {
                    try await semaphore.withPermit { await meter.measure { await Task.yield() } }
                }
            }
            try await group.waitForAll()
        }
        #expect(meter.total == 200)
        #expect(meter.most <= 2)
        #expect(try await semaphore.acquire(timeout: .distantFuture) == .success)
        #expect(try await semaphore.acquire(timeout: .distantFuture) == .success)
        #expect(try await semaphore.acquire(timeout: .now()) == .timedOut)
        semaphore.signal()
        semaphore.signal()
    }

    @Test("a cancelled wait ends at once and takes no permit, also where it is signalled later")
    func cancelled() async throws {
        let semaphore = DispatchSemaphore(value: 0)
        let wait = Task.immediate { try await semaphore.acquire() }
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
        semaphore.signal()
        try await semaphore.acquire()
        #expect(try await semaphore.acquire(timeout: .now()) == .timedOut)
    }

    @Test("the thread ends when no task waits any more, also without a signal")
    func threadEnds() async throws {
        let semaphore = DispatchSemaphore(value: 0)
        let wait = Task.immediate { try await semaphore.acquire() }
        #expect(SemaphoreLine.hasThread(for: semaphore))
        wait.cancel()
        await until { !SemaphoreLine.hasThread(for: semaphore) }
        semaphore.signal()
        try await semaphore.acquire()
    }

    @Test("in a storm of cancellations and signals every permit is either taken or left")
    func storm() async throws {
        let semaphore = DispatchSemaphore(value: 0)
        let taken = ConcurrencyMeter()
        let waits = (0..<200).map { number in
            let task = Task {
                try await semaphore.acquire()
                taken.enter()
            }
            if number % 3 == 0 { task.cancel() }
            return task
        }
        for _ in 0..<200 { semaphore.signal() }
        for wait in waits { _ = await wait.result }
        for _ in taken.total..<200 { #expect(try await semaphore.acquire(timeout: .distantFuture) == .success) }
        #expect(try await semaphore.acquire(timeout: .now()) == .timedOut)
        #expect(taken.total >= 133)
    }

    @Test("a cancelled task takes no permit, even a free one")
    func cancelledBefore() async throws {
        let semaphore = DispatchSemaphore(value: 1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await semaphore.acquire()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await semaphore.acquire(timeout: .now()) == .success)
        semaphore.signal()
    }

    @Test("a permit is given back where the work throws")
    func throwing() async throws {
        struct Refusal: Error {}
        let semaphore = DispatchSemaphore(value: 1)
        await #expect(throws: Refusal.self) { try await semaphore.withPermit { throw Refusal() } }
        #expect(try await semaphore.acquire(timeout: .distantFuture) == .success)
        semaphore.signal()
    }
}
