import TaskOperations
import TaskOperationsExpectations
import TaskOperationsTesting
import TaskOperationsTracing
import Testing

@Suite("Statistics of queues", .inTurns, .timeLimit(.minutes(10)))
struct StatisticsTests {
    @Test("every operation is counted once, by what came of it", .seeds(10))
    func counts() async throws {
        let (statistics, gate) = (OperationStatistics(), Gate())
        let queue = TaskOperationQueue(name: "work", maxConcurrentOperationCount: 1, executor: .seeded)
        queue.addObserver(statistics)
        let first = queue.addOperation { await gate.pass() }
        let failing = queue.addOperation(retry: .immediately(attempts: 3)) { throw WorkFailed() }
        let cancelled = queue.addOperation(dependencies: [failing]) {}
        await gate.waitForArrivals(1)
        var now = try #require(statistics.snapshot.first)
        #expect(now.name == "work" && now.pending == 2 && now.executing == 1 && now.added == 3)
        cancelled.cancel()
        gate.open()
        _ = await failing.result
        try await first.value
        try await queue.waitUntilAllOperationsAreFinished()
        now = try #require(statistics.snapshot.first)
        #expect(
            [now.pending, now.executing, now.succeeded, now.failed, now.cancelled, now.retries] == [0, 0, 1, 1, 1, 2])
        #expect(now.executed.count == 2 && now.waited.count == 2)
        #expect(now.executed.p50 > 0 && now.executed.p99 >= now.executed.p50 && now.executed.sum > 0)
        #expect(now.executed.buckets.reduce(0) { $0 + $1.count } == 2)
    }

    private struct WorkFailed: Error {}
}
