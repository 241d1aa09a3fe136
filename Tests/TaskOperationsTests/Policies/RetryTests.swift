import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Operations that are tried again", .inTurns, .endsInTime)
struct RetryTests {
    private let clock = ManualClock()

    @Test("the body runs until it succeeds, and knows the number of the attempt", .schedules(20))
    func untilItSucceeds() async throws {
        let queue = TaskOperationQueue()
        let operation = queue.addOperation(.retry(.immediately(attempts: 5))) {
            if RetryPolicy.attempt! < 3 { throw WorkFailed() }
            return RetryPolicy.attempt!
        }
        #expect(try await operation.value == 3)
        #expect(RetryPolicy.attempt == nil)
    }

    @Test("the last error is the outcome, and each attempt is told", .schedules(20))
    func lastError() async throws {
        let queue = TaskOperationQueue()
        let failures = Recorder<(error: WorkFailed?, number: Int, pause: Duration?, operation: AnyTaskOperation?)>()
        let policy = RetryPolicy.immediately(attempts: 3).reporting {
            failures.record(($0 as? WorkFailed, $1, $2, AnyTaskOperation.current))
        }
        let operation = queue.addOperation(.retry(policy)) {
            throw WorkFailed(number: RetryPolicy.attempt!)
        }
        await #expect(throws: WorkFailed(number: 3)) { try await operation.value }
        #expect(failures.events.map(\.number) == [1, 2, 3])
        #expect(failures.events.map(\.error) == (1...3).map { WorkFailed(number: $0) })
        #expect(failures.events.map(\.pause) == [.zero, .zero, nil])
        #expect(failures.events.allSatisfy { $0.operation === operation })
    }

