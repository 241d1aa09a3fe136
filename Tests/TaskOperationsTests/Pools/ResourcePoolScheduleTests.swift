import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsExtras

/// No resource is lent twice or lost, whatever the order of the steps, and wherever a task is cancelled.
@Suite("Pools under schedules", .endsInTime)
struct ResourcePoolScheduleTests {
    private static let count = isDeep ? 2_000 : 1_000

    @Test("No resource is lent twice or lost, whatever calls throw", .schedules(count, leaks: .fail))
    func errors() async throws { try await program(closes: false, idleTime: nil) }

    @Test(
        "No resource is lent twice or lost if any task is cancelled at any step",
        .schedules(count, faults: .cancellation))
    func cancellation() async throws { try await program(closes: false, idleTime: nil) }

    @Test(
        "No resource is lent twice or lost if idle times end and tasks are cancelled at any step",
        .schedules(count, faults: [.cancellation, .time]))
    func time() async throws { try await program(closes: false, idleTime: .milliseconds(1)) }

    @Test(
        "No resource is lent twice or lost if the pool is closed meanwhile, and any task cancelled",
        .schedules(count, faults: [.cancellation, .time]))
    func closing() async throws { try await program(closes: true, idleTime: .milliseconds(1)) }

    @Test(
        "No resource is lent twice or lost if jobs are interrupted between two statements",
        .enabled(if: controlsThreads),
        .schedules(count, faults: .cancellation, threads: .controlled))
    func threads() async throws { try await program(closes: true, idleTime: .milliseconds(1)) }

    @Test(
        "A pool of one resource has results of calls one after another", arguments: [ScheduleThreads.one, .controlled])
    func linearizable(_ threads: ScheduleThreads) throws {
        var schedules = Schedules(Self.count)
        (schedules.threads, schedules.patience) = (threads, .zero)
        try schedules.linearizable(
            { Counters() },
            calls: [
                "count": { try await $0.count() }, "fail": { try await $0.count(fails: true) },
                "close": { try await $0.close() },
            ])
    }

    /// Calls of a pool, some of which fail. Each closure may fail, and may wait.
    private func program(closes: Bool, idleTime: Duration?) async throws {
        let (server, limit) = (PoolServer(), AsyncSemaphore(capacity: 2, perKey: 1))
        let pool = ResourcePool<PooledConnection>(
            limit: limit, idleTime: idleTime, isFailure: { $0 is WorkFailed },
            validate: { connection in
                await Task.yield()
                try Task.checkCancellation()
                return connection.number != 2
            },
            close: { connection in
                await Task.yield()
                connection.close()
                throw WorkFailed()
            }
        ) {
            try Task.checkCancellation()
            let connection = server.connect()
            await Task.yield()
            return connection
        }
        let calls = (0..<4).map { number in
            Task {
                for round in 0..<2 {
                    try await pool.withResource(key: number < 2 ? number : nil) { connection in
                        try await connection.use {
                            await Task.yield()
                            if number + round == 1 { throw WorkFailed() }
                        }
                    }
                }
            }
        }
        if closes { try await pool.close(cancellingAfter: .milliseconds(1)) }
        for call in calls { _ = await call.result }
        #expect(limit.available == 2)
        #expect(server.counts.peakUse <= 2)
        #expect(server.peakOpen <= 2)
        // A task that a fault has cancelled closes, too.
        try await pool.close()
        #expect(pool.idleCount == 0)
        #expect(server.counts.open == 0, "\(server.counts)")
    }
}

/// A pool of one resource that counts its uses.
private final class Counters: Sendable {
    private final class Counter: Sendable {
        let value = Lock(0)
    }

    private let pool = ResourcePool<Counter>(limit: AsyncSemaphore(capacity: 1)) { Counter() }

    func close() async throws { try await pool.close() }

    func count(fails: Bool = false) async throws -> Int {
        try await pool.withResource { counter in
            let old = counter.value.withLock { $0 }
            await Task.yield()
            counter.value.withLock { $0 = old + 1 }
            if fails { throw WorkFailed(number: old) }
            return old
        }
    }
}
