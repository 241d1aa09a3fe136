import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Operations with limited time", .inTurns, .endsInTime)
struct TimeoutTests {
    private let clock = ManualClock()
    private let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)

    @Test("the body is cancelled when its time is over, and the outcome names the operation and the limit")
    func timeout() async throws {
        let never = Gate()
        let operation = queue.addOperation(name: "slow", [.timeout(.seconds(5)), .clock(clock)]) {
            try await clock.sleep(for: .seconds(60))
        }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: TaskOperationError.self) { try await operation.value }
        #expect(error?.timedOut?.name == "slow")
        #expect(error?.timedOut?.limit == .seconds(5))
        #expect(operation.isCancelled)
        #expect("\(error!)".contains("\"slow\" did not finish within its timeout of 5.0 seconds"))
        #expect(never.arrivals == 0)
    }

    @Test("the limit begins with the body, the deadline with the adding")
    func beginnings() async throws {
        queue.isSuspended = true
        let (gate, other) = (Gate(), Gate())
        let limited = queue.addOperation([.timeout(.seconds(5)), .clock(clock)]) { await gate.pass() }
        let due = queue.addOperation([.timeout(untilEnd: .seconds(5)), .clock(clock)]) { await other.pass() }
        clock.advance(by: .seconds(5))
        #expect(await timedOut(due) == .seconds(5))
        #expect(!limited.isFinished)
        queue.isSuspended = false
        await gate.waitForArrivals(1)
        gate.open()
        try await limited.value
        #expect(other.arrivals == 0)
        await until { clock.sleeperCount == 0 }
    }

    @Test("the deadline finishes an operation with unfinished dependencies, and its dependents start")
    func pending() async throws {
        let need = TaskOperation {}
        let operation = queue.addOperation(dependencies: [need], [.timeout(untilEnd: .seconds(1)), .clock(clock)]) {}
        let dependent = queue.addOperation(dependencies: [operation]) { 1 }
        clock.advance(by: .seconds(1))
        #expect(await timedOut(operation) == .seconds(1))
        #expect(try await dependent.value == 1)
    }

    @Test("A time limit passes at its time, although the sleeps of the clock end early")
    func earlySleeps() async throws {
        let clock = SteppingClock()
        let still = ManualClock()
        let operation = queue.addOperation([.timeout(.seconds(10)), .clock(clock)]) {
            try await still.sleep(for: .seconds(1))
        }
        #expect(await timedOut(operation) == .seconds(10))
        #expect(clock.now.offset >= .seconds(10))
    }

    @Test("a body that ends in time, or fails, has its own outcome, and nothing sleeps on")
    func inTime() async throws {
        #expect(
            try await queue.addOperation([.timeout(.seconds(1)), .timeout(untilEnd: .seconds(2)), .clock(clock)]) { 1 }
                .value == 1)
        let failing = queue.addOperation([.timeout(.seconds(1)), .clock(clock)]) { throw WorkFailed() }
        await #expect(throws: WorkFailed()) { try await failing.value }
        await until { clock.sleeperCount == 0 }
    }

    @Test("of several limits the earliest counts", arguments: [(3, 5, 3), (5, 3, 3)])
    func several(limit: Int, deadline: Int, earliest: Int) async throws {
        let operation = queue.addOperation([
            .timeout(.seconds(limit)), .timeout(untilEnd: .seconds(deadline)), .clock(clock),
        ]) {
            try await clock.sleep(for: .seconds(60))
        }
        await until { clock.sleeperCount == 2 }
        // Both limits pass in the same step of the clock. The earlier one is reported.
        clock.advance(by: .seconds(60 - 1))
        #expect(await timedOut(operation) == .seconds(earliest))
    }

    @Test(
        "a body that ignores its cancellation is waited for, and its value is the outcome",
        arguments: [.timeout(.seconds(1)), .timeout(untilEnd: .seconds(1))] as [OperationOptions])
    func ignoringWaitedFor(_ limit: OperationOptions) async throws {
        let gate = Gate()
        let operation = queue.addOperation([limit, .clock(clock)]) {
            await gate.pass()
            return 5
        }
        await gate.waitForArrivals(1)
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        await until { operation.isCancelled }
        #expect(operation.isExecuting)
        gate.open()
        #expect(try await operation.value == 5)
    }

    @Test("an attempt that returns a value after its time is not made again")
    func lateValue() async throws {
        let (gate, attempts) = (Gate(), Recorder<Int>())
        let operation = queue.addOperation([
            .timeout(perAttempt: .seconds(1)), .retry(.immediately(attempts: 3)), .clock(clock),
        ]) {
            attempts.record(RetryPolicy.attempt ?? 0)
            await gate.pass()
            return "receipt"
        }
        await gate.waitForArrivals(1)
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        await until { clock.sleeperCount == 0 }
        gate.open()
        #expect(try await operation.value == "receipt")
        #expect(attempts.events == [1])
    }

    @Test("an operation that was cancelled before its time is over is not timed out, as ProcedureKit has it")
    func cancelledBefore() async throws {
        let gate = Gate()
        let operation = queue.addOperation([.timeout(.seconds(1)), .clock(clock)]) {
            await gate.pass()
            throw WorkFailed()
        }
        await gate.waitForArrivals(1)
        await until { clock.sleeperCount == 1 }
        operation.cancel()
        clock.advance(by: .seconds(1))
        await until { clock.sleeperCount == 0 }
        gate.open()
        await #expect(throws: WorkFailed()) { try await operation.value }
    }

    @Test("all attempts of a retried body share the limit, and a pause ends with it")
    func retried() async throws {
        let operation = queue.addOperation([
            .retry(.exponential(initial: .seconds(1), factor: 1, attempts: 100)), .timeout(.seconds(3)),
            .clock(clock),
        ]) {
            throw WorkFailed()
        }
        for second in 1...3 {
            await until { clock.sleeperCount == 2 || operation.isFinished }
            clock.advance(by: .seconds(1))
            if second < 3 { #expect(!operation.isFinished) }
        }
        #expect(await timedOut(operation) == .seconds(3))
    }

    @Test("A timeout of each attempt cancels the attempt only, and the next one runs", .schedules(20))
    func limitOfEachAttempt() async throws {
        let (clock, attempts) = (ManualClock(), Recorder<Duration>())
        let queue = TaskOperationQueue()
        let options: OperationOptions = [
            .timeout(perAttempt: .seconds(5)), .retry(.immediately(attempts: 3)), .clock(clock),
        ]
        let operation = queue.addOperation(name: "tried", options) {
            attempts.record(clock.now.offset)
            if RetryPolicy.attempt == 3 { return AnyTaskOperation.current?.name }
            try await clock.sleep(for: .seconds(60))
            return nil
        }
        for number in 1...2 {
            await until { attempts.events.count == number }
            await clock.waitForSleepers(1)
            clock.advance(by: .seconds(5))
        }
        #expect(try await operation.value == "tried")
        #expect(attempts.events == [.zero, .seconds(5), .seconds(10)])
    }

    @Test("The last attempt that takes too long fails the operation with its limit", .schedules(20))
    func lastAttempt() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue()
        let options: OperationOptions = [.timeout(perAttempt: .seconds(5)), .clock(clock)]
        let operation = queue.addOperation(options) { try await clock.sleep(for: .seconds(60)) }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        #expect(await timedOut(operation) == .seconds(5))
        #expect(!operation.isCancelled)
    }

    @Test("Cancelling an operation cancels an attempt with a limit", .schedules(20))
    func cancelledAttempt() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue()
        let options: OperationOptions = [
            .timeout(perAttempt: .seconds(5)), .retry(.immediately(attempts: 9)), .clock(clock),
        ]
        let operation = queue.addOperation(options) { try await clock.sleep(for: .seconds(60)) }
        await clock.waitForSleepers(1)
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
    }

    @Test("an operation that was made before gets a deadline as it is added, once")
    func madeBefore() async throws {
        let operation = TaskOperation(name: "made") { try await clock.sleep(for: .seconds(60)) }
        try operation.addOptions([.timeout(untilEnd: .seconds(2)), .clock(clock)])
        try queue.addOperation(operation)
        #expect(refusal { try operation.addOptions(.timeout(untilEnd: .seconds(1))) }?.alreadyAdded == "made")
        await until { clock.sleeperCount == 2 }
        clock.advance(by: .seconds(2))
        #expect(await timedOut(operation) == .seconds(2))
    }

    @Test("a clock that jumps far ahead, and a limit beyond all time, are limits like others")
    func jumps() async throws {
        let endless = queue.addOperation([
            .timeout(.seconds(Int64.max)), .timeout(untilEnd: .seconds(Int64.max) * 3), .clock(clock),
        ]) {
            try await clock.sleep(for: .seconds(1))
            return 1
        }
        await until { clock.sleeperCount == 2 }
        clock.advance(by: .seconds(1))
        #expect(try await endless.value == 1)
        let late = queue.addOperation([.timeout(.seconds(1)), .clock(clock)]) {
            try await clock.sleep(for: .seconds(9))
        }
        await until { clock.sleeperCount == 2 }
        clock.advance(by: .seconds(86_400 * 365 * 100))
        // The outcome depends on the order in which the clock ends the two sleeps.
        _ = await late.result
        let none = queue.addOperation([.timeout(untilEnd: .zero), .clock(clock)]) {
            try await clock.sleep(for: .seconds(1))
        }
        #expect(await timedOut(none) == .zero)
    }

    @Test(
        "an operation whose time is over at its addition fails without a start",
        arguments: [
            .deadline(.now - .seconds(1)), .timeout(untilEnd: .zero), .timeout(untilStart: .zero),
            [.deadline(.now - .seconds(1)), .overrun(.abandon), .delay(.seconds(1000))],
        ] as [OperationOptions])
    func overAtAddition(options: OperationOptions) async throws {
        let (bodies, ends) = (ConcurrencyMeter(), ConcurrencyMeter())
        let (idle, byDefault) = (TaskOperationQueue(), TaskOperationQueue(.init(defaults: options)))
        let full = TaskOperationQueue(.init(maxQueuedOperationCount: 1, overflow: .dropOldest, isSuspended: true))
        let kept = full.addOperation {}
        for _ in 0..<50 {
            let added = TaskOperation(options) { bodies.enter() }
            let started = TaskOperation(options) { bodies.enter() }
            let waiting = TaskOperation(options) { bodies.enter() }
            try idle.addOperations([added])
            try started.start()
            try await full.addOperationWaitingForRoom(waiting)
            let operations = [
                added, started, waiting, idle.addOperation(options) { bodies.enter() },
                byDefault.addOperation { bodies.enter() }, full.addOperation(options) { bodies.enter() },
                idle.addBarrier(options) { bodies.enter() },
            ]
            for operation in operations {
                let error = try #require(operation.failure as? TaskOperationError)
                #expect(error.timedOut?.limit == .zero || error.notStarted?.limit == .zero, "\(error)")
                operation.addCompletionHandler { ends.enter() }
            }
            try await idle.addOperation(dependencies: operations) {}.value
        }
        try await idle.waitUntilAllOperationsAreFinished()
        #expect(bodies.total == 0)
        await until { ends.total == 50 * 7 }
        #expect(full.operations == [kept])
        full.cancelAllOperations()
    }

    @Test("a batch that is refused does not end an operation whose time is over")
    func overInRefusedBatch() throws {
        let late = TaskOperation(.timeout(untilEnd: .zero)) {}
        let (first, second) = (TaskOperation(name: "first") {}, TaskOperation(name: "second") {})
        let queue = TaskOperationQueue(.init(isSuspended: true))
        try second.addDependency(first)
        try queue.addOperation(second)
        queue.addBarrier {}
        #expect(refusal { try queue.addOperations([late, first]) }?.dependencyCycle != nil)
        #expect(!late.isFinished)
        try queue.addOperation(late)
        #expect(late.refusal?.timedOut?.limit == .zero)
        queue.cancelAllOperations()
    }

    @Test("the queue and the captured values are released with the operation")
    func freed() async throws {
        let freed = Gate()
        do {
            let witness = Witness(freed)
            let operation = queue.addOperation([.timeout(.seconds(1)), .timeout(untilEnd: .seconds(5)), .clock(clock)])
            {
                _ = witness
            }
            try await operation.value
        }
        await until { freed.isOpen }
        await until { clock.sleeperCount == 0 }
    }

    @Test("limits that pass race with ends, and each operation ends once, with an outcome that fits")
    func storm() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let ends = ConcurrencyMeter()
        await concurrentPerform(over: 0..<2000, width: 4, stride: 50) { [clock] number in
            let operation = queue.addOperation([
                .timeout(.seconds(number % 5)), .timeout(untilEnd: .seconds(number % 7)),
                .overrun(number % 2 == 0 ? .abandon : .wait), .clock(clock),
            ]) {
                await Task.yield()
            }
            operation.addCompletionHandler { ends.enter() }
            if number % 3 == 0 { operation.cancel() }
            if number % 5 == 0 { clock.advance(by: .seconds(1)) }
        }
        clock.advance(by: .seconds(7))
        try await queue.waitUntilAllOperationsAreFinished()
        await until { ends.total == 2000 }
        await until { clock.sleeperCount == 0 }
        let together = Gate()
        for _ in 0..<4 { queue.addOperation { await together.pass() } }
        await together.waitForArrivals(4)
        together.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }
}

