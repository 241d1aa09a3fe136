import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Costs and pauses of limits", .inTurns, .endsInTime)
struct AsyncSemaphoreCostTests {
    private struct Start: Equatable, Sendable {
        let name: String
        let second: Int64

        init(_ name: String, _ second: Int64) { (self.name, self.second) = (name, second) }
    }

    private struct Refused: Error {
        let retryAfter: Duration?
    }

    private let clock = ManualClock()
    private let queue = TaskOperationQueue(maxConcurrentOperationCount: 8)
    private let starts = Recorder<Start>()

    private func advance(seconds: Int) async {
        for _ in 0..<seconds {
            await untilOthersWait()
            clock.advance(by: .seconds(1))
        }
        await untilOthersWait()
    }

    private func record(_ name: String) { starts.record(Start(name, clock.now.offset.components.seconds)) }

    // MARK: - Costs

    @Test("An operation starts when the rate has the tokens of its cost", .schedules(10))
    func costs() async throws {
        let limit = AsyncSemaphore(capacity: 9, rate: .one(per: .seconds(1), burst: 4), clock: clock)
        for (name, cost) in [("a", 3), ("b", 2), ("c", 4), ("d", 1)] {
            queue.addOperation(.limit(limit, cost: cost)) { record(name) }
        }
        await advance(seconds: 7)
        #expect(starts.events == [Start("a", 0), Start("b", 1), Start("c", 5), Start("d", 6)])
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(limit.available == 9)
    }

    @Test("A cost of a key delays no other key, and each key has its own windows", .schedules(10))
    func keys() async throws {
        let limit = AsyncSemaphore(
            capacity: 9, ratePerKey: [.one(per: .seconds(1), burst: 4), .one(per: .seconds(3), of: .starts)],
            clock: clock)
        for (key, cost) in [("a", 4), ("a", 2), ("b", 1), ("b", 3), ("a", 9)] {
            queue.addOperation(.limit(limit, key: key, cost: cost)) { record("\(key)\(cost)") }
        }
        await advance(seconds: 9)
        #expect(starts.events.filter { $0.name.hasPrefix("a") } == [Start("a4", 0), Start("a2", 3), Start("a9", 6)])
        #expect(starts.events.filter { $0.name.hasPrefix("b") } == [Start("b1", 0), Start("b3", 3)])
        // The last cost of a was an overdraft.
        let late = queue.addOperation(.limit(limit, key: "a", cost: 1)) { record("late") }
        await advance(seconds: 2)
        #expect(!late.isFinished)
        await advance(seconds: 2)
        try await late.value
        await advance(seconds: 20)
        #expect(await eventually { limit.storage.withLock { $0.state.keyCount } == 0 })
    }

    @Test(
        "A lower actual cost lets others start at once, and a higher one delays them", .schedules(10),
        arguments: [nil, "a"])
    func settling(key: String?) async throws {
        let rate = OperationRate.one(per: .seconds(1), burst: 5)
        let limit = AsyncSemaphore(
            capacity: 9, rate: key == nil ? rate : nil, ratePerKey: key == nil ? nil : rate, clock: clock)
        let gates = [Gate(), Gate()]
        let low = queue.addOperation(.limit(limit, key: key, cost: 5)) {
            await gates[0].pass()
            return limit.settle(1)
        }
        let second = queue.addOperation(.limit(limit, key: key, cost: 4)) {
            record("second")
            await gates[1].pass()
            return limit.settle(9)
        }
        let third = queue.addOperation(.limit(limit, key: key)) { record("third") }
        await gates[0].waitForArrivals(1)
        gates[0].open()
        #expect(try await low.value)
        await gates[1].waitForArrivals(1)
        gates[1].open()
        #expect(try await second.value)
        await advance(seconds: 5)
        #expect(starts.events == [Start("second", 0)] && !third.isFinished)
        #expect(third.waitingReasons.first?.description.hasSuffix("without a token of its rate") == true)
        await advance(seconds: 1)
        #expect(starts.events == [Start("second", 0), Start("third", 6)])
        try await third.value
    }

    @Test("The last correction of an attempt applies, and each attempt costs again", .schedules(10))
    func attempts() async throws {
        let limit = AsyncSemaphore(capacity: 9, rate: .one(per: .seconds(1), burst: 9), clock: clock)
        let policy = RetryPolicy.immediately(attempts: 3).reporting { _, attempt, _ in
            if attempt == 2 { limit.settle(0) }
        }
        let operation = queue.addOperation([.limit(limit, cost: 4), .retry(policy), .clock(clock)]) {
            for cost in [7, 2, 3] { limit.settle(cost) }
            if RetryPolicy.attempt! < 3 { throw WorkFailed() }
        }
        try await operation.value
        // The attempts cost 3, 0 and 3.
        await #expect(untilTokens(3, of: limit) == 0)
        await #expect(untilTokens(1, of: limit) == 1)
    }

