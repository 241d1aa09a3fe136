import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations
@testable import TaskOperationsExtras

/// Durations that are often used for "forever", and longer ones.
private let longDurations = [Duration.seconds(Int64.max), .seconds(Int64.max) * 15, Duration(attoseconds: .max)]

@Suite("Extreme values: a duration that is too long never passes", .inTurns, .endsInTime)
struct ExtremeValueTests {
    private let clock = ManualClock()

    @Test("a pause between attempts waits, and can be cancelled, on any clock", arguments: longDurations)
    func retryPause(pause: Duration) async {
        for clock in [ContinuousClock(), SuspendingClock(), clock] as [any Clock<Duration>] {
            await cancelDuringPause(pause, on: clock)
        }
    }

    private func cancelDuringPause(_ pause: Duration, on clock: some Clock<Duration>) async {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let operation = queue.addOperation([.retry(RetryPolicy { _, _ in pause }), .clock(clock)]) {
            throw WorkFailed(number: 1)
        }
        // This operation runs while the permit is lent.
        try? await queue.addOperation {}.value
        #expect(!operation.isFinished)
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
    }

    @Test("pauses that grow beyond all durations")
    func exponential() async throws {
        for long in longDurations {
            for policy in [
                RetryPolicy.exponential(initial: long, maximum: long, jitter: 0.5, attempts: 9, seed: 1),
                .exponential(initial: .seconds(1), factor: 1e300, maximum: long, jitter: 1, attempts: 9, seed: 2),
                .exponential(initial: long, factor: 1, maximum: long, attempts: 9),
            ] {
                for attempt in 1..<9 {
                    let pause = try #require(policy.pause(after: WorkFailed(number: 1), attempt: attempt, of: nil))
                    #expect(pause >= .zero)
                }
            }
        }
    }

    @Test(
        "a rate of one start in a very long time lets the burst start, and nothing after it",
        arguments: longDurations.map { OperationRate.one(per: $0, burst: 3) } + [
            .perSecond(1e-20, burst: 3), .perSecond(.leastNonzeroMagnitude, burst: 3),
        ])
    func slowRate(rate: OperationRate) async throws {
        let queue = TaskOperationQueue(.init(rate: rate, clock: clock))
        for _ in 0..<3 { try await queue.addOperation {}.value }
        let late = queue.addOperation {}
        clock.advance(by: .seconds(1_000_000))
        #expect(late.waitingReasons.contains { if case .rate = $0 { true } else { false } })
        late.cancel()
    }

    @Test("a burst without a limit", arguments: [Duration.seconds(60), .nanoseconds(1)] + longDurations)
    func endlessBurst(interval: Duration) async throws {
        let queue = TaskOperationQueue(.init(rate: .one(per: interval, burst: .max), clock: clock))
        queue.addOperations(count: 100)
        try await queue.waitUntilAllOperationsAreFinished()
        clock.advance(by: .seconds(Int64.max))
        queue.addOperations(count: 100)
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("a queue whose clock jumps to the last moment continues, and waits for no later moment")
    func endOfTime() async throws {
        let reads = ConcurrencyMeter()
        let queue = TaskOperationQueue(
            .init(
                maxConcurrentOperationCount: 1, rate: .perSecond(1),
                clock: CountedClock(base: clock, reads: reads)))
        for _ in 0..<3 {
            queue.addOperation {}
            for _ in 0..<3 { clock.advance(by: longDurations[2]) }
        }
        #expect(clock.now.advanced(by: .zero - longDurations[2]).offset == .zero)
        #expect(ManualClock.Instant(offset: Duration(attoseconds: .min)).duration(to: clock.now) == longDurations[2])
        // A queue that is woken again and again reads its clock each time.
        var isIdle = false
        for _ in 0..<1000 where !isIdle {
            let count = reads.total
            for _ in 0..<100 { await Task.yield() }
            isIdle = reads.total == count
        }
        #expect(isIdle)
    }

    @Test("a delay until an instant that is long past")
    func delays() async throws {
        let queue = TaskOperationQueue()
        let early = queue.addOperation(
            .delay(until: ManualClock.Instant(offset: Duration(attoseconds: .min)), clock: clock)
        ) { 1 }
        #expect(try await early.value == 1)
    }

    @Test("a delay on each of three hundred clocks", .prompt)
    func manyClocks() async throws {
        let queue = TaskOperationQueue()
        let clocks = (0..<300).map { _ in ManualClock() }
        let operations = clocks.map { queue.addOperation([.delay(longDurations[2]), .clock($0)]) {} }
        for clock in clocks { await until { clock.sleeperCount == 1 } }
        for operation in operations { operation.cancel() }
        let late = queue.addOperation([.timeout(longDurations[2]), .clock(ManualClock())]) { 1 }
        _ = try await withTimeout(longDurations[2], clock: ManualClock()) { try await late.value }
    }

    @Test("every wait with a limit", .schedules(1), arguments: longDurations)
    func timeouts(long: Duration) async throws {
        let queue = TaskOperationQueue()
        let (group, semaphore) = (AsyncGroup(), AsyncSemaphore(capacity: 1))
        try await semaphore.acquire()
        group.enter()
        let gate = Gate()
        let operation = queue.addOperation { await gate.pass() }
        let clock = ManualClock()
        try await withThrowingTaskGroup { tasks in
            tasks.addTask { try await withTimeout(long, clock: clock) { try await operation.value } }
            tasks.addTask { try await queue.shutDown(cancellingAfter: long, clock: clock) }
            tasks.addTask { try await group.wait(timeout: long, clock: clock) }
            tasks.addTask { try await semaphore.withPermit(timeout: long, clock: clock) {} }
            await until { clock.sleeperCount > 0 }
            gate.open()
            group.leave()
            semaphore.release()
            try await tasks.waitForAll()
        }
    }

    @Test("a stall that takes too long is none", .schedules(20), arguments: longDurations)
    func stalls(limit: Duration) async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        queue.addOperation {}
        for clock in [ContinuousClock(), clock] as [any Clock<Duration>] {
            var reports = queue.stalls(longerThan: limit, clock: clock).makeAsyncIterator()
            let watching = Task { await reports.next() }
            if clock is ManualClock { await self.clock.waitForSleepers(1) } else { await untilOthersWait() }
            watching.cancel()
            _ = await watching.value
        }
        queue.cancelAllOperations()
    }

