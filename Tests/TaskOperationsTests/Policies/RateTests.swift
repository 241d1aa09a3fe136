import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rates", .inTurns, .endsInTime)
struct RateTests {
    @Test("A rate can be set on a queue that was created without one")
    func lateRate() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, clock: clock, isSuspended: true))
        queue.rate = .one(per: .seconds(1))
        let recorder = Recorder<Duration>()
        for _ in 0..<3 { queue.addOperation { recorder.record(clock.now.offset) } }
        queue.isSuspended = false
        for second in 1...3 {
            #expect(await eventually { recorder.events.count == second })
            clock.advance(by: .seconds(1))
        }
        queue.rate = nil
        try await queue.addOperation {}.value
        #expect(recorder.events == [0, 1, 2].map { .seconds($0) })
    }

    @Test("Starts are spread over time, after a burst")
    func spread() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 8, rate: .perSecond(10, burst: 3), clock: clock))
        let recorder = Recorder<Duration>()
        for _ in 0..<8 { queue.addOperation { recorder.record(clock.now.offset) } }
        for step in 0...50 {
            #expect(await eventually { recorder.events.count == 3 + step / 10 })
            clock.advance(by: .milliseconds(10))
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(recorder.events == [0, 0, 0, 100, 200, 300, 400, 500].map { .milliseconds($0) })
    }

    @Test("A change of the rate applies to the next start, and used tokens stay used")
    func changed() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 8, rate: .one(per: .seconds(10), burst: 2), clock: clock))
        let recorder = Recorder<Duration>()
        for _ in 0..<10 { queue.addOperation { recorder.record(clock.now.offset) } }
        // The rates to set, by second. Each is set after the starts of its second.
        let changes: [Int: OperationRate?] = [
            4: OperationRate.one(per: .seconds(1), burst: 1), 7: OperationRate.one(per: .seconds(20), burst: 3),
            47: OperationRate?.none,
        ]
        var times = [0, 0, 5, 6, 7]
        func areStarted(by second: Int) async -> Bool {
            let count = times.count { $0 <= second }
            return await eventually { recorder.events.count == count }
        }
        for second in 0...50 {
            #expect(await areStarted(by: second))
            if let rate = changes[second] { queue.rate = rate }
            // At second 4, 1.6 of two tokens are used. They are still used at second 7, because each new one was used, too.
            // Of the three tokens of the new rate, 1.4 are left, and 0.6 follow in 12 seconds.
            if second == 7 { times += [7, 19, 39] }
            if second == 47 { times += [47, 47] }
            #expect(await areStarted(by: second))
            clock.advance(by: .seconds(1))
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(recorder.events == times.map { .seconds($0) })
        #expect(queue.rate == nil)
    }

    @Test("Used tokens stay used while there is no rate")
    func removedAndSet() async throws {
        let clock = ManualClock()
        let rate = OperationRate.one(per: .seconds(10), burst: 2)
        let queue = TaskOperationQueue(.init(rate: rate, clock: clock))
        for _ in 0..<2 { try await queue.addOperation {}.value }
        queue.rate = nil
        queue.rate = nil
        clock.advance(by: .seconds(4))
        queue.rate = rate
        let starts = Recorder<Duration>()
        for _ in 0..<2 { queue.addOperation { starts.record(clock.now.offset) } }
        for second in 5...20 {
            clock.advance(by: .seconds(1))
            #expect(await eventually { starts.events.count == second / 10 })
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == [.seconds(10), .seconds(20)])
    }

    @Test("Bursts that are raised and lowered in turn give no token twice")
    func toggledBurst() async throws {
        let (clock, recorder) = (ManualClock(), Recorder<Int>())
        func rate(_ burst: Int) -> OperationRate { .one(per: .seconds(1), burst: burst) }
        let queue = TaskOperationQueue(
            .init(maxConcurrentOperationCount: .max, rate: rate(3), clock: clock, isSuspended: true))
        for number in 0..<30 { queue.addOperation { recorder.record(number) } }
        queue.isSuspended = false
        #expect(await eventually { recorder.events.count == 3 })
        for _ in 0..<10 {
            queue.rate = rate(7)
            #expect(await eventually { recorder.events.count == 7 })
            queue.rate = rate(2)
        }
        // With the lower burst, a token follows after each second.
        for count in 8...10 {
            clock.advance(by: .seconds(1))
            #expect(await eventually { recorder.events.count == count })
        }
        queue.rate = rate(7)
        clock.advance(by: .seconds(1))
        #expect(await eventually { recorder.events.count == 11 })
        queue.rate = nil
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("Each attempt takes from the rate", .schedules(10))
    func attempts() async throws {
        for pause in [Duration.zero, .milliseconds(50)] {
            let clock = ManualClock()
            let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 8, rate: .perSecond(10), clock: clock))
            let recorder = Recorder<Duration>()
            for _ in 0..<3 {
                queue.addOperation([.retry(RetryPolicy { _, attempt in attempt < 3 ? pause : nil }), .clock(clock)]) {
                    recorder.record(clock.now.offset)
                    throw WorkFailed()
                }
            }
            for step in 0...90 {
                await untilOthersWait()
                #expect(recorder.events.count == min(9, 1 + step / 10))
                clock.advance(by: .milliseconds(10))
            }
            try await queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test("An operation that is cancelled before its start uses no token", .schedules(20))
    func cancelled() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(.init(rate: .one(per: .seconds(60), burst: 2), clock: clock, isSuspended: true))
        let operations = (0..<20).map { number in queue.addOperation { number } }
        for operation in operations[..<18] { operation.cancel() }
        queue.isSuspended = false
        #expect(try await operations[18].value == 18)
        #expect(try await operations[19].value == 19)
        let next = queue.addOperation { 20 }
        await until { clock.sleeperCount == 1 }
        #expect(next.isReady)
        clock.advance(by: .seconds(59))
        await untilOthersWait()
        #expect(next.isReady)
        clock.advance(by: .seconds(1))
        #expect(try await next.value == 20)
    }

    @Test("One deadline wakes a queue, however many wait; and none does once nothing waits")
    func oneDeadline() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(.init(rate: .one(per: .seconds(1)), clock: clock))
        let operations = (0..<100).map { number in queue.addOperation { number } }
        for number in 0..<100 {
            #expect(try await operations[number].value == number)
            if number == 99 { break }
            await until { clock.sleeperCount == 1 }
            #expect(clock.sleeperCount == 1)
            clock.advance(by: .seconds(1))
        }
        #expect(clock.sleeperCount == 0)
    }

    @Test("A queue that something else than its rate holds up is not woken again and again", .schedules(20))
    func heldUpOtherwise() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 2, rate: .one(per: .seconds(1), burst: 2), clock: clock)
        )
        queue.setMaxConcurrentOperationCount(0, for: .medium)
        let closed = (0..<3).map { number in queue.addOperation { number } }
        for number in 0..<2 { #expect(try await queue.addOperation(priority: .high) { number }.value == number) }
        var wakeCount = 0
        await untilOthersWait()
        while clock.sleeperCount > 0, wakeCount < 10 {
            wakeCount += 1
            clock.advance(by: .seconds(1))
            await untilOthersWait()
        }
        #expect(wakeCount == 1, "the one that was planned while the second operation could start")
        clock.advance(by: .seconds(1))
        queue.setMaxConcurrentOperationCount(2, for: .medium)
        #expect(try await closed[1].value == 1)
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(2))
        #expect(try await closed[2].value == 2)
    }

    @Test("A wake that was replaced within its event is planned again")
    func replacedWake() async throws {
        let clock = ManualClock()
        let (first, second) = (AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 1))
        let (began, gate) = (Gate(), Gate())
        TaskOperationQueue().addOperation(.limit(second)) {
            began.open()
            await gate.pass()
        }
        await began.pass()
        defer { gate.open() }
        let queue = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 4, rate: .one(per: .seconds(1)), clock: clock, isSuspended: true))
        // The claim of this operation keeps the first limit. When it gives the limit back, the operation is ready again.
        let blocked = queue.addOperation(priority: .high, [.limit(first), .limit(second)]) {}
        let low = (0..<4).map { number in queue.addOperation(priority: .low) { number } }
        queue.isSuspended = false
        for number in 0..<4 {
            #expect(await eventually { low[number].isFinished })
            if number == 1 { blocked.cancel() }
            if number < 3 { #expect(await eventually { clock.sleeperCount > 0 }) }
            clock.advance(by: .seconds(1))
        }
        queue.rate = nil
    }

    @Test("A clock whose sleeps end early holds up nothing: its time is read before each sleep")
    func earlySleeps() async throws {
        let clock = EarlySleepClock(earlyCount: 2)
        let queue = TaskOperationQueue(.init(rate: .one(per: .seconds(10)), clock: clock))
        let operations = (0..<2).map { number in queue.addOperation { number } }
        #expect(await eventually { operations[1].isFinished })
        clock.jump(by: .seconds(10))
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("The time that passes before a deadline is set does not make it later")
    func movingClock() async throws {
        let clock = MovingClock()
        let queue = TaskOperationQueue(.init(rate: .one(per: .seconds(100)), clock: clock))
        try await queue.addOperation {}.value
        clock.step = .seconds(10)
        try await queue.addOperation {}.value
        #expect(clock.ends.events.first?.offset == .seconds(100))
    }

    @Test("A clock that leaps on does no more than fill the burst; one that goes back starts nothing early")
    func jumpingClock() async throws {
        let clock = JumpingClock()
        let queue = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 1, rate: .one(per: .seconds(10), burst: 2), clock: clock))
        let recorder = Recorder<Int>()
        for number in 0..<8 { queue.addOperation { recorder.record(number) } }
        // An operation that has left the queue reports no reading from before the next jump.
        #expect(await eventually { queue.operationCount == 6 })
        #expect(recorder.events.count == 2)
        // A sleeper that began later could report a time from between two jumps.
        await until { clock.sleepCount == 1 }
        clock.jump(by: .seconds(86_400))
        queue.isSuspended = false
        #expect(await eventually { queue.operationCount == 4 })
        clock.jump(by: .seconds(-500_000))
        queue.isSuspended = false
        #expect(recorder.events.count == 4)
        for count in 5...8 {
            clock.jump(by: .seconds(10))
            queue.isSuspended = false
            #expect(await eventually { queue.operationCount == 8 - count })
            #expect(recorder.events.count == count)
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(recorder.events == Array(0..<8))
    }

    @Test("A queue that waits for a token starts the next operation soon after the clock was set back")
    func setBackDuringWait() async throws {
        let clock = AdjustableClock()
        let queue = TaskOperationQueue(.init(rate: .one(per: .seconds(10)), clock: clock))
        try await queue.addOperation {}.value
        let operation = queue.addOperation {}
        await until { clock.sleeperCount == 1 }
        clock.set(by: .seconds(-86_400))
        for _ in 0..<4 where !operation.isFinished {
            clock.advance(by: .seconds(10))
            #expect(await eventually { operation.isFinished || clock.sleeperCount > 0 })
        }
        #expect(operation.isFinished)
        operation.cancel()
    }

    @Test("A delay ends soon after the clock was set back, even if another one ends first")
    func setBackDuringDelays() async throws {
        let clock = AdjustableClock()
        let queue = TaskOperationQueue()
        let operations = [10, 15].map { queue.addOperation([.delay(.seconds($0)), .clock(clock)]) {} }
        await until { clock.sleeperCount == 1 }
        clock.set(by: .seconds(-86_400))
        for _ in 0..<4 where queue.operationCount > 0 {
            clock.advance(by: .seconds(10))
            #expect(await eventually { queue.operationCount == 0 || clock.sleeperCount > 0 })
        }
        #expect(operations.allSatisfy { $0.isFinished })
        queue.cancelAllOperations()
    }

    @Test("A retry waits for its token as long as before, after the clock was set back")
    func retryAfterJump() async throws {
        let clock = JumpingClock()
        let queue = TaskOperationQueue(.init(rate: .one(per: .seconds(10)), clock: clock))
        let operation = queue.addOperation(.retry(.immediately(attempts: 2))) {
            clock.jump(by: .seconds(-3600))
            throw WorkFailed(number: 1)
        }
        await until { clock.sleepCount == 1 }
        #expect(clock.lastEnd == clock.now.advanced(by: .seconds(10)))
        operation.cancel()
        _ = await operation.result
    }

    @Test("Threads that read the clock at the same time do not make time pass faster")
    func manyThreads() async throws {
        let start = ContinuousClock.now
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, rate: .one(per: .milliseconds(50))))
        let recorder = Recorder<Duration>()
        for _ in 0..<6 { queue.addOperation { recorder.record(ContinuousClock.now - start) } }
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    while recorder.events.count < 6 {
                        _ = queue.operationCount
                        await Task.yield()
                    }
                }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        for (number, time) in recorder.events.sorted().enumerated() { #expect(time >= .milliseconds(50 * number)) }
    }

    @Test("A queue that is released finishes at its rate; permits of a body that awaits are not counted as a start")
    func releasedAndLent() async throws {
        let clock = ManualClock()
        var queue: TaskOperationQueue? = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 1, rate: .one(per: .seconds(1), burst: 2), clock: clock))
        let outer = queue!.addOperation { [queue] in try await queue!.addOperation { 4 }.value }
        #expect(try await outer.value == 4)
        let last = queue!.addOperation { 5 }
        queue = nil
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        #expect(try await last.value == 5)
    }

    @Test("Numbers out of range stop the process with a message", .prompt)
    func badValues() async {
        let negative = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = TaskOperationQueue(.init(rate: .perSecond(-1)))
        }
        #expect(negative.errorText.contains("the rate is -1.0 for each second; it must be more than 0"))
        let burst = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = TaskOperationQueue(.init(rate: .perSecond(1, burst: 0)))
        }
        #expect(burst.errorText.contains("the burst of the rate is 0; it must be at least 1"))
        let interval = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = TaskOperationQueue(.init(rate: .one(per: .zero)))
        }
        #expect(interval.errorText.contains("the interval of the rate is 0.0 seconds; it must be positive"))
    }
}

