import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Operations with a delay", .inTurns)
struct DelayTests {
    private let clock = ManualClock()
    private let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)

    @Test("the operation is pending, and holds no permit, until the time has come")
    func delay() async throws {
        let delayed = queue.addOperation([.delay(.seconds(5)), .clock(clock)]) { "late" }
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(4))
        #expect(try await queue.run { "early" } == "early")
        #expect(delayed.state == .waiting)
        #expect(queue.operationCount == 1)
        clock.advance(by: .seconds(1))
        #expect(try await delayed.value == "late")
    }

    @Test("operations come in the order of their deadlines")
    func order() async throws {
        let order = Recorder<Int>()
        let operations = [3, 1, 2].map { seconds in
            queue.addOperation([.delay(.seconds(seconds)), .clock(clock)]) { order.record(seconds) }
        }
        for operation in [operations[1], operations[2], operations[0]] {
            clock.advance(by: .seconds(1))
            try await operation.value
        }
        #expect(order.events == [1, 2, 3])
    }

    @Test("operations with equal deadlines come in the order of adding")
    func equalDeadlines() async throws {
        let order = Recorder<Int>()
        for number in 0..<200 {
            queue.addOperation([.delay(.seconds(1)), .clock(clock)]) { order.record(number) }
        }
        clock.advance(by: .seconds(1))
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(order.events == Array(0..<200))
    }

    @Test("a new earliest deadline is not missed, and one task sleeps for all")
    func earlierDeadline() async throws {
        for seconds in stride(from: 60, through: 10, by: -1) {
            queue.addOperation([.delay(.seconds(seconds)), .clock(clock)]) {}
        }
        await until { clock.sleeperCount == 1 }
        let early = queue.addOperation([.delay(.seconds(1)), .clock(clock)]) {}
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        try await early.value
        #expect(queue.operationCount == 51)
        await until { clock.sleeperCount == 1 }
        queue.cancelAllOperations()
        await until { clock.sleeperCount == 0 }
    }

    @Test("cancelling ends the operation and its sleep at once")
    func cancellation() async throws {
        let runs = Recorder<String>()
        let delayed = queue.addOperation(name: "late", [.delay(.seconds(5)), .clock(clock)]) { runs.record("ran") }
        await until { clock.sleeperCount == 1 }
        #expect(delayed.debugDescription.contains("waits for the end of its delay"))
        delayed.cancel()
        #expect(delayed.isFinished)
        try await queue.waitUntilAllOperationsAreFinished()
        await until { clock.sleeperCount == 0 }
        clock.advance(by: .seconds(5))
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(runs.events.isEmpty)
    }

    @Test("the delay runs on where the queue is suspended, and other dependencies count too")
    func suspendedAndDependent() async throws {
        queue.isSuspended = true
        let first = queue.addOperation {}
        let delayed = queue.addOperation(dependencies: [first], [.delay(.seconds(1)), .clock(clock)]) {}
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        await until { clock.sleeperCount == 0 }
        #expect(!delayed.isFinished)
        queue.isSuspended = false
        try await delayed.value
        #expect(first.isFinished)
    }

    @Test("a delay of zero, or less, delays nothing", arguments: [Duration.zero, .seconds(-5), .seconds(Int64.min)])
    func noDelay(delay: Duration) async throws {
        #expect(try await queue.addOperation([.delay(delay), .clock(clock)]) { 1 }.value == 1)
        #expect(try await queue.addOperation(.delay(delay)) { 2 }.value == 2)
    }

    @Test("a delay beyond all time waits, and can be cancelled, on any clock")
    func endlessDelay() async throws {
        for delay in [Duration.seconds(Int64.max), .seconds(Int64.max) * 15] {
            let operations = [
                queue.addOperation(.delay(delay)) {},
                queue.addOperation([.delay(delay), .clock(SuspendingClock())]) {},
                queue.addOperation([.delay(delay), .clock(clock)]) {},
            ]
            // This delay begins while the sleeper already sleeps for the other delays.
            try await queue.addOperation(.delay(.milliseconds(1))) {}.value
            await until { clock.sleeperCount == 1 }
            for operation in operations {
                #expect(operation.state == .waiting)
                operation.cancel()
                await #expect(throws: CancellationError.self) { try await operation.value }
            }
        }
    }

    @Test("A thousand clocks are told apart, and two values of one clock are one")
    func manyClocks() async throws {
        let clocks = (0..<1000).map { _ in ManualClock() }
        let operations = clocks.map { clock in
            (0..<2).map { _ in queue.addOperation([.delay(.seconds(1)), .clock(WrappedClock(base: clock))]) {} }
        }
        for (clock, operations) in zip(clocks, operations) {
            await until { clock.sleeperCount > 0 }
            #expect(operations.allSatisfy { $0.state == .waiting })
            clock.advance(by: .seconds(1))
            for operation in operations { try await operation.value }
        }
    }

    @Test("a clock that returns early, or fails, ends the delay all the same")
    func badClocks() async throws {
        #expect(try await queue.addOperation([.delay(.seconds(1)), .clock(BadClock(fails: false))]) { 1 }.value == 1)
        #expect(try await queue.addOperation([.delay(.seconds(1)), .clock(BadClock(fails: true))]) { 2 }.value == 2)
    }

    @Test("a cancelled operation is freed, while others are delayed")
    func cancelledIsFreed() async {
        for seconds in 1...100 { queue.addOperation([.delay(.seconds(seconds)), .clock(clock)]) {} }
        weak let weakOperation: TaskOperation<Void>?
        do {
            let operation = queue.addOperation([.delay(.seconds(50)), .clock(clock)]) {}
            weakOperation = operation
            operation.cancel()
        }
        // A worker that accesses the queue may retain it for a moment.
        await until { weakOperation == nil }
        #expect(queue.operationCount == 100)
        queue.cancelAllOperations()
    }

    @Test("an operation that is cancelled while its delay begins is freed")
    func cancelledAtBeginning() async throws {
        weak let weakOperation: TaskOperation<Void>?
        let clock = HookedClock()
        do {
            let operation = TaskOperation([.delay(.seconds(1000)), .clock(clock)]) {}
            weakOperation = operation
            clock.hook.withLock { $0 = { [weak operation] in operation?.cancel() } }
            try queue.addOperation(operation)
            #expect(operation.isFinished)
        }
        await until { weakOperation == nil }
    }

    @Test("the clock is released with the last delay on it")
    func clockIsFreed() async throws {
        weak let weakClock: ManualClock?
        do {
            let clock = ManualClock()
            weakClock = clock
            for _ in 0..<3 { queue.addOperation([.delay(.seconds(1)), .clock(clock)]) {} }
            clock.advance(by: .seconds(1))
            try await queue.waitUntilAllOperationsAreFinished()
            queue.addOperation([.delay(.seconds(1)), .clock(clock)]) {}.cancel()
        }
        await until { weakClock == nil }
    }

    @Test("adding, cancelling and passing race from many threads, and every operation ends once")
    func storm() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let ends = ConcurrencyMeter()
        await concurrentPerform(over: 0..<4000, width: 8, stride: 50) { [clock] number in
            let operation = queue.addOperation([.delay(.seconds(number % 7)), .clock(clock)]) {}
            operation.addCompletionHandler { ends.enter() }
            if number % 3 == 0 { operation.cancel() }
            if number % 5 == 0 { clock.advance(by: .seconds(1)) }
        }
        clock.advance(by: .seconds(7))
        try await queue.waitUntilAllOperationsAreFinished()
        await until { ends.total == 4000 }
        await until { clock.sleeperCount == 0 }
    }

    @Test("without a clock the delay is real time")
    func realTime() async throws {
        let start = ContinuousClock.now
        try await queue.addOperation(.delay(.milliseconds(20))) {}.value
        #expect(ContinuousClock.now - start >= .milliseconds(20))
    }
}

/// A clock that wraps another clock in a structure.
private struct WrappedClock: Clock {
    let base: ManualClock
    var now: ManualClock.Instant { base.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline, tolerance: tolerance)
    }
}

/// A clock that calls a function when it is read for the second time. Its sleeps do not end unless they are cancelled.
private final class HookedClock: Clock {
    let hook = Lock<(@Sendable () -> Void)?>(nil)
    private let base = ManualClock()

    var now: ManualClock.Instant {
        hook.withLock { $0 }?()
        return base.now
    }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline, tolerance: tolerance)
    }
}

/// A clock whose time does not change and whose sleeps end at once.
private struct BadClock: Clock {
    struct Failure: Error {}

    let fails: Bool
    let time = ManualClock.Instant()
    var now: ManualClock.Instant { time }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        if fails { throw Failure() }
    }
}
