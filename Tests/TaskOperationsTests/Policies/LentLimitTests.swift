import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Limits in pauses between attempts", .inTurns, .endsInTime)
struct LentLimitTests {
    private let queue = TaskOperationQueue()
    private let other = TaskOperationQueue()
    private let clock = ManualClock()
    private let policy = RetryPolicy.exponential(initial: .seconds(1), attempts: 2)

    /// Adds an operation whose first attempt fails. Returns it during its pause.
    private func pausing(
        limits: [AsyncSemaphore], on queue: TaskOperationQueue? = nil,
        _ body: @escaping @Sendable (_ attempt: Int) async throws -> Void = { _ in }
    ) async throws -> TaskOperation<Int> {
        let operation = TaskOperation {
            try await body(RetryPolicy.attempt!)
            if RetryPolicy.attempt == 1 { throw WorkFailed() }
            return RetryPolicy.attempt!
        }
        try operation.addOptions(.limits(limits))
        try operation.addOptions([.retry(policy), .clock(clock)])
        try (queue ?? self.queue).addOperation(operation)
        await clock.waitForSleepers(1)
        return operation
    }

    @Test(
        "A limit without capacity holds back an attempt that follows at once", .schedules(20), arguments: [false, true])
    func noCapacity(hasKey: Bool) async throws {
        let limit = AsyncSemaphore(capacity: 2)
        let failed = Gate()
        let option: OperationOptions = hasKey ? .limit(limit, key: 1) : .limit(limit)
        let operation = queue.addOperation([option, .retry(.immediately(attempts: 2))]) {
            if RetryPolicy.attempt == 2 { return }
            if hasKey { limit.setCapacity(0, for: 1) } else { limit.capacity = 0 }
            failed.open()
            throw WorkFailed()
        }
        await failed.pass()
        await untilOthersWait()
        #expect(!operation.isFinished)
        if hasKey { limit.setCapacity(1, for: 1) } else { limit.capacity = 1 }
        try await operation.value
    }

    @Test("A pause lends the limits, and the next attempt has all of them again", .schedules(60))
    func lends() async throws {
        let limits = [AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 1)]
        let meter = ConcurrencyMeter()
        let operation = try await pausing(limits: limits) { _ in await meter.measure { await Task.yield() } }
        #expect(limits.map(\.available) == [1, 1])
        let gate = Gate()
        let users = limits.map { limit in
            other.addOperation(.limit(limit)) { await meter.measure { await gate.pass() } }
        }
        await gate.waitForArrivals(2)
        clock.advance(by: .seconds(1))
        for limit in limits { #expect(limit.available == 0) }
        gate.open()
        for user in users { try await user.value }
        #expect(try await operation.value == 2)
        #expect(meter.total == 4)
        #expect(limits.map(\.available) == [1, 1])
    }

    @Test("An attempt never executes beside an operation that has one of its limits", .schedules(100), arguments: 1...2)
    func exclusion(count: Int) async throws {
        let limits = (0..<count).map { _ in AsyncSemaphore(capacity: 1) }
        let meter = ConcurrencyMeter()
        let operations = (0..<4).map { number in
            let operation = TaskOperation {
                await meter.measure { await Task.yield() }
                if RetryPolicy.attempt! < 3 { throw WorkFailed() }
            }
            try! operation.addOptions(.limits(number % 2 == 0 ? limits : limits.reversed()))
            try! operation.addOptions([.retry(.exponential(initial: .milliseconds(1), attempts: 3)), .clock(clock)])
            return operation
        }
        for (number, operation) in operations.enumerated() {
            try (number < 2 ? queue : other).addOperation(operation)
        }
        while operations.contains(where: { !$0.isFinished }) {
            clock.advance(by: .milliseconds(2))
            await Task.yield()
        }
        #expect(meter.most == 1 && meter.total == 12)
        #expect(limits.allSatisfy { $0.available == 1 })
    }

    @Test("An operation that is cancelled in a pause ends without its limits, even if others hold them", .schedules(60))
    func cancelled() async throws {
        let limit = AsyncSemaphore(capacity: 1)
        let operation = try await pausing(limits: [limit])
        try await limit.acquire()
        clock.advance(by: .seconds(1))
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
        #expect(limit.available == 0)
        limit.release()
        #expect(limit.available == 1 && limit.waitingCount == 0)
    }

    @Test("An attempt that waits for its limits lets others of its queue execute", .schedules(60))
    func keepsNoPermit() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let limit = AsyncSemaphore(capacity: 1)
        let operation = try await pausing(limits: [limit], on: queue)
        try await limit.acquire()
        clock.advance(by: .seconds(1))
        try await queue.addOperation {}.value
        #expect(operation.isExecuting)
        limit.release()
        #expect(try await operation.value == 2)
    }

    @Test(
        "A body with a limit that awaits an operation is refused by name, if a pause of that operation lends the limit",
        .schedules(60))
    func cycle() async throws {
        let limit = AsyncSemaphore(capacity: 1)
        let operation = try await pausing(limits: [limit])
        let waiter = other.addOperation(.limit(limit)) { try await operation.value }
        do {
            _ = try await waiter.value
            Issue.record("the waiter was not refused")
        } catch TaskOperationError.waitCycle {
        }
        clock.advance(by: .seconds(1))
        #expect(try await operation.value == 2)
        #expect(await eventually { limit.available == 1 })
    }

    @Test("A pause keeps a limit of which the body that awaits the operation has another permit", .schedules(60))
    func awaitedByAHolder() async throws {
        let limit = AsyncSemaphore(capacity: 2)
        let (started, gate) = (Gate(), Gate())
        let operation = TaskOperation {
            if RetryPolicy.attempt == 1 {
                started.open()
                await gate.pass()
                throw WorkFailed()
            }
        }
        try operation.addOptions(.limit(limit))
        try operation.addOptions([.retry(policy), .clock(clock)])
        let waiter = other.addOperation(.limit(limit)) {
            await started.pass()
            try? await operation.value
        }
        try queue.addOperation(operation)
        await gate.waitForArrivals(1)
        // The test does not check the outcome, because it depends on the order of the bodies whether the wait is
        // refused.
        await untilOthersWait()
        gate.open()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        try await operation.value
        try await waiter.value
        #expect(await eventually { limit.available == 2 })
    }

    @Test("A serial queue that never lends lends the limits in a pause, and keeps its order", .schedules(20))
    func neverLending() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, lending: .never))
        let limit = AsyncSemaphore(capacity: 1)
        let operation = try await pausing(limits: [limit], on: queue)
        let next = queue.addOperation { operation.isFinished }
        #expect(limit.available == 1)
        try await limit.withPermit {}
        clock.advance(by: .seconds(1))
        #expect(try await operation.value == 2)
        #expect(try await next.value)
        #expect(await eventually { limit.available == 1 })
    }

    @Test("An urgent operation gets its limits back before others that wait for them", .schedules(40))
    func escalation() async throws {
        let limit = AsyncSemaphore(capacity: 1)
        let order = Recorder<String>()
        let operation = try await pausing(limits: [limit]) { if $0 == 2 { order.record("attempt") } }
        try await limit.acquire()
        let medium = other.addOperation([.priority(.medium), .limit(limit)]) { order.record("medium") }
        clock.advance(by: .seconds(1))
        await untilOthersWait()
        operation.priority = .high
        await untilOthersWait()
        limit.release()
        _ = try await (medium.value, operation.value)
        #expect(order.events == ["attempt", "medium"])
    }
}
