import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Rates of semaphores and limits", .inTurns, .endsInTime)
struct AsyncSemaphoreRateTests {
    private struct Start: Equatable, Sendable {
        let name: String
        let second: Int64
    }

    /// Advances a clock second by second.
    private func advance(_ clock: ManualClock, seconds: Int) async {
        for _ in 0..<seconds {
            await untilOthersWait()
            clock.advance(by: .seconds(1))
        }
        await untilOthersWait()
    }

    private func second(_ clock: ManualClock) -> Int64 { clock.now.offset.components.seconds }

    @Test("Used tokens stay used while there is no rate, in total and for a key", arguments: [false, true])
    func removedAndSet(isOfKey: Bool) async throws {
        let (clock, rate) = (ManualClock(), OperationRate.one(per: .seconds(10), burst: 2))
        let semaphore = AsyncSemaphore(capacity: 9, clock: clock)
        func setRate(_ rate: OperationRate?) {
            if isOfKey { semaphore.ratePerKey = rate } else { semaphore.rate = rate }
        }
        func hasToken() async -> Bool {
            do {
                try await semaphore.withPermit(key: "a", timeout: .zero) {}
                return true
            } catch {
                return false
            }
        }
        setRate(rate)
        for _ in 0..<2 { #expect(await hasToken()) }
        setRate(nil)
        #expect(await hasToken(), "Without a rate, no token is needed or used.")
        clock.advance(by: .seconds(4))
        setRate(rate)
        #expect(await !hasToken())
        clock.advance(by: .seconds(6))
        #expect(await hasToken())
        #expect(await !hasToken())
        setRate(nil)
        clock.advance(by: .seconds(20))
        setRate(rate)
        for count in 0..<3 { #expect(await hasToken() == (count < 2)) }
        setRate(nil)
        clock.advance(by: .seconds(20))
        #expect(await eventually { semaphore.storage.withLock { $0.state.keyCount } == 0 })
    }

    @Test("Tasks receive permits at the rate in total and at the rate of their keys", .schedules(10))
    func tasks() async throws {
        let clock = ManualClock()
        let semaphore = AsyncSemaphore(
            capacity: 9, rate: .one(per: .seconds(1), burst: 2), ratePerKey: .one(per: .seconds(3)), clock: clock)
        let starts = Recorder<Start>()
        await withTaskGroup { group in
            for number in 0..<6 {
                let key = number < 4 ? "a" : "b"
                group.addTask {
                    try? await semaphore.withPermit(key: key) {
                        starts.record(Start(name: key, second: second(clock)))
                    }
                }
            }
            await advance(clock, seconds: 12)
        }
        #expect(starts.events.filter { $0.name == "a" }.map(\.second) == [0, 3, 6, 9])
        #expect(starts.events.filter { $0.name == "b" }.map(\.second) == [0, 3])
        #expect(semaphore.available == 9)
    }

    @Test(
        "Operations of several queues start at the rates of their limit, and each attempt takes a token",
        .schedules(10))
    func operations() async throws {
        let clock = ManualClock()
        let hosts = AsyncSemaphore(capacity: 16, perKey: 2, ratePerKey: .one(per: .seconds(2)), clock: clock)
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 4) }
        let starts = Recorder<Start>()
        for number in 0..<4 {
            queues[number % 2].addOperation(.limit(hosts, key: "a")) {
                starts.record(Start(name: "a", second: second(clock)))
            }
        }
        queues[0].addOperation([.limit(hosts, key: "b"), .retry(.immediately(attempts: 3)), .clock(clock)]) {
            starts.record(Start(name: "b", second: second(clock)))
            if RetryPolicy.attempt! < 3 { throw WorkFailed() }
        }
        await advance(clock, seconds: 8)
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(starts.events.filter { $0.name == "a" }.map(\.second) == [0, 2, 4, 6])
        #expect(starts.events.filter { $0.name == "b" }.map(\.second) == [0, 2, 4])
        #expect(hosts.available == 16 && queues.allSatisfy { $0.claimCount == 0 })
    }

    @Test("A key that nothing uses keeps its used tokens, and is released when they are free again", .schedules(5))
    func idleKey() async throws {
        final class Host: Hashable, Sendable {
            static func == (one: Host, other: Host) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
        }
        let clock = ManualClock()
        let hosts = AsyncSemaphore(capacity: 4, ratePerKey: .one(per: .seconds(5)), clock: clock)
        let queue = TaskOperationQueue()
        weak var host: Host?
        do {
            let first = Host()
            host = first
            try await queue.addOperation(.limit(hosts, key: first)) {}.value
            try await queue.waitUntilAllOperationsAreFinished()
        }
        #expect(host != nil)
        let second = queue.addOperation(.limit(hosts, key: Host())) {}
        await advance(clock, seconds: 4)
        #expect(!second.isFinished)
        #expect(second.waitingReasons.first?.description.hasSuffix("without a token of its rate") == true)
        await advance(clock, seconds: 1)
        try await second.value
        await advance(clock, seconds: 6)
        #expect(host == nil)
        #expect(await eventually { hosts.storage.withLock { $0.state.keyCount } == 0 })
    }

    @Test("An operation that is cancelled before its start, or whose queue is suspended, uses no token", .schedules(10))
    func unusedTokens() async throws {
        let clock = ManualClock()
        let limit = AsyncSemaphore(capacity: 9, rate: .one(per: .seconds(9), burst: 2), clock: clock)
        let (gate, queue) = (Gate(), TaskOperationQueue(maxConcurrentOperationCount: 1))
        let holder = queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        let cancelled = (0..<5).map { _ in queue.addOperation(.limit(limit)) {} }
        await untilOthersWait()
        for operation in cancelled { operation.cancel() }
        queue.isSuspended = true
        gate.open()
        try await holder.value
        let pending = (0..<2).map { _ in queue.addOperation(.limit(limit)) {} }
        await untilOthersWait()
        queue.isSuspended = false
        for operation in pending { try await operation.value }
        #expect(clock.now.offset == .zero && !limit.tryAcquire())
    }

    @Test("A rate can be set and removed while tasks wait", .schedules(5))
    func changes() async throws {
        let clock = ManualClock()
        let semaphore = AsyncSemaphore(capacity: 9, clock: clock)
        #expect(semaphore.rate == nil && semaphore.ratePerKey == nil)
        semaphore.rate = .one(per: .seconds(9))
        #expect(semaphore.tryAcquire() && !semaphore.tryAcquire())
        async let waiting: Void = semaphore.acquire()
        await until { semaphore.waitingCount == 1 }
        semaphore.rate = .one(per: .seconds(2))
        #expect(semaphore.rate == .one(per: .seconds(2)))
        await advance(clock, seconds: 1)
        #expect(semaphore.waitingCount == 1)
        await advance(clock, seconds: 1)
        try await waiting
        async let another: Void = semaphore.acquire()
        await until { semaphore.waitingCount == 1 }
        semaphore.rate = nil
        try await another
    }

    @Test("A released semaphore is freed, even if a wake is planned")
    func memory() async throws {
        weak var released: AsyncSemaphore?
        do {
            let semaphore = AsyncSemaphore(capacity: 1, rate: .one(per: .seconds(1000)))
            released = semaphore
            #expect(semaphore.tryAcquire())
            let waiting = Task { try await semaphore.acquire() }
            await until { semaphore.waitingCount == 1 }
            waiting.cancel()
            _ = await waiting.result
        }
        #expect(await eventually { released == nil })
    }
}