/// A clock whose first sleeps end too early. Its later sleeps advance its time to their end.
private final class EarlySleepClock: Clock {
    typealias Instant = ManualClock.Instant

    private let state: Lock<(now: Instant, earlyCount: Int)>

    init(earlyCount: Int) {
        state = Lock((Instant(), earlyCount))
    }

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }

    func jump(by duration: Duration) { state.withLock { $0.now = $0.now.advanced(by: duration) } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        state.withLock { state in
            state.earlyCount -= 1
            if state.earlyCount < 0 { state.now = max(state.now, deadline) }
        }
    }
}

/// A clock that advances by one step each time it is read. A sleep advances it to the end of the sleep.
private final class MovingClock: Clock {
    typealias Instant = ManualClock.Instant

    /// The ends of all sleeps.
    let ends = Recorder<Instant>()
    private let state = Lock((now: Instant(), step: Duration.zero))

    var step: Duration {
        get { state.withLock { $0.step } }
        set { state.withLock { $0.step = newValue } }
    }
    var now: Instant {
        state.withLock { state in
            state.now = state.now.advanced(by: state.step)
            return state.now
        }
    }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        ends.record(deadline)
        state.withLock { $0.now = max($0.now, deadline) }
    }
}

/// A clock that jumps forwards and backwards, and whose sleeps end only if they are cancelled.
private final class JumpingClock: Clock {
    typealias Instant = ManualClock.Instant

    private let offset = Recorder<Duration>()
    private let sleeps = Recorder<Instant>()

    var sleepCount: Int { sleeps.events.count }
    var lastEnd: Instant? { sleeps.events.last }
    var now: Instant { Instant(offset: offset.events.reduce(.seconds(1000), +)) }
    var minimumResolution: Duration { .zero }

    func jump(by duration: Duration) { offset.record(duration) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        sleeps.record(deadline)
        let gate = Gate()
        try await withTaskCancellationHandler {
            await gate.pass()
            try Task.checkCancellation()
        } onCancel: {
            gate.open()
        }
    }
}