    /// The seconds until a start of a cost.
    private func untilTokens(_ cost: Int, of limit: AsyncSemaphore) async -> Int {
        let operation = queue.addOperation(.limit(limit, cost: cost)) {}
        var seconds = 0
        await untilOthersWait()
        while !operation.isFinished, seconds < 100 {
            await advance(seconds: 1)
            seconds += 1
        }
        return seconds
    }

    @Test("A correction outside of a body with the limit has no effect", .schedules(10))
    func foreign() async throws {
        let limit = AsyncSemaphore(capacity: 9, rate: .one(per: .seconds(1), burst: 2), clock: clock)
        let other = AsyncSemaphore(capacity: 9)
        #expect(!limit.settle(9))
        let operation = queue.addOperation(.limit(limit, cost: 1)) {
            #expect(!other.settle(9))
            #expect(await !Task { limit.settle(9) }.value, "an unstructured task is not the body")
            async let ofChild = limit.settle(0)
            #expect(await ofChild, "a child task is")
        }
        operation.whenFinished { _ in #expect(!limit.settle(9)) }
        try await operation.value
        try await limit.withPermit { #expect(!limit.settle(9)) }
        await #expect(untilTokens(1, of: limit) == 0)
        await #expect(untilTokens(1, of: limit) == 1)
    }

    @Test("A body that its timeout has abandoned corrects its cost", .schedules(10))
    func abandoned() async throws {
        let limit = AsyncSemaphore(capacity: 9, rate: .one(per: .seconds(1), burst: 3), clock: clock)
        let gate = Gate()
        let operation = queue.addOperation(
            [.limit(limit, cost: 3), .timeout(.seconds(1)), .overrun(.abandon), .clock(clock)]
        ) {
            await gate.pass()
            #expect(limit.settle(1))
        }
        await gate.waitForArrivals(1)
        await advance(seconds: 1)
        await #expect(throws: TaskOperationError.self) { try await operation.value }
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        await #expect(untilTokens(3, of: limit) == 0)
    }

    @Test("Costs of 0 and of the highest number start, and the debt delays later starts", .schedules(5))
    func extremeCosts() async throws {
        let limit = AsyncSemaphore(capacity: 9, rate: [.perMinute(60, burst: 1), .perSecond(1)], clock: clock)
        for cost in [0, 0, .max] { try await queue.addOperation(.limit(limit, cost: cost)) {}.value }
        let late = queue.addOperation(.limit(limit, cost: 0)) {}
        await advance(seconds: 1)
        clock.advance(by: .seconds(1_000_000_000))
        await untilOthersWait()
        #expect(!late.isFinished)
        late.cancel()
        let settled = AsyncSemaphore(capacity: 9, rate: .perDay(1), clock: clock)
        try await queue.addOperation(.limit(settled, cost: .max)) {
            for cost in [0, .max, 0, .max, 0] { settled.settle(cost) }
        }.value
        await #expect(untilTokens(1, of: settled) == 0)
    }

    @Test("A combination limits a queue, too", .schedules(5))
    func queueRates() async throws {
        let queue = TaskOperationQueue(
            .init(
                maxConcurrentOperationCount: 9,
                rate: [.one(per: .seconds(1), burst: 2), .one(per: .seconds(10), burst: 3)], clock: clock))
        for number in 0..<4 { queue.addOperation { record("\(number)") } }
        await advance(seconds: 10)
        #expect(starts.events.map(\.second) == [0, 0, 1, 10])
        try await queue.waitUntilAllOperationsAreFinished()
    }

    // MARK: - Pauses

    @Test("A pause holds back starts, tasks and attempts, and ends by itself", .schedules(10))
    func pauses() async throws {
        let limit = AsyncSemaphore(capacity: 9, clock: clock)
        let gate = Gate()
        let executing = queue.addOperation([.limit(limit), .retry(.immediately(attempts: 2)), .clock(clock)]) {
            record("attempt")
            if RetryPolicy.attempt == 1 {
                await gate.pass()
                throw WorkFailed()
            }
        }
        await gate.waitForArrivals(1)
        limit.pause(for: .seconds(4))
        limit.pause(for: .seconds(2))
        limit.pause(for: .zero)
        limit.pause(for: .seconds(-1))
        gate.open()
        let operation = queue.addOperation(.limit(limit, key: "a")) { record("operation") }
        let task = Task { try await limit.withPermit { record("task") } }
        await advance(seconds: 3)
        #expect(limit.isPaused() && limit.isPaused(key: "a"))
        #expect(starts.events == [Start("attempt", 0)])
        #expect(operation.waitingReasons.first?.description.hasSuffix("paused") == true)
        await advance(seconds: 1)
        for operation in [executing, operation] { try await operation.value }
        try await task.value
        #expect(Set(starts.events.dropFirst().map(\.second)) == [4] && starts.events.count == 4)
        #expect(limit.storage.withLock { $0.state.isSteady } && limit.available == 9)
    }

    @Test("A pause of a key delays no other key, and the key is released after it", .schedules(10))
    func keyPause() async throws {
        let limit = AsyncSemaphore(capacity: 9, clock: clock)
        limit.pause(until: clock.now.advanced(by: .seconds(3)), key: "a", clock: clock)
        limit.pause(until: clock.now.advanced(by: .seconds(-3)), key: "b", clock: clock)
        for key in ["a", "b", nil] { queue.addOperation(.limit(limit, key: key)) { record(key ?? "none") } }
        await advance(seconds: 2)
        #expect(limit.isPaused(key: "a") && !limit.isPaused(key: "b") && !limit.isPaused())
        #expect(Set(starts.events.map(\.name)) == ["b", "none"])
        #expect(limit.storage.withLock { $0.state.keyCount } == 1)
        await advance(seconds: 1)
        #expect(starts.events.last == Start("a", 3))
        #expect(!limit.isPaused(key: "a"))
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(await eventually { limit.storage.withLock { $0.state.keyCount } == 0 })
    }

    @Test("A policy pauses the key of the attempt that another system refused", .schedules(10))
    func pausing() async throws {
        let limit = AsyncSemaphore(capacity: 9, clock: clock)
        let policy = RetryPolicy.immediately(attempts: 2).pausing(limit) { ($0 as? Refused)?.retryAfter }
        let refused = queue.addOperation([.limit(limit, key: "a"), .retry(policy), .clock(clock)]) {
            record("refused")
            if RetryPolicy.attempt == 1 { throw Refused(retryAfter: .seconds(5)) }
        }
        await untilOthersWait()
        for key in ["a", "b"] { queue.addOperation(.limit(limit, key: key)) { record(key) } }
        await advance(seconds: 4)
        #expect(starts.events == [Start("refused", 0), Start("b", 0)])
        await advance(seconds: 1)
        try await refused.value
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(Set(starts.events.suffix(2).map(\.name)) == ["refused", "a"])
        #expect(starts.events.suffix(2).allSatisfy { $0.second == 5 })
    }

    @Test("A policy without an operation or without a further attempt pauses the limit", .schedules(10))
    func pausingInTotal() async throws {
        let limit = AsyncSemaphore(capacity: 9, clock: clock)
        let policy = RetryPolicy { _, _ in nil }.pausing(limit) { ($0 as? Refused)?.retryAfter }
        await #expect(throws: Refused.self) { try await retrying(policy) { throw Refused(retryAfter: nil) } }
        #expect(limit.tryAcquire())
        await #expect(throws: Refused.self) { try await retrying(policy) { throw Refused(retryAfter: .seconds(2)) } }
        #expect(!limit.tryAcquire())
        clock.advance(by: .seconds(2))
        #expect(limit.tryAcquire())
    }

    @Test(
        "A pause of any length can be set",
        arguments: [Duration.seconds(Int64.max) * 15, Duration(attoseconds: .max)])
    func longPause(pause: Duration) {
        let limit = AsyncSemaphore(capacity: 9, clock: clock)
        limit.pause(for: pause)
        limit.pause(for: pause, key: "a")
        clock.advance(by: .seconds(1_000_000_000))
        #expect(!limit.tryAcquire())
    }

    // MARK: - Wrong calls

    @Test("A negative cost stops the process with the name of the limit and the remedy", .prompt)
    func negativeCost() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = OperationOptions.limit(AsyncSemaphore(capacity: 1, name: "model"), cost: -3)
        }
        #expect(
            result.errorText.contains(
                """
                The cost of an operation at semaphore "model" is -3; it must not be negative. Pass 0 for an operation \
                that costs nothing.
                """))
        let settled = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            AsyncSemaphore(capacity: 1, name: "model").settle(.min)
        }
        #expect(settled.errorText.contains("at semaphore \"model\" is -9223372036854775808; it must not be negative."))
    }

    @Test("A rate without a count stops the process with a message", .prompt)
    func wrongRates() async {
        let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = AsyncSemaphore(capacity: 1, rate: [])
        }
        #expect(none.errorText.contains("the list of rates is empty. Pass nil for no rate."))
        let zero = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = OperationRate.perMinute(0)
        }
        #expect(zero.errorText.contains("the count of the rate is 0; it must be from 1 to"))
        let burst = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = OperationRate.perDay(10, burst: 11)
        }
        #expect(burst.errorText.contains("the burst of the rate is 11; it must be from 1 to 10, its count."))
    }
}
