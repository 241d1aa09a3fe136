import Foundation
import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Statistics of queues", .inTurns, .endsInTime)
struct StatisticsTests {
    @Test("an operation that is refused because a limit has no room is counted apart from failures")
    func refused() async throws {
        let (statistics, limit, gate) = (OperationStatistics(), AsyncSemaphore(capacity: 1), Gate())
        limit.maxQueuedOperationCount = 1
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        queue.addObserver(statistics)
        queue.addOperation(.limit(limit)) { await gate.pass() }
        await gate.waitForArrivals(1)
        queue.addOperation(.limit(limit)) {}
        queue.addOperation(.limit(limit)) {}
        await until { statistics.snapshot.first?.refused == 1 }
        let counts = try #require(statistics.snapshot.first)
        #expect(counts.failed == 0 && counts.dropped == 0)
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("every operation is counted once, by its outcome", .schedules(10))
    func counts() async throws {
        let (statistics, gate) = (OperationStatistics(), Gate())
        let queue = TaskOperationQueue(name: "work", maxConcurrentOperationCount: 1)
        queue.addObserver(statistics)
        let first = queue.addOperation { await gate.pass() }
        let failing = queue.addOperation(.retry(.immediately(attempts: 3))) { throw WorkFailed() }
        let cancelled = queue.addOperation(dependencies: [failing]) {}
        await gate.waitForArrivals(1)
        var now = try #require(statistics.snapshot.first)
        #expect(now.name == "work" && now.queued == 2 && now.executing == 1 && now.added == 3)
        cancelled.cancel()
        try await Task.sleep(for: .milliseconds(1))
        gate.open()
        _ = await failing.result
        try await first.value
        try await queue.waitUntilAllOperationsAreFinished()
        now = try #require(statistics.snapshot.first)
        let counts = [now.queued, now.executing, now.succeeded, now.failed, now.cancelled, now.retries]
        #expect(counts == [0, 0, 1, 1, 1, 2])
        #expect(now.executed.count == 2 && now.waited.count == 2)
        #expect(now.executed.p50 > .zero && now.executed.p99 >= now.executed.p50 && now.executed.sum > .zero)
        #expect([Double.nan, -1, 2, .infinity].allSatisfy { now.executed.quantile($0) > .zero })
        #expect(now.executed.buckets.reduce(0) { $0 + $1.count } == 2)
    }

    @Test("an operation that its queue refuses or drops has not failed", .schedules(10))
    func refusals() async throws {
        for overflow in [TaskOperationQueue.Configuration.Overflow.reject, .dropOldest] {
            let (statistics, gate) = (OperationStatistics(), Gate())
            let queue = TaskOperationQueue(
                .init(maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1, overflow: overflow)
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
            let counts = [now.queued, now.executing, now.added, now.dropped, now.succeeded, now.failed, now.cancelled]
            #expect(counts == [0, 0, 2 + dropped, dropped, 2, 0, 0])
            #expect(now.refused == 2 - dropped)
        }
    }

    @Test("the counts of released queues with the same name are added up")
    func releasedQueues() async throws {
        let statistics = OperationStatistics()
        for number in 0..<100 {
            let queue = TaskOperationQueue(.init(name: number.isMultiple(of: 2) ? "even" : nil, isSuspended: true))
            queue.addObserver(statistics)
            let operations = (0..<3).map { _ in queue.addOperation {} }
            queue.isSuspended = false
            for operation in operations { try await operation.value }
        }
        let isReleased = await eventually { statistics.snapshot.count == 2 }
        #expect(isReleased, "\(statistics.snapshot.map(\.name))")
        let kept = TaskOperationQueue(name: "even")
        kept.addObserver(statistics)
        try await kept.addOperation {}.value
        #expect(await eventually { statistics.snapshot.last?.succeeded == 1 })
        // A worker drops the last reference to its queue late, so either name can be the first that was released.
        let released = statistics.snapshot.dropLast().sorted { $0.name < $1.name }
        let last = try #require(statistics.snapshot.last)
        #expect(released.map(\.name) == ["even", "unnamed queues"] && last.name == "even")
        #expect(released.map(\.added) == [150, 150] && last.added == 1)
        #expect(released.map(\.executed.count) == [150, 150] && last.executed.count == 1)
        #expect(released[0].executed.buckets.reduce(0) { $0 + $1.count } == 150 && released[0].executed.sum > .zero)
    }

    @Test("a decoded histogram is refused if its counts are impossible")
    func decodedHistograms() throws {
        let decoder = JSONDecoder()
        let tooMany = Array(repeating: "0", count: 500).joined(separator: ",")
        for text in [
            #"{"counts":[-1,2],"sum":[0,1]}"#, #"{"counts":[9223372036854775807,1],"sum":[0,1]}"#,
            #"{"counts":[1],"sum":[-1,1]}"#, #"{"counts":[\#(tooMany)],"sum":[0,1]}"#, #"{"counts":[1],"sum":0.5}"#,
        ] {
            #expect(throws: DecodingError.self) {
                try decoder.decode(DurationHistogram.self, from: Data(text.utf8))
            }
        }
        let text = #"{"counts":[0,3],"sum":[0,500000000000000000]}"#
        let histogram = try decoder.decode(DurationHistogram.self, from: Data(text.utf8))
        #expect(histogram.count == 3 && histogram.sum == .milliseconds(500) && histogram.p99 == .nanoseconds(1250))
        #expect(try decoder.decode(DurationHistogram.self, from: JSONEncoder().encode(histogram)) == histogram)
    }

    @Test("the oldest operation that has not started has an age")
    func oldestAge() async throws {
        let (statistics, clock) = (OperationStatistics(), ContinuousClock())
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        queue.addObserver(statistics)
        let gate = Gate()
        queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        #expect(statistics.snapshot[0].oldestAge == nil)
        let begin = clock.now
        queue.addOperation {}
        try await Task.sleep(for: .milliseconds(10))
        for _ in 0..<200 { queue.addOperation {} }
        let age = try #require(statistics.snapshot[0].oldestAge)
        #expect(age >= .milliseconds(9) && age <= clock.now - begin)
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        await until { statistics.snapshot[0].succeeded == 202 }
        #expect(statistics.snapshot[0].oldestAge == nil)
    }

    private struct WorkFailed: Error {}
}