/// Returns the limit that an operation exceeded; nil if it exceeded none.
func timedOut<Success>(_ operation: TaskOperation<Success>) async -> Duration? {
    if case .failure(let error) = await operation.result {
        (error as? TaskOperationError)?.timedOut?.limit
    } else {
        nil
    }
}

@Suite("Times that have passed", .inTurns, .prompt, .endsInTime)
struct PassedTimeTests {
    @Test(
        "a negative time has passed",
        arguments: [
            .timeout(.seconds(-1)), .timeout(untilEnd: .seconds(-1)), .timeout(perAttempt: .seconds(-1)),
            .timeout(untilStart: .seconds(-1)), .timeout(untilEnd: .nanoseconds(Int64.min)),
        ] as [OperationOptions])
    func negative(_ limit: OperationOptions) async {
        let operation = TaskOperationQueue().addOperation(limit) { try await Task.sleep(for: .seconds(3600)) }
        await #expect(throws: TaskOperationError.self) { try await operation.value }
    }
}

/// A clock whose sleeps end after one second at most.
private final class SteppingClock: Clock {
    typealias Instant = ManualClock.Instant

    private let time = Lock(Instant())

    var now: Instant { time.withLock { $0 } }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        await Task.yield()
        time.withLock { $0 = max($0, min(deadline, $0.advanced(by: .seconds(1)))) }
    }
}