    @Test("during a pause the permit is lent, and it is back for the next attempt", .schedules(50))
    func pauses() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (clock, order) = (ManualClock(), Recorder<String>())
        let operation = queue.addOperation([.retry(.exponential(initial: .seconds(1), attempts: 3)), .clock(clock)]) {
            order.record("attempt \(RetryPolicy.attempt!)")
            throw WorkFailed()
        }
        await clock.waitForSleepers(1)
        try await queue.addOperation { order.record("other") }.value
        let gate = Gate()
        let blocking = queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        clock.advance(by: .seconds(1))
        await untilOthersWait()
        order.record("released")
        gate.open()
        try await blocking.value
        await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(1999))
        await untilOthersWait()
        #expect(operation.isExecuting)
        clock.advance(by: .milliseconds(1))
        await #expect(throws: WorkFailed()) { try await operation.value }
        #expect(order.events == ["attempt 1", "other", "released", "attempt 2", "attempt 3"])
    }

    @Test("cancelling during a pause ends the operation at once, also if its permit is taken", .schedules(50))
    func cancelledInAPause() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let clock = ManualClock()
        let operation = queue.addOperation([.retry(.exponential(initial: .seconds(1), attempts: 9)), .clock(clock)]) {
            throw WorkFailed()
        }
        await clock.waitForSleepers(1)
        let gate = Gate()
        let blocking = queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
        #expect(!blocking.isFinished)
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        let meter = ConcurrencyMeter()
        for _ in 0..<3 { queue.addOperation { await meter.measure { await Task.yield() } } }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(meter.most == 1)
    }

    @Test("a body that throws after it was cancelled is not tried again", .schedules(20))
    func cancelledInAnAttempt() async throws {
        let queue = TaskOperationQueue()
        let (gate, runs) = (Gate(), ConcurrencyMeter())
        let operation = queue.addOperation(.retry(.immediately(attempts: 9))) {
            runs.enter()
            await gate.pass()
            throw WorkFailed()
        }
        await gate.waitForArrivals(1)
        operation.cancel()
        gate.open()
        await #expect(throws: WorkFailed()) { try await operation.value }
        #expect(runs.total == 1)
    }

    @Test("the values of a failed attempt are released before the pause", .schedules(20))
    func nothingIsKept() async throws {
        struct Heavy: Error { let load: Witness }
        let queue = TaskOperationQueue()
        let (clock, freed) = (ManualClock(), Gate())
        let operation = queue.addOperation([.retry(.exponential(initial: .seconds(1), attempts: 2)), .clock(clock)]) {
            if RetryPolicy.attempt == 1 { throw Heavy(load: Witness(freed)) }
        }
        await clock.waitForSleepers(1)
        #expect(freed.isOpen)
        clock.advance(by: .seconds(1))
        try await operation.value
    }

    @Test("a function decides, and an error that is not transient ends it", .schedules(20))
    func ownDecision() async throws {
        let queue = TaskOperationQueue()
        let policy = RetryPolicy { error, attempt in error is WorkFailed && attempt < 3 ? .seconds(-1) : nil }
        let operation = queue.addOperation(.retry(policy)) { throw WorkFailed(number: RetryPolicy.attempt!) }
        await #expect(throws: WorkFailed(number: 3)) { try await operation.value }
        let once = queue.addOperation(.retry(.immediately(attempts: 5).only { !($0 is WorkFailed) })) {
            throw WorkFailed(number: RetryPolicy.attempt!)
        }
        await #expect(throws: WorkFailed(number: 1)) { try await once.value }
    }

    @Test("an input that failed is not waited for again", .schedules(20))
    func failedInput() async throws {
        let queue = TaskOperationQueue()
        let failures = Recorder<Int>()
        let input = TaskOperation<Int>(name: "input") { throw WorkFailed() }
        let operation = TaskOperation(after: input) { $0 }
        let policy = RetryPolicy.immediately(attempts: 5).reporting { _, attempt, _ in failures.record(attempt) }
        try operation.addOptions(.retry(policy))
        try queue.addOperations([input, operation])
        _ = await operation.result
        #expect(operation.refusal?.failedDependency?.origin == "input")
        #expect(failures.events == [1])
        #expect(refusal { try operation.addOptions(.timeout(.seconds(1))) }?.alreadyStarted == nil)
    }

    @Test("pauses grow up to the longest, and the seed of the jitter repeats them")
    func exponentialPauses() async throws {
        let policy = RetryPolicy.exponential(
            initial: .milliseconds(100), factor: 3, maximum: .seconds(1), attempts: 6)
        #expect(try await pauses(policy) == [100, 300, 900, 1000, 1000].map { .milliseconds($0) })
        let endless = RetryPolicy.exponential(
            initial: .seconds(1), factor: 1e300, maximum: .seconds(Int64.max), attempts: 4)
        #expect(try await pauses(endless).last == .seconds(Int64.max))
        func jittered(seed: UInt64?) -> RetryPolicy {
            .exponential(initial: .seconds(1), factor: 1, jitter: 0.5, attempts: 20, seed: seed)
        }
        let first = try await pauses(jittered(seed: 5))
        #expect(try await pauses(jittered(seed: 5)) == first)
        #expect(try await pauses(jittered(seed: 6)) != first)
        #expect(try await pauses(jittered(seed: nil)) != first)
        #expect(first.allSatisfy { $0 > .milliseconds(499) && $0 <= .seconds(1) })
        #expect(Set(first).count > 15)
    }

    @Test("An exponential pause takes hardly more time after ten million attempts than after a hundred")
    func lateAttempt() throws {
        let policy = RetryPolicy.exponential(
            initial: .seconds(1), factor: 1.000_000_01, maximum: .seconds(100), attempts: .max)
        let ratio = bestRatio(within: 50) { isLarge in
            processorTime { _ = policy.delay(after: WorkFailed(), attempt: isLarge ? 10_000_000 : 100) }
        }
        #expect(ratio < 50)
        let pause = try #require(policy.delay(after: WorkFailed(), attempt: 10_000_001))
        #expect(abs(pause / .seconds(1) - 1.105_170_918) < 1e-6)
    }

    @Test("Numbers of attempts that another system reports may be 0, negative or as large as possible", .prompt)
    func reportedAttempts() async {
        await #expect(processExitsWith: .success) {
            let policy = RetryPolicy.exponential(initial: .seconds(1), maximum: .seconds(60), attempts: .max)
            for attempt in [1, 0, -1, .min] {
                #expect(policy.delay(after: WorkFailed(), attempt: attempt) == .seconds(1))
            }
            #expect(policy.delay(after: WorkFailed(), attempt: .max - 1) == .seconds(60))
            #expect(policy.delay(after: WorkFailed(), attempt: .max) == nil)
            let linear = RetryPolicy { _, attempt in .seconds(attempt) }
            #expect(linear.delay(after: WorkFailed(), attempt: -7) == .seconds(1))
        }
    }

    /// Returns the pauses of a policy, measured with a clock that does not wait.
    private func pauses(_ policy: RetryPolicy) async throws -> [Duration] {
        let pauses = Recorder<Duration>()
        let operation = TaskOperation { throw WorkFailed() }
        try operation.addOptions([
            .retry(policy.reporting { _, _, pause in if let pause { pauses.record(pause) } }), .clock(HastyClock()),
        ])
        try operation.start()
        await #expect(throws: WorkFailed()) { try await operation.value }
        return pauses.events
    }

    @Test("a thousand attempts grow nothing, and a clock that fails counts as passed")
    func manyAttempts() async throws {
        let operation = TaskOperation { if RetryPolicy.attempt! < 1000 { throw WorkFailed() } }
        try operation.addOptions([.retry(.exponential(initial: .seconds(1), attempts: 1000)), .clock(HastyClock())])
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        try queue.addOperation(operation)
        try await operation.value
    }

    @Test("policies of an operation that has started are refused")
    func tooLate() async throws {
        let gate = Gate()
        let operation = TaskOperation(name: "late") { await gate.pass() }
        try operation.start()
        await gate.waitForArrivals(1)
        #expect(refusal { try operation.addOptions(.retry(.immediately(attempts: 2))) }?.alreadyAdded == "late")
        gate.open()
        try await operation.value
    }
}

