import Simulation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("SeededExecutor", .inTurns, .endsInTime)
struct SeededExecutorTests {
    /// Returns the order in which six operations of two queues start and finish.
    private func order(seed: UInt64) throws -> [WorkEvent] {
        let executor = SeededExecutor(seed: seed)
        let recorder = Recorder<WorkEvent>()
        try executor.run {
            let queues = (0..<2).map { _ in
                TaskOperationQueue(.init(maxConcurrentOperationCount: 2, executor: executor))
            }
            for number in 0..<6 {
                queues[number % 2].addOperation {
                    await recorder.run("\(number)") { for _ in 0..<3 { await Task.yield() } }
                }
            }
            for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        }
        return recorder.events
    }

    @Test("the same seed gives the same order, and others give others")
    func repeatable() throws {
        let orders = try (0..<20).map { try order(seed: $0) }
        #expect(try (0..<20).map { try order(seed: $0) } == orders)
        #expect(Set(orders).count > 10)
        for order in orders { #expect(order.count == 12) }
    }

    @Test("`run` returns or throws the result of the body")
    func outcomes() throws {
        let executor = SeededExecutor(seed: 1)
        #expect(try executor.run { 7 } == 7)
        #expect(throws: CancellationError.self) { try executor.run { throw CancellationError() } }
    }

    @Test("child tasks and actors stay on the thread")
    func staysOnItsThread() throws {
        let executor = SeededExecutor(seed: 2)
        let thread = Recorder<ThreadIdentity>()
        thread.record(.current)
        try executor.run {
            let counter = SeededCounter()
            await withTaskGroup { group in
                for _ in 0..<10 {
                    group.addTask {
                        await Task.yield()
                        thread.record(.current)
                        thread.record(await counter.count())
                    }
                }
            }
        }
        #expect(thread.events.count == 21)
        #expect(Set(thread.events).count == 1)
    }

    @Test("a program that waits for an event that never occurs is reported as stuck, with its seed")
    func stuck() {
        let executor = SeededExecutor(seed: 5)
        let error = #expect(throws: SeededRunError.self) {
            try executor.run { try await AsyncSemaphore(capacity: 0).acquire() }
        }
        #expect(error?.reason == .stuck)
        #expect(error?.description.contains("seed 5") == true)
    }

    @Test("a body that is stuck is cancelled, and can clean up")
    func stuckIsCancelled() {
        let executor = SeededExecutor(seed: 5)
        let clock = SimulatedClock(on: executor)
        let ends = Recorder<String>()
        #expect(throws: SeededRunError.self) {
            try executor.run {
                defer { ends.record("cleaned up") }
                try await clock.sleep(for: .seconds(1))
            }
        }
        #expect(ends.events == ["cleaned up"])
    }

    @Test("a run without a limit of jobs, twice on one executor")
    func unlimited() throws {
        let executor = SeededExecutor(seed: 1)
        for _ in 0..<2 { #expect(try executor.run(jobLimit: .max) { await Task.yield() } == ()) }
    }

    @Test("a loop that never ends is given up")
    func endless() {
        let error = #expect(throws: SeededRunError.self) {
            try SeededExecutor(seed: 6).run(jobLimit: 1000) { while !Task.isCancelled { await Task.yield() } }
        }
        #expect(error?.reason == .endless)
    }

    @Test("a completion handler of an operation that was cancelled before its start runs on the executor too")
    func handlers() throws {
        let executor = SeededExecutor(seed: 7)
        let threads = Recorder<ThreadIdentity>()
        try executor.run {
            let queue = TaskOperationQueue(.init(isSuspended: true, executor: executor))
            let operation = queue.addOperation {}
            operation.addCompletionHandler { _ in threads.record(.current) }
            operation.cancel()
        }
        #expect(threads.events == [.current])
    }
}

private actor SeededCounter {
    func count() -> ThreadIdentity { .current }
}