    @Test("a stall that takes too long is none, by the clock of the system", arguments: longDurations)
    func stallsInRealTime(limit: Duration) async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        queue.addOperation {}
        for _ in 0..<20 {
            var reports = queue.stalls(longerThan: limit).makeAsyncIterator()
            let watching = Task { await reports.next() }
            await Task.yield()
            watching.cancel()
            #expect(await watching.value == nil)
        }
        queue.cancelAllOperations()
    }

    @Test("rounds that are very far apart", arguments: longDurations)
    func repetition(interval: Duration) async throws {
        let queue = TaskOperationQueue()
        let runs = ConcurrencyMeter()
        for missed in [MissedRounds.skip, .catchUp] {
            let repetition = queue.addRepeating(.clock(clock), every: interval, missed: missed) { runs.enter() }
            await until { runs.now == (missed == .skip ? 1 : 2) && queue.operationCount == 1 }
            repetition.cancel()
            await #expect(throws: CancellationError.self) { try await repetition.value }
        }
        #expect(runs.total == 2)
        let late = queue.addRepeating([.delay(interval), .clock(clock)], every: interval) {}
        late.cancel()
        var schedule = RepetitionSchedule(every: interval, missed: .catchUp)
        for _ in 0..<20 { schedule.roundEnded(at: .zero) }
        #expect(schedule.due > .seconds(86_400 * 365 * 1000))
    }

    @Test("a stride longer than the collection")
    func stride() async throws {
        for stride in [1 << 62, .max] {
            let error = await #expect(throws: WorkFailed.self) {
                try await concurrentPerform(over: 0..<Int.max, width: 1, stride: stride) { number in
                    throw WorkFailed(number: number)
                }
            }
            #expect(error == WorkFailed(number: 0))
        }
        let portions = ChunkedRange(count: .max, stride: 1 << 62)
        #expect(portions.next() == 0..<1 << 62)
        #expect(portions.next() == 1 << 62..<Int.max)
        #expect(portions.next() == nil)
    }
}

/// A manual clock that counts its reads.
private struct CountedClock: Clock {
    let base: ManualClock
    let reads: ConcurrencyMeter

    var now: ManualClock.Instant {
        reads.enter()
        return base.now
    }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline, tolerance: tolerance)
    }
}

/// A system clock that stops the process if a sleep is longer than the runtime can represent.
private struct CheckedClock: Clock {
    let sleeps = ConcurrencyMeter()

    var now: ContinuousClock.Instant { .now }

    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        precondition(now.duration(to: deadline) < .nanoseconds(Int64.max), "the sleep ends at \(deadline)")
        sleeps.enter()
        try await Task.sleep(for: .seconds(3600))
    }
}

extension TaskOperationQueue {
    fileprivate func addOperations(count: Int) {
        for _ in 0..<count { addOperation {} }
    }
}

@Suite("Extreme values: a size that makes no sense stops with a message", .inTurns, .prompt, .endsInTime)
struct ExtremeSizeTests {
    @Test("a stack of one byte, and one without end")
    func stackSize() async throws {
        let small = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ThreadExecutor(name: "tiny", stackSize: 1)
        }
        #expect(small.errorText.contains("stackSize is 1; it must be from 65536 to 1073741824 bytes"))
        let large = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = BlockingExecutor(name: "huge", maxThreadCount: 1, stackSize: .max)
        }
        #expect(large.errorText.contains("stackSize is \(Int.max)"))
        #expect(try await ThreadExecutor(name: "smallest", stackSize: 65_537).run { 1 } == 1)
    }

    @Test("a bound of 0 for a random number")
    func bound() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var generator = SeededGenerator(seed: 1)
            _ = generator.number(below: 0)
        }
        #expect(result.errorText.contains("bound is 0; it must be at least 1"))
    }
}
