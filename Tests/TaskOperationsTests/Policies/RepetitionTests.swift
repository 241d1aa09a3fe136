import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations
@testable import TaskOperationsExtras

@Suite("Operations that are repeated", .inTurns, .endsInTime)
struct RepetitionTests {
    private let clock = ManualClock()
    private let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)

    @Test("a round runs at each due time, and none after the end")
    func rounds() async throws {
        let rounds = Recorder<Duration>()
        let repetition = queue.addRepeating([.delay(.seconds(5)), .clock(clock)], every: .seconds(10)) {
            rounds.record(clock.now.offset)
        }
        for round in 1...3 {
            await until { clock.sleeperCount == 1 && queue.operationCount == 1 }
            #expect(rounds.events.count == round - 1)
            clock.advance(by: round == 1 ? .seconds(5) : .seconds(10))
            await until { rounds.events.count == round }
        }
        #expect(rounds.events == [5, 15, 25].map { .seconds($0) })
        await until { clock.sleeperCount == 1 }
        repetition.cancel()
        await #expect(throws: CancellationError.self) { try await repetition.value }
        try await queue.waitUntilAllOperationsAreFinished()
        await until { clock.sleeperCount == 0 }
    }

    @Test("A repetition ends after its number of rounds, and when a round fails or is cancelled")
    func ends() async throws {
        let runs = ConcurrencyMeter()
        try await queue.addRepeating(every: .nanoseconds(1), times: 3) { runs.enter() }.value
        #expect(runs.total == 3)
        let failing = queue.addRepeating(every: .nanoseconds(1)) {
            runs.enter()
            if runs.total == 6 { throw WorkFailed(number: runs.total) }
        }
        await #expect(throws: WorkFailed(number: 6)) { try await failing.value }
        let cancelled = queue.addRepeating([.delay(.seconds(1)), .clock(clock)], every: .seconds(1)) {}
        queue.cancelAllOperations()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let shut = queue.addRepeating(every: .nanoseconds(1)) { [queue] in queue.shutDown() }
        let error = await #expect(throws: TaskOperationError.self) { try await shut.value }
        #expect(error?.queueShutDown == .some(nil))
    }

    @Test("rounds never overlap, and those that were missed are left out or made up for", .schedules(20))
    func missed() async throws {
        for (missed, expected) in [(MissedRounds.skip, [0, 35, 40]), (.catchUp, [0, 35, 35, 35])] {
            let (clock, rounds, gate) = (ManualClock(), Recorder<Duration>(), Gate())
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
            let repetition = queue.addRepeating(.clock(clock), every: .seconds(10), missed: missed) {
                rounds.record(clock.now.offset)
                await gate.pass()
            }
            await gate.waitForArrivals(1)
            clock.advance(by: .seconds(35))
            await untilOthersWait()
            #expect(rounds.events.count == 1)
            gate.open()
            if missed == .skip {
                await until { clock.sleeperCount == 1 }
                #expect(rounds.events.count == 1)
                clock.advance(by: .seconds(5))
                await until { rounds.events.count == 2 }
                #expect(rounds.events == [.zero, .seconds(40)])
            } else {
                await until { rounds.events.count == 4 }
                #expect(rounds.events == expected.map { .seconds($0) })
            }
            await until { clock.sleeperCount == 1 }
            repetition.cancel()
            try await queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test(
        "a round waits while the queue is suspended, and a running one is cancelled with the repetition", .schedules(20)
    )
    func suspended() async throws {
        queue.isSuspended = true
        let gate = Gate()
        let repetition = queue.addRepeating(.clock(clock), every: .seconds(1)) {
            await gate.pass()
            try Task.checkCancellation()
        }
        await untilOthersWait()
        #expect(gate.arrivals == 0)
        queue.isSuspended = false
        await gate.waitForArrivals(1)
        await until { repetition.state == .executing }
        repetition.cancel()
        await untilOthersWait()
        #expect(!repetition.isFinished)
        gate.open()
        await #expect(throws: CancellationError.self) { try await repetition.value }
        #expect(queue.operationCount == 0)
    }

    @Test("a repetition that is cancelled at once runs no round")
    func cancelledAtOnce() async throws {
        let runs = ConcurrencyMeter()
        for _ in 0..<200 {
            queue.isSuspended = true
            let repetition = queue.addRepeating(every: .seconds(1)) { runs.enter() }
            repetition.cancel()
            await #expect(throws: CancellationError.self) { try await repetition.value }
            await until { queue.operationCount == 0 }
            queue.isSuspended = false
        }
        #expect(runs.total == 0)
    }

    @Test("a queue is not kept by its repetitions, and no round begins after its release")
    func releasedQueue() async throws {
        let runs = ConcurrencyMeter()
        weak let weakQueue: TaskOperationQueue?
        let repetition: TaskOperation<Void>
        do {
            let queue = TaskOperationQueue()
            weakQueue = queue
            repetition = queue.addRepeating([.delay(.seconds(1)), .clock(clock)], every: .seconds(1)) { runs.enter() }
        }
        #expect(weakQueue == nil)
        clock.advance(by: .seconds(1))
        try await repetition.value
        #expect(runs.total == 0)
    }

    @Test("a round for which its queue has no room is skipped, or waits until there is some")
    func fullQueue() async throws {
        for (missed, expected) in [(MissedRounds.skip, [0, 20]), (.catchUp, [0, 15, 20])] {
            let (clock, rounds, gate) = (ManualClock(), Recorder<Duration>(), Gate())
            let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1))
            let repetition = queue.addRepeating(.clock(clock), every: .seconds(10), missed: missed) {
                rounds.record(clock.now.offset)
                await gate.pass()
            }
            await gate.waitForArrivals(1)
            queue.isSuspended = true
            fill(queue)
            gate.open()
            // The queue refused the next round, and the repetition sleeps until the time of that round.
            await clock.waitForSleepers(1)
            if missed == .skip {
                try await resume(queue)
                clock.advance(by: .seconds(10))
            } else {
                clock.advance(by: .seconds(10))
                await until { queue.waitingProducerCount == 1 }
                clock.advance(by: .seconds(5))
                queue.isSuspended = false
                await until { rounds.events.count == 2 }
            }
            await until { queue.operations.last?.state == .waiting }
            clock.advance(by: .seconds(20) - clock.now.offset)
            await until { rounds.events.count == expected.count }
            #expect(rounds.events == expected.map { .seconds($0) })
            repetition.cancel()
            await #expect(throws: CancellationError.self) { try await repetition.value }
        }
    }

    @Test("a round that its queue drops for another one is skipped, and does not end the repetition")
    func droppedRound() async throws {
        let queue = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1, overflow: .dropOldest))
        let (rounds, gate) = (Recorder<Duration>(), Gate())
        queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        let repetition = queue.addRepeating([.delay(.seconds(10)), .clock(clock)], every: .seconds(10)) {
            rounds.record(clock.now.offset)
        }
        fill(queue)
        await clock.waitForSleepers(1)
        gate.open()
        try await resume(queue)
        clock.advance(by: .seconds(10))
        await until { queue.operations.last?.state == .waiting }
        clock.advance(by: .seconds(10))
        await until { rounds.events.count == 1 }
        #expect(rounds.events == [.seconds(20)])
        repetition.cancel()
        await #expect(throws: CancellationError.self) { try await repetition.value }
    }

    @Test("A round that a full limit refuses is missed, and does not end the repetition", .schedules(20))
    func fullLimit() async throws {
        for (missed, expected) in [(MissedRounds.skip, [30]), (.catchUp, [20, 20, 20, 30])] {
            let (clock, rounds, gate) = (ManualClock(), Recorder<Duration>(), Gate())
            let (limit, queue) = (AsyncSemaphore(capacity: 1), TaskOperationQueue(maxConcurrentOperationCount: 4))
            limit.maxQueuedOperationCount = 1
            let executing = queue.addOperation(.limit(limit)) { await gate.pass() }
            await gate.waitForArrivals(1)
            let queued = queue.addOperation(.limit(limit)) {}
            let repetition = queue.addRepeating([.limit(limit), .clock(clock)], every: .seconds(10), missed: missed) {
                rounds.record(clock.now.offset)
            }
            await untilOthersWait()
            clock.advance(by: .seconds(10))
            await untilOthersWait()
            #expect(rounds.events == [])
            gate.open()
            for operation in [executing, queued] { try await operation.value }
            for _ in 0..<2 {
                clock.advance(by: .seconds(10))
                await untilOthersWait()
            }
            #expect(rounds.events == expected.map { .seconds($0) })
            repetition.cancel()
            await #expect(throws: CancellationError.self) { try await repetition.value }
        }
    }

    @Test("A scope whose repetition was cancelled in its closure throws no error", .schedules(500))
    func cancelledInScope() async throws {
        try await withTaskOperationQueue { queue in
            let repetition = queue.addRepeating(every: .milliseconds(1)) {}
            try await Task.sleep(for: .milliseconds(3))
            repetition.cancel()
        }
    }

    @Test("A scope whose repetition was cancelled on another thread throws no error")
    func cancelledInScopeOnThreads() async throws {
        for _ in 0..<2000 {
            try await withTaskOperationQueue { queue in
                let rounds = Recorder<Void>()
                let repetition = queue.addRepeating(every: .nanoseconds(1)) { rounds.record(()) }
                while rounds.events.count < 2 { await Task.yield() }
                repetition.cancel()
            }
        }
    }

    /// Adds operations until one of them is pending and the queue has no more room.
    private func fill(_ queue: TaskOperationQueue) {
        for _ in 0..<3 { queue.addOperation {} }
    }

    private func resume(_ queue: TaskOperationQueue) async throws {
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("5,000 rounds grow nothing", .prompt)
    func manyRounds() async {
        await #expect(processExitsWith: .success) {
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
            var growths: [Int] = []
            // New threads and growing tables also allocate memory, but only for a while. If a round leaves memory
            // allocated, it leaves at least 16 bytes each time.
            while growths.count < 20, growths.last ?? .max >= 40_000 {
                let before = heapInUse ?? 0
                try await queue.addRepeating(every: .nanoseconds(1), times: 5000) {}.value
                growths.append((heapInUse ?? 0) - before)
            }
            precondition(growths.last! < 40_000, "\(growths)")
        }
    }

    @Test("an operation at a moment is pending until then")
    func moment() async throws {
        let operation = queue.addOperation(.delay(until: clock.now.advanced(by: .seconds(5)), clock: clock)) { 1 }
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .milliseconds(4999))
        #expect(operation.state == .waiting)
        clock.advance(by: .milliseconds(1))
        #expect(try await operation.value == 1)
        #expect(
            try await queue.addOperation(.delay(until: clock.now.advanced(by: .seconds(-5)), clock: clock)) { 2 }.value
                == 2)
        let start = ContinuousClock.now
        try await queue.addOperation(.delay(until: .now + .milliseconds(5))) {}.value
        #expect(ContinuousClock.now - start >= .milliseconds(5))
    }

    @Test("due times do not depend on jumps of the clock")
    func schedule() {
        var skipping = RepetitionSchedule(every: .seconds(10), missed: .skip)
        var dues: [Duration] = []
        for end in [0, 1, 10, 20, 21, 1000, 1005, 3] {
            skipping.roundEnded(at: .seconds(end))
            dues.append(skipping.due)
        }
        #expect(dues == [10, 20, 30, 40, 50, 1000, 1010, 1020].map { .seconds($0) })
        var tiny = RepetitionSchedule(every: .nanoseconds(1) / 1_000_000_000, missed: .skip)
        tiny.roundEnded(at: .seconds(1 << 40))
        #expect(tiny.due == .seconds(1 << 40))
    }
}

@Suite("Bad values of a repetition stop with a message", .inTurns, .prompt, .endsInTime)
struct RepetitionBadValueTests {
    @Test("intervals and numbers of rounds")
    func values() async {
        let interval = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            TaskOperationQueue().addRepeating(every: .zero) {}
        }
        #expect(interval.errorText.contains("every is 0.0 seconds; it must be positive"))
        let times = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            TaskOperationQueue().addRepeating(every: .seconds(1), times: 0) {}
        }
        #expect(times.errorText.contains("times is 0; it must be at least 1"))
    }
}
