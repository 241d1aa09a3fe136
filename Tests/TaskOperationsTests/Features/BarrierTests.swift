import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Barriers among other things", .inTurns, .endsInTime)
struct BarrierTests {
    @Test("A cancelled barrier ends at once and releases the operations that only it held back", .schedules(20))
    func cancelledBarrier() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let gate = Gate()
        let before = queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        let barrier = queue.addBarrier {}
        let after = queue.addOperation { before.isExecuting }
        await untilOthersWait()
        #expect(after.isReady)
        barrier.cancel()
        #expect(try await after.value)
        gate.open()
        try await before.value
    }

    @Test("A barrier holds back later operations during a pause between its attempts", .schedules(20))
    func pauseOfBarrier() async throws {
        let (clock, order) = (ManualClock(), Recorder<String>())
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        queue.addBarrier([.retry(.exponential(initial: .seconds(1), attempts: 2)), .clock(clock)]) {
            order.record("attempt \(RetryPolicy.attempt!)")
            if RetryPolicy.attempt == 1 { throw WorkFailed() }
        }
        let behind = queue.addOperation { order.record("behind") }
        await clock.waitForSleepers(1)
        await untilOthersWait()
        #expect(order.events == ["attempt 1"])
        clock.advance(by: .seconds(1))
        try await behind.value
        #expect(order.events == ["attempt 1", "attempt 2", "behind"])
    }

    @Test("A barrier holds back later operations while it waits for its limit", .schedules(20))
    func limitOfBarrier() async throws {
        let (limit, gate, order) = (AsyncSemaphore(capacity: 1), Gate(), Recorder<String>())
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let other = TaskOperationQueue()
        let holder = other.addOperation(.limit(limit)) { await gate.pass() }
        await gate.waitForArrivals(1)
        queue.addBarrier(.limit(limit)) { order.record("barrier") }
        let behind = queue.addOperation { order.record("behind") }
        await untilOthersWait()
        #expect(order.events == [])
        gate.open()
        try await holder.value
        try await behind.value
        #expect(order.events == ["barrier", "behind"])
    }

    @Test("A barrier with a delay takes its place in the line when the delay is over", .schedules(20))
    func delayed() async throws {
        let (clock, order) = (ManualClock(), Recorder<String>())
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let gate = Gate()
        let barrier = queue.addBarrier(name: "barrier", [.delay(.seconds(1)), .clock(clock)]) {
            order.record("barrier")
        }
        let held = queue.addOperation { await gate.pass() }
        try await queue.addOperation { order.record("meanwhile") }.value
        #expect(queue.operationCount == 2)
        clock.advance(by: .seconds(1))
        await until { barrier.isReady }
        #expect(barrier.waitingReasons.contains { if case .operationsBefore = $0 { true } else { false } })
        let behind = queue.addOperation { order.record("behind") }
        #expect(queue.snapshot().operations.map(\.number) == [2, 1, 5])
        gate.open()
        try await behind.value
        #expect(held.isFinished)
        #expect(order.events == ["meanwhile", "barrier", "behind"])
    }

    @Test(
        "Operations that wait for a barrier with a delay are behind it, like barriers that wait for them",
        .schedules(20))
    func dependentsOfDelayed() async throws {
        let (clock, order) = (ManualClock(), Recorder<String>())
        let queue = TaskOperationQueue()
        func add(_ name: String, after dependencies: [AnyTaskOperation] = []) -> TaskOperation<Void> {
            queue.addOperation(name: name, dependencies: dependencies) { order.record(name) }
        }
        let barrier = queue.addBarrier([.delay(.seconds(2)), .clock(clock)]) { order.record("barrier") }
        let later = queue.addBarrier([.delay(.seconds(1)), .clock(clock)]) { order.record("shorter delay") }
        try await add("free").value
        let dependent = add("dependent", after: [barrier])
        let elsewhere = TaskOperationQueue().addOperation(dependencies: [dependent]) {}
        queue.addBarrier(dependencies: [elsewhere]) { order.record("second barrier") }
        let last = add("last")
        let cancelled = queue.addBarrier([.delay(.seconds(1)), .clock(clock)]) {}
        #expect(queue.operationCount == 6)
        cancelled.cancel()
        clock.advance(by: .seconds(1))
        await until { later.isReady }
        #expect(order.events == ["free"])
        clock.advance(by: .seconds(1))
        try await last.value
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(order.events == ["free", "barrier", "dependent", "second barrier", "last", "shorter delay"])
    }

    @Test("A barrier with a delay fails if a body that executes waits for it when the delay is over", .schedules(20))
    func awaitedDelayed() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue()
        let barrier = queue.addBarrier(name: "barrier", [.delay(.seconds(1)), .clock(clock)]) {}
        let body = queue.addOperation(name: "body") { try await barrier.value }
        let behind = queue.addOperation(dependencies: [body]) { body.isFinished }
        await until { body.waitingReasons.contains { if case .body = $0 { true } else { false } } }
        clock.advance(by: .seconds(1))
        _ = await body.result
        #expect(barrier.refusal?.dependencyCycle == ["barrier", "body", "barrier"])
        #expect(body.refusal?.dependencyCycle == ["barrier", "body", "barrier"])
        #expect(try await behind.value)
    }

    @Test(
        "Operations and barriers with delays end in any order, also if bodies wait, and barriers run alone",
        .schedules(50), arguments: [false, true])
    func manyDelayed(bodiesWait: Bool) async throws {
        var random = Schedules.generator()
        let clock = ManualClock()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let other = TaskOperationQueue()
        let (bodies, barriers) = (ConcurrencyMeter(), ConcurrencyMeter())
        var operations: [AnyTaskOperation] = []
        for number in 0..<40 {
            let isBarrier = random.happens(percent: 40)
            let dependencies = operations.filter { _ in random.happens(percent: 5) }
            if random.happens(percent: 10) {
                operations.append(other.addOperation(dependencies: dependencies) {})
                continue
            }
            var options: OperationOptions = [.clock(clock), .priority(random.happens(percent: 50) ? .low : .high)]
            if random.happens(percent: isBarrier ? 70 : 20) {
                options = [options, .delay(.seconds(1 + random.number(below: 10)))]
            }
            let awaited = bodiesWait && random.happens(percent: 30) ? operations.randomElement(using: &random) : nil
            let body: @Sendable () async -> Void = {
                bodies.enter()
                if isBarrier { barriers.enter() }
                #expect(barriers.now == 0 || bodies.now == 1)
                await Task.yield()
                try? await awaited?.waitUntilFinished()
                if isBarrier { barriers.leave() }
                bodies.leave()
            }
            operations.append(
                isBarrier
                    ? queue.addBarrier(dependencies: dependencies, options, body: body)
                    : queue.addOperation(dependencies: dependencies, options, body: body))
            if number % 4 == 0 { clock.advance(by: .seconds(1)) }
            if random.happens(percent: 10) { operations.randomElement(using: &random)!.cancel() }
            if random.happens(percent: 50) { await Task.yield() }
        }
        while queue.operationCount > 0 {
            clock.advance(by: .seconds(1))
            await untilOthersWait()
        }
        try await other.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy { $0.isFinished })
        let refusals = operations.compactMap(\.refusal)
        #expect(refusals.allSatisfy { bodiesWait && $0.dependencyCycle?.count ?? 0 > 2 })
    }

    @Test("Of two barriers, cancelling one leaves the other in force", .schedules(20), arguments: [0, 1])
    func oneOfTwoIsCancelled(which: Int) async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let gate = Gate()
        let before = queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        let first = queue.addBarrier { before.isFinished }
        let between = queue.addOperation { before.isFinished }
        let second = queue.addBarrier { between.isFinished }
        // Without the second barrier, the last operation may run beside the one before it.
        let after = queue.addOperation {
            [first, second].allSatisfy(\.isFinished) && (which == 1 || between.isFinished)
        }
        [first, second][which].cancel()
        if which == 0 {
            #expect(try await between.value == false)
        }
        await untilOthersWait()
        #expect(after.isReady)
        gate.open()
        if which == 1 {
            #expect(try await [first.value, between.value] == [true, true])
        } else {
            #expect(try await second.value)
        }
        #expect(try await after.value)
    }

    @Test("A barrier waits for its dependencies, and holds back the operations behind it meanwhile", .schedules(20))
    func barrierWithDependencies() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let dependency = TaskOperation {}
        let before = queue.addOperation {}
        let barrier = queue.addBarrier(dependencies: [dependency]) { dependency.isFinished && before.isFinished }
        let after = queue.addOperation(priority: .high) { barrier.isFinished }
        try await before.value
        await untilOthersWait()
        #expect(barrier.state == .waiting && after.isReady)
        try dependency.start()
        #expect(try await [barrier.value, after.value] == [true, true])
    }

    @Test("A barrier may be depended on, from its own queue and from another", .schedules(20))
    func dependingOnABarrier() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let gate = Gate()
        let barrier = queue.addBarrier { await gate.pass() }
        let own = queue.addOperation(dependencies: [barrier]) { barrier.isFinished }
        let other = TaskOperationQueue().addOperation(dependencies: [barrier]) { barrier.isFinished }
        await gate.waitForArrivals(1)
        await untilOthersWait()
        #expect([own, other].map(\.state) == [.waiting, .waiting])
        gate.open()
        #expect(try await [own.value, other.value] == [true, true])
    }

    @Test("Many barriers in a row run in the order of adding, with any priorities")
    func manyBarriers() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 8)
        let meter = ConcurrencyMeter()
        let starts = Recorder<Int>()
        for number in 0..<500 {
            queue.addBarrier(.priority(number.isMultiple(of: 2) ? .low : .high)) {
                starts.record(number)
                await meter.measure { await Task.yield() }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == Array(0..<500))
        #expect(meter.most == 1)
    }

    @Test("Priorities order the operations between two barriers, and a barrier's own priority has no effect")
    func priorities() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let starts = Recorder<String>()
        queue.addOperation(priority: .background) { starts.record("background before") }
        let barrier = queue.addBarrier(.priority(.high)) { starts.record("barrier") }
        queue.addOperation(priority: .low) { starts.record("low after") }
        queue.addOperation(priority: .high) { starts.record("high after") }
        let moved = queue.addOperation { starts.record("moved") }
        moved.priority = TaskPriority(rawValue: 33)
        barrier.priority = .background
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == ["background before", "barrier", "moved", "high after", "low after"])
    }

    @Test("An operation before a barrier that becomes ready late still starts before the barrier", .schedules(20))
    func lateBeforeABarrier() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let starts = Recorder<String>()
        let dependency = TaskOperation {}
        let late = queue.addOperation { starts.record("first") }
        try await late.value
        let pending = queue.addOperation(dependencies: [dependency]) { starts.record("late") }
        queue.addBarrier { starts.record("barrier") }
        queue.addOperation { starts.record("after") }
        await untilOthersWait()
        #expect(starts.events == ["first"])
        try dependency.start()
        try await pending.value
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == ["first", "late", "barrier", "after"])
    }

    @Test("A batch that is added behind a barrier waits for it as one", .schedules(20))
    func batchBehindABarrier() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let starts = Recorder<Int>()
        queue.addBarrier { await gate.pass() }
        await gate.waitForArrivals(1)
        try queue.addOperations(
            (0..<4).map { number in
                TaskOperation(priority: number == 3 ? .high : .medium) { starts.record(number) }
            })
        await untilOthersWait()
        #expect(starts.events == [])
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == [3, 0, 1, 2])
    }

    @Test("A body before a barrier that awaits another one before it does not let the barrier in", .schedules(20))
    func lentPermitBeforeABarrier() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let before = try await LentBody(on: queue, until: gate).body
        let barrier = queue.addBarrier { before.isFinished }
        await untilOthersWait()
        #expect(barrier.isReady)
        gate.open()
        #expect(try await barrier.value)
    }

    @Test("A barrier that awaits an earlier operation, or one of another queue, runs alone", .schedules(20))
    func barrierThatAwaits() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let gate = Gate()
        let elsewhere = TaskOperationQueue().addOperation { await gate.pass() }
        let barrier = queue.addBarrier { try await elsewhere.value }
        let after = queue.addOperation { barrier.isFinished }
        await until { barrier.isExecuting }
        await untilOthersWait()
        #expect(after.isReady)
        gate.open()
        #expect(try await after.value)
    }

    @Test("Random mixes of operations, barriers and cancellations keep the order of each", arguments: 1...10)
    func randomMixes(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: Int.random(in: 1...6, using: &random))
        let tooEarly = Recorder<Int>()
        var all: [AnyTaskOperation] = []
        var lastBarrier: AnyTaskOperation?
        for number in 0..<300 {
            let (before, barrier) = (all, lastBarrier)
            if Int.random(in: 0..<10, using: &random) == 0 {
                let added = queue.addBarrier {
                    if !before.allSatisfy(\.isFinished) { tooEarly.record(number) }
                    await Task.yield()
                }
                lastBarrier = added
                all.append(added)
            } else {
                all.append(
                    queue.addOperation {
                        if barrier?.isFinished == false { tooEarly.record(number) }
                        if number.isMultiple(of: 4) { await Task.yield() }
                    })
            }
            if number.isMultiple(of: 9) { all.randomElement(using: &random)!.cancel() }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(tooEarly.events == [])
    }
}
