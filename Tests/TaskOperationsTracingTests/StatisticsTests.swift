import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsExpectations
import TaskOperationsTesting
import TaskOperationsTracing
import Testing

@Suite("Statistics of queues", .inTurns, .timeLimit(.minutes(10)))
struct StatisticsTests {
    @Test("every operation is counted once, by its outcome", .seeds(10))
    func counts() async throws {
        let (statistics, gate) = (OperationStatistics(), Gate())
        let queue = TaskOperationQueue(.init(name: "work", maxConcurrentOperationCount: 1, executor: .seeded))
        queue.addObserver(statistics)
        let first = queue.addOperation { await gate.pass() }
        let failing = queue.addOperation(.retry(.immediately(attempts: 3))) { throw WorkFailed() }
        let cancelled = queue.addOperation(dependencies: [failing]) {}
        await gate.waitForArrivals(1)
        var now = try #require(statistics.snapshot.first)
        #expect(now.name == "work" && now.queued == 2 && now.executing == 1 && now.added == 3)
        cancelled.cancel()
        gate.open()
        _ = await failing.result
        try await first.value
        try await queue.waitUntilAllOperationsAreFinished()
        now = try #require(statistics.snapshot.first)
        #expect(
            [now.queued, now.executing, now.succeeded, now.failed, now.cancelled, now.retries] == [0, 0, 1, 1, 1, 2])
        #expect(now.executed.count == 2 && now.waited.count == 2)
        #expect(now.executed.p50 > 0 && now.executed.p99 >= now.executed.p50 && now.executed.sum > 0)
        #expect([Double.nan, -1, 2, .infinity].allSatisfy { now.executed.quantile($0) > 0 })
        #expect(now.executed.buckets.reduce(0) { $0 + $1.count } == 2)
    }

    @Test("an operation that its queue refuses or drops has not failed", .seeds(10))
    func refusals() async throws {
        for overflow in [QueueOverflow.reject, .dropOldest] {
            let (statistics, gate) = (OperationStatistics(), Gate())
            let queue = TaskOperationQueue(
                .init(maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1, overflow: overflow, executor: .seeded)
            )
            queue.addObserver(statistics)
            let first = queue.addOperation { await gate.pass() }
            await gate.waitForArrivals(1)
            let others = (0..<3).map { _ in queue.addOperation {} }
            queue.shutDown()
            _ = await queue.addOperation {}.result
            gate.open()
            for other in others { _ = await other.result }
            try await first.value
            try await queue.waitUntilAllOperationsAreFinished()
            let now = try #require(statistics.snapshot.first)
            let dropped = overflow == .dropOldest ? 2 : 0
            #expect(
                [now.queued, now.executing, now.added, now.dropped, now.succeeded, now.failed, now.cancelled]
                    == [0, 0, 2 + dropped, dropped, 2, 0, 0])
        }
    }

    private struct WorkFailed: Error {}
}
