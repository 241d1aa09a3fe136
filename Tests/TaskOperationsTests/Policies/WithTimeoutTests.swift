import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Bodies with a timeout, without a queue", .inTurns, .endsInTime)
struct WithTimeoutTests {
    @Test("a body that ends in time gives its value, or its error", .schedules(20))
    func inTime() async throws {
        let clock = ManualClock()
        #expect(try await withTimeout(.seconds(1), clock: clock) { 1 } == 1)
        await #expect(throws: WorkFailed()) {
            try await withTimeout(.seconds(1), clock: clock) { throw WorkFailed() }
        }
        await until { clock.sleeperCount == 0 }
    }

    @Test("when the time is over, the body alone is cancelled, and waited for", .schedules(50))
    func tooLate() async throws {
        let (clock, gate, ended) = (ManualClock(), Gate(), Recorder<Bool>())
        let caller = Task {
            defer { #expect(!Task.isCancelled) }
            try await withTimeout(.seconds(1), clock: clock) {
                await untilCancelled()
                await gate.pass()
                ended.record(Task.isCancelled)
            }
        }
        await untilOthersWait()
        #expect(gate.arrivals == 0)
        clock.advance(by: .seconds(1))
        await gate.waitForArrivals(1)
        #expect(ended.events.isEmpty)
        gate.open()
        let limit = await waitTimeout { try await caller.value }
        #expect(limit == .seconds(1))
        #expect(ended.events == [true])
    }

    @Test("a limit that is not positive cancels the body from its start", .schedules(20))
    func noTime() async throws {
        for limit in [Duration.zero, .seconds(-1)] {
            await waitTimeout {
                try await withTimeout(limit, clock: ManualClock()) {
                    await untilCancelled()
                }
            }
        }
    }

    @Test("after a cancellation of the caller, the outcome is that of the body", .schedules(50))
    func cancelledCaller() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let caller = Task {
            try await withTimeout(.seconds(1), clock: clock) {
                await gate.pass()
                try Task.checkCancellation()
            }
        }
        await gate.waitForArrivals(1)
        caller.cancel()
        clock.advance(by: .seconds(1))
        await untilOthersWait()
        gate.open()
        await #expect(throws: CancellationError.self) { try await caller.value }
    }

    @Test("limits within limits: the inner one does not end the outer body", .schedules(50))
    func nested() async throws {
        let clock = ManualClock()
        let caller = Task {
            try await withTimeout(.seconds(2), clock: clock) {
                await waitTimeout {
                    try await withTimeout(.seconds(1), clock: clock) {
                        await untilCancelled()
                    }
                }
                #expect(!Task.isCancelled)
                return 7
            }
        }
        await untilOthersWait()
        clock.advance(by: .seconds(1))
        #expect(try await caller.value == 7)
    }

    @Test("the time may end at the same moment as the body", .schedules(200))
    func race() async throws {
        let clock = ManualClock()
        let caller = Task {
            try await withTimeout(.seconds(1), clock: clock) { for _ in 0..<5 { await Task.yield() } }
        }
        var generator = Schedules.generator()
        for _ in 0..<generator.number(below: 12) { await Task.yield() }
        clock.advance(by: .seconds(1))
        if case .failure = await caller.result { await waitTimeout { try await caller.value } }
    }

    @Test("the body runs on the actor of the caller, and uses values that are not Sendable") @MainActor
    func isolation() async throws {
        final class Counter { var count = 0 }
        let counter = Counter()
        let same = try await withTimeout(.seconds(1000)) {
            MainActor.assertIsolated()
            counter.count += 1
            await Task.yield()
            counter.count += 1
            return counter
        }
        #expect(same === counter)
        #expect(counter.count == 2)
        let tried = try await retrying(.immediately(attempts: 3)) {
            MainActor.assertIsolated()
            counter.count += 1
            if counter.count < 4 { throw WorkFailed() }
            return counter
        }
        #expect(tried.count == 4)
    }

    @Test("a wait in the body counts as one of the operation that runs it", .schedules(20))
    func waitInOperation() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let clock = ManualClock()
        let operation = queue.addOperation {
            try await withTimeout(.seconds(1), clock: clock) {
                try await queue.addOperation { AnyTaskOperation.current != nil }.value
            }
        }
        #expect(try await operation.value)
    }

    @Test("on the continuous clock, a body that is never done is ended")
    func realTime() async throws {
        await waitTimeout {
            try await withTimeout(.milliseconds(5)) { try await Task.sleep(for: .seconds(10_000)) }
        }
    }

    @Test("many limits that end as their bodies do leave nothing")
    func many() async throws {
        try await (0..<tensOfThousands / 5).concurrentForEach { number in
            do {
                try await withTimeout(.microseconds(number % 40)) { for _ in 0..<(number % 3) { await Task.yield() } }
            } catch TaskOperationError.timedOut(.wait, _) {}
        }
    }
}