/// A clock whose sleeps all throw at once.
struct HastyClock: Clock {
    struct Failure: Error {}

    var now: ManualClock.Instant { ManualClock.Instant() }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        throw Failure()
    }
}

@Suite("Retries that follow at once", .inTurns, .prompt, .endsInTime)
struct ImmediateRetryTests {
    /// Runs in a separate process, because the bodies use all threads of the pool.
    @Test("As many of them as there are processors are ended by their timeouts")
    func timeouts() async {
        await #expect(processExitsWith: .success) {
            let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: .max))
            let limit = AsyncSemaphore(capacity: 100, rate: .perSecond(1_000_000_000, burst: 1_000_000_000))
            let operations = (0..<4 * TaskOperationQueue.defaultMaxConcurrentOperationCount).map { number in
                let limits: OperationOptions = number % 2 == 0 ? .limit(limit) : OperationOptions()
                return queue.addOperation([.timeout(.milliseconds(10)), .retry(.immediately(attempts: .max)), limits]) {
                    throw WorkFailed(number: number)
                }
            }
            for operation in operations {
                let error = await #expect(throws: TaskOperationError.self) { try await operation.value }
                guard case .timedOut = error else { preconditionFailure("\(String(describing: error))") }
            }
            let tasks = (0..<2 * TaskOperationQueue.defaultMaxConcurrentOperationCount).map { number in
                Task { try await retrying(.immediately(attempts: .max)) { throw WorkFailed(number: number) } as Void }
            }
            try await Task.sleep(for: .milliseconds(10))
            for task in tasks { task.cancel() }
            for task in tasks { _ = await task.result }
        }
    }
}

@Suite("Bad values of a retry policy stop with a message", .inTurns, .prompt, .endsInTime)
struct RetryBadValueTests {
    @Test("attempts, and pauses")
    func values() async {
        let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPolicy.immediately(attempts: 0)
        }
        #expect(none.errorText.contains("attempts is 0; it must be at least 1"))
        let negative = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPolicy.exponential(initial: .seconds(-1), attempts: 2)
        }
        #expect(negative.errorText.contains("initial is -1.0 seconds; it must not be negative"))
        let shrinking = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPolicy.exponential(initial: .seconds(1), factor: 0.5, attempts: 2)
        }
        #expect(shrinking.errorText.contains("factor is 0.5; it must be at least 1"))
        let short = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPolicy.exponential(initial: .seconds(9), maximum: .seconds(1), attempts: 2)
        }
        #expect(short.errorText.contains("maximum is 1.0 seconds; it must not be shorter than initial, 9.0 seconds"))
        let jitter = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPolicy.exponential(initial: .seconds(1), jitter: 1.5, attempts: 2)
        }
        #expect(jitter.errorText.contains("jitter is 1.5; it must be from 0 to 1"))
    }
}
