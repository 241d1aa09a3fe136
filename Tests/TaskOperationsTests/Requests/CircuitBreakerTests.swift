import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsExtras

@Suite("The circuit breaker", .endsInTime)
struct CircuitBreakerTests {
    private typealias State = CircuitBreaker.State

    private static func call(_ breaker: CircuitBreaker, fails: Bool = false) async -> Result<Void, any Error> {
        do {
            try await breaker.run { if fails { throw WorkFailed() } }
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    private static func isRefused(_ breaker: CircuitBreaker) async -> Bool {
        if case .failure(let error) = await call(breaker) { error is CircuitOpenError } else { false }
    }

    @Test("The breaker opens at the ratio of failures, makes a probe after the break, and closes after a success")
    func cycle() async throws {
        let (clock, changes) = (ManualClock(), Recorder<[State]>())
        let breaker = CircuitBreaker(
            name: "search", failureRatio: 0.5, minCallCount: 4, clock: clock,
            onChange: { _, former, state in changes.record([former, state]) })
        for fails in [true, true, false] { _ = await Self.call(breaker, fails: fails) }
        #expect(breaker.state == .closed, "Three calls are less than the minimum.")
        _ = await Self.call(breaker, fails: true)
        #expect(breaker.state == .open)
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: CircuitOpenError.self) { try await breaker.run {} }
        #expect(error?.retryAfter == .seconds(3))
        #expect(error?.breakerName == "search")
        clock.advance(by: .seconds(3))
        #expect(breaker.state == .halfOpen, "A caller that makes no call in the open state makes the probe.")
        _ = await Self.call(breaker, fails: true)
        #expect(breaker.state == .open)
        clock.advance(by: .seconds(5))
        try await breaker.run { #expect(breaker.state == .halfOpen) }
        #expect(breaker.state == .closed)
        #expect(
            changes.events == [
                [.closed, .open], [.open, .halfOpen], [.halfOpen, .open], [.open, .halfOpen], [.halfOpen, .closed],
            ])
        // The counts begin again.
        for _ in 0..<3 { _ = await Self.call(breaker, fails: true) }
        #expect(breaker.state == .closed)
        _ = await Self.call(breaker, fails: true)
        #expect(breaker.state == .open)
    }

    @Test("A ratio of failures that is too small does not open the breaker")
    func ratio() async {
        let breaker = CircuitBreaker(failureRatio: 0.1, minCallCount: 20, clock: ManualClock())
        for number in 0..<500 { _ = await Self.call(breaker, fails: number % 11 == 10) }
        #expect(breaker.state == .closed)
        for _ in 0..<20 { _ = await Self.call(breaker, fails: true) }
        #expect(breaker.state == .open)
    }

    @Test("Calls leave the window after its length")
    func window() async {
        let clock = ManualClock()
        let breaker = CircuitBreaker(failureRatio: 1, minCallCount: 3, window: .seconds(10), clock: clock)
        for _ in 0..<20 {
            for _ in 0..<2 { _ = await Self.call(breaker, fails: true) }
            clock.advance(by: .seconds(10))
        }
        #expect(breaker.state == .closed)
        _ = await Self.call(breaker, fails: true)
        clock.advance(by: .seconds(8))
        for _ in 0..<2 { _ = await Self.call(breaker, fails: true) }
        #expect(breaker.state == .open)
    }

    @Test("If the clock is set back, the break lasts no longer, and old calls leave the window")
    func clockSetBack() async {
        let clock = AdjustableClock()
        let breaker = CircuitBreaker(failureRatio: 0.5, minCallCount: 2, window: .seconds(30), clock: clock)
        for _ in 0..<2 { _ = await Self.call(breaker, fails: true) }
        clock.advance(by: .seconds(3))
        #expect(await Self.isRefused(breaker))
        clock.set(by: .seconds(-3600))
        #expect(await Self.isRefused(breaker))
        clock.advance(by: .seconds(2))
        #expect(await !Self.isRefused(breaker))
        #expect(breaker.state == .closed)
        _ = await Self.call(breaker, fails: true)
        clock.set(by: .seconds(-3600))
        for _ in 0..<2 {
            _ = await Self.call(breaker)
            clock.advance(by: .seconds(31))
        }
        _ = await Self.call(breaker, fails: true)
        #expect(breaker.state == .closed, "The earlier failure has left the window.")
    }

    @Test("At most the given number of probes is made, and all must succeed", .schedules(100))
    func probes() async throws {
        let breaker = CircuitBreaker(
            failureRatio: 1, minCallCount: 1, breakDuration: .seconds(5), probeCount: 2)
        _ = await Self.call(breaker, fails: true)
        try await Task.sleep(for: .seconds(5))
        let (meter, gate) = (ConcurrencyMeter(), Gate())
        let refusals = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    do {
                        try await breaker.run { await meter.measure { await gate.pass() } }
                        return false
                    } catch {
                        #expect((error as? CircuitOpenError)?.retryAfter == nil)
                        return true
                    }
                }
            }
            await gate.waitForArrivals(2)
            var refusals = 0
            for _ in 0..<3 { if await group.next() == true { refusals += 1 } }
            #expect(breaker.state == .halfOpen)
            gate.open()
            return refusals
        }
        #expect(refusals == 3)
        #expect(meter.most == 2)
        #expect(breaker.state == .closed)
    }

    @Test("A cancelled probe makes room for another one", .schedules(100))
    func cancelledProbe() async throws {
        let breaker = CircuitBreaker(failureRatio: 1, minCallCount: 1, breakDuration: .zero)
        _ = await Self.call(breaker, fails: true)
        let isProbing = Gate()
        let probe = Task {
            try await breaker.run {
                isProbing.open()
                try await Task.sleep(for: .seconds(3600))
            }
        }
        await isProbing.pass()
        #expect(await Self.isRefused(breaker))
        probe.cancel()
        _ = await probe.result
        #expect(breaker.state == .halfOpen)
        #expect(await !Self.isRefused(breaker))
        #expect(breaker.state == .closed)
    }

    @Test("Results of calls that began in an earlier state are ignored")
    func outdated() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let breaker = CircuitBreaker(failureRatio: 1, minCallCount: 1, clock: clock)
        let old = (0..<2).map { number in
            Task {
                try await breaker.run {
                    await gate.pass()
                    if number == 0 { throw WorkFailed() }
                }
            }
        }
        await gate.waitForArrivals(2)
        _ = await Self.call(breaker, fails: true)
        clock.advance(by: .seconds(5))
        try await breaker.run {
            gate.open()
            for task in old { _ = await task.result }
            #expect(breaker.state == .halfOpen, "Neither the old success nor the old failure is a probe.")
        }
        #expect(breaker.state == .closed)
    }

    @Test("Errors that are no failures of the system count as successes, and cancellations do not count")
    func failures() async throws {
        struct Mistake: Error {}
        let clock = ManualClock()
        let breaker = CircuitBreaker(
            failureRatio: 0.5, minCallCount: 2, clock: clock, isFailure: { !($0 is Mistake) })
        for _ in 0..<9 { try? await breaker.run { throw CancellationError() } }
        for _ in 0..<2 { try? await breaker.run { throw Mistake() } }
        _ = await Self.call(breaker, fails: true)
        #expect(breaker.state == .closed)
        _ = await Self.call(breaker, fails: true)
        #expect(breaker.state == .open)
        clock.advance(by: .seconds(5))
        try? await breaker.run { throw Mistake() }
        #expect(breaker.state == .closed)
    }

    @Test("An error that says nothing about the system does not count, and leaves the probe to another call")
    func ignoredErrors() async throws {
        struct NotMade: Error {}
        let clock = ManualClock()
        let breaker = CircuitBreaker(
            failureRatio: 0.5, minCallCount: 1, clock: clock, isFailure: { $0 is NotMade ? nil : true })
        try? await breaker.run(key: "a") { throw NotMade() }
        #expect(breaker.state(for: "a") == .closed)
        try? await breaker.run(key: "a") { throw WorkFailed() }
        #expect(breaker.state(for: "a") == .open)
        clock.advance(by: .seconds(5))
        for _ in 0..<3 { try? await breaker.run(key: "a") { throw NotMade() } }
        #expect(breaker.state(for: "a") == .halfOpen)
        try await breaker.run(key: "a") {}
        #expect(breaker.state(for: "a") == .closed)
    }

    @Test("Queues share a breaker: the bodies of a refused operation do not run", .schedules(50))
    func queues() async throws {
        let (breaker, bodies) = (CircuitBreaker(failureRatio: 1, minCallCount: 2), Recorder<Int>())
        let queues = (0..<2).map { _ in TaskOperationQueue() }
        for queue in queues { breaker.guardBodies(of: queue) }
        for queue in queues { _ = await queue.addOperation { throw WorkFailed() }.result }
        #expect(breaker.state == .open)
        for queue in queues {
            await #expect(throws: CircuitOpenError.self) {
                try await queue.addOperation { bodies.record(1) }.value
            }
        }
        #expect(bodies.events == [])
        try await Task.sleep(for: .seconds(5))
        try await queues[1].addOperation { bodies.record(1) }.value
        #expect(breaker.state == .closed)
        try await queues[0].addOperation { bodies.record(1) }.value
        #expect(bodies.events.count == 2)
    }

    @Test("Timeouts and attempts of an operation are one call", .schedules(50))
    func policies() async throws {
        let breaker = CircuitBreaker(failureRatio: 1, minCallCount: 2)
        let (queue, attempts) = (TaskOperationQueue(), Recorder<Int>())
        breaker.guardBodies(of: queue)
        _ = await queue.addOperation(.retry(.immediately(attempts: 5))) {
            attempts.record(1)
            throw WorkFailed()
        }.result
        #expect(attempts.events.count == 5)
        #expect(breaker.state == .closed)
        _ = await queue.addOperation(.timeout(.seconds(1))) { try await Task.sleep(for: .seconds(9)) }.result
        #expect(breaker.state == .open, "The timeout has passed, so the call failed.")
    }

    @Test(
        "The end of an operation's time is a failure of a call in its body, and a cancellation is not", .schedules(50))
    func callsInBodies() async throws {
        let breaker = CircuitBreaker(failureRatio: 1, minCallCount: 1)
        let queue = TaskOperationQueue()
        @Sendable func work() async throws { try await Task.sleep(for: .seconds(9)) }
        let cancelled = queue.addOperation { try await breaker.run(work) }
        await untilOthersWait()
        cancelled.cancel()
        _ = await cancelled.result
        _ = await queue.addOperation { try await withTimeout(.seconds(1)) { try await breaker.run(work) } }.result
        #expect(breaker.state == .closed)
        _ = await queue.addOperation {
            try await breaker.run { try await withTimeout(.seconds(1)) { try await work() } }
        }.result
        #expect(breaker.state == .open)
        let other = CircuitBreaker(failureRatio: 1, minCallCount: 1)
        _ = await queue.addOperation(.timeout(.seconds(1))) {
            try? await work()
            try await other.run(work)
        }.result
        #expect(other.state == .closed, "The call began after the timeout.")
        _ = await queue.addOperation(.timeout(.seconds(1))) { try await other.run(work) }.result
        #expect(other.state == .open)
    }

    @Test("Changes are reported in order, one at a time, and the handler may use the breaker", .schedules(200))
    func changes() async throws {
        let (reports, meter, holder) = (Recorder<[State]>(), ConcurrencyMeter(), Recorder<CircuitBreaker>())
        let breaker = CircuitBreaker(
            failureRatio: 1, minCallCount: 1, breakDuration: .zero,
            onChange: { _, former, state in
                meter.enter()
                _ = holder.events[0].state
                reports.record([former, state])
                meter.leave()
            })
        holder.record(breaker)
        await withTaskGroup { group in
            for number in 0..<4 {
                group.addTask {
                    _ = await Self.call(breaker, fails: number % 2 == 0)
                    await Task.yield()
                    _ = await Self.call(breaker, fails: number % 2 == 1)
                }
            }
        }
        var state = State.closed
        for report in reports.events {
            #expect(report[0] == state && report[0] != report[1])
            state = report[1]
        }
        #expect(state == breaker.state)
        #expect(meter.most <= 1)
    }

    @Test("Changes of many threads are reported in order")
    func threads() async throws {
        let (reports, meter) = (Recorder<[State]>(), ConcurrencyMeter())
        let breaker = CircuitBreaker(
            failureRatio: 1, minCallCount: 1, breakDuration: .zero,
            onChange: { _, former, state in
                meter.enter()
                reports.record([former, state])
                // Long enough that calls on other threads change the state meanwhile.
                let end = ContinuousClock.now + .microseconds(30)
                while ContinuousClock.now < end {}
                meter.leave()
            })
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for number in 0..<500 { _ = await Self.call(breaker, fails: number % 2 == 0) }
                }
            }
        }
        let events = reports.events
        #expect(events.first?[0] == .closed)
        #expect(zip(events, events.dropFirst()).allSatisfy { $0[1] == $1[0] })
        #expect(events.last?[1] == breaker.state)
        #expect(meter.most <= 1)
    }

    @Test("Times and numbers at their limits work")
    func limits() async throws {
        let clock = ManualClock()
        let slow = CircuitBreaker(
            failureRatio: 1, minCallCount: 1, window: .seconds(Int64.max), breakDuration: .seconds(Int64.max),
            probeCount: .max, clock: clock)
        _ = await Self.call(slow, fails: true)
        #expect(await Self.isRefused(slow))
        clock.advance(by: .seconds(1 << 39))
        #expect(await Self.isRefused(slow))
        clock.advance(by: .seconds(1 << 40))
        #expect(await !Self.isRefused(slow))
        #expect(slow.state == .halfOpen)
        let quick = CircuitBreaker(
            failureRatio: .leastNonzeroMagnitude, minCallCount: .max, window: Duration(attoseconds: 1),
            breakDuration: .zero)
        for _ in 0..<100 { _ = await Self.call(quick, fails: true) }
        #expect(quick.state == .closed)
    }

    @Test("A queue keeps its breaker, and a breaker keeps no queue, no call and no error")
    func freed() async throws {
        let (freed, changes) = (Gate(), Gate())
        weak var queue: TaskOperationQueue?
        do {
            let breaker = CircuitBreaker(
                failureRatio: 1, minCallCount: 1,
                onChange: { [witness = Witness(changes)] _, _, _ in withExtendedLifetime(witness) {} })
            let owned = TaskOperationQueue()
            queue = owned
            breaker.guardBodies(of: owned)
            let witness = Witness(freed)
            _ = await owned.addOperation { withExtendedLifetime(witness) {} }.result
        }
        await freed.pass()
        await changes.pass()
        await until { queue == nil }
    }
}

// MARK: - Keys

extension CircuitBreakerTests {
    private static func fail(_ breaker: CircuitBreaker, _ key: String?) async {
        await #expect(throws: WorkFailed.self) { try await breaker.run(key: key) { throw WorkFailed() } }
    }

    @Test("Each key has a state of its own, and so have calls without a key")
    func keys() async throws {
        let clock = ManualClock()
        let changes = Recorder<String>()
        let breaker = CircuitBreaker(name: "hosts", failureRatio: 1, minCallCount: 2, clock: clock) { key, _, state in
            changes.record("\(key ?? "none") \(state)")
        }
        for _ in 0..<2 { await Self.fail(breaker, "a") }
        #expect(breaker.state(for: "a") == .open)
        #expect(breaker.state(for: "b") == .closed)
        #expect(breaker.state == .closed)
        #expect(breaker.state(for: String?.none) == .closed)
        let error = await #expect(throws: CircuitOpenError.self) { try await breaker.run(key: "a") {} }
        #expect(error?.key == "a")
        #expect(error?.description.contains("key a") == true)
        try await breaker.run(key: "b") {}
        for _ in 0..<2 { await Self.fail(breaker, nil) }
        #expect(breaker.state == .open)
        #expect(breaker.state(for: "b") == .closed)
        clock.advance(by: .seconds(5))
        try await breaker.run(key: "a") {}
        #expect(breaker.state(for: "a") == .closed)
        #expect(breaker.state == .halfOpen)
        #expect(changes.events == ["a open", "none open", "a halfOpen", "a closed"])
    }

    @Test("Queues with keys of one breaker fail separately")
    func queuesWithKeys() async throws {
        let breaker = CircuitBreaker(failureRatio: 1, minCallCount: 1, clock: ManualClock())
        let queues = (0..<2).map { _ in TaskOperationQueue() }
        for (number, queue) in queues.enumerated() { breaker.guardBodies(of: queue, key: number) }
        await #expect(throws: WorkFailed.self) { try await queues[0].run { throw WorkFailed() } }
        await #expect(throws: CircuitOpenError.self) { try await queues[0].run {} }
        try await queues[1].run {}
        await #expect(throws: CircuitOpenError.self) { try await breaker.run(key: 0) {} }
    }

    @Test("A key is forgotten when it has had no call for the window and the break, but not during a call")
    func forgottenKeys() async throws {
        let clock = ManualClock()
        let breaker = CircuitBreaker(
            failureRatio: 0.5, minCallCount: 1, window: .seconds(10), breakDuration: .seconds(5), clock: clock)
        await Self.fail(breaker, "a")
        clock.advance(by: .seconds(15))
        #expect(breaker.state(for: "a") == .halfOpen)
        clock.advance(by: .seconds(1))
        #expect(breaker.state(for: "a") == .closed)
        // Two calls at once: if the breaker were half open, one of them would be refused.
        try await breaker.run(key: "a") { try await breaker.run(key: "a") {} }
        try await breaker.run(key: "b") {
            for round in 0..<20 {
                for key in 0..<100 { try await breaker.run(key: round * 100 + key) {} }
                clock.advance(by: .seconds(16))
            }
            #expect(breaker.keyCount <= 300)
            #expect(breaker.state(for: "a") == .closed)
        }
        await Self.fail(breaker, "b")
        #expect(breaker.state(for: "b") == .open, "A call that is longer than the window ends in its own line.")
    }

    @Test("A probe of a key that ends late closes its key")
    func lateProbe() async throws {
        let clock = ManualClock()
        let breaker = CircuitBreaker(
            failureRatio: 1, minCallCount: 1, window: .seconds(1), breakDuration: .seconds(5), clock: clock)
        await Self.fail(breaker, "a")
        clock.advance(by: .seconds(5))
        try await breaker.run(key: "a") {
            clock.advance(by: .seconds(100))
            #expect(breaker.state(for: "a") == .halfOpen)
            for key in 0..<200 { try await breaker.run(key: key) {} }
            #expect(breaker.state(for: "a") == .halfOpen)
        }
        #expect(breaker.state(for: "a") == .closed)
    }

    @Test("Functions of a key may use the breaker")
    func hostileKey() async throws {
        struct HostileKey: Hashable, CustomStringConvertible {
            let breaker: CircuitBreaker
            let number: Int

            static func == (one: Self, other: Self) -> Bool {
                _ = one.breaker.state
                return one.number == other.number
            }

            func hash(into hasher: inout Hasher) { hasher.combine(breaker.state == .closed) }

            var description: String { "\(number) \(breaker.state(for: number))" }
        }
        let reports = Recorder<String?>()
        let breaker = CircuitBreaker(failureRatio: 1, minCallCount: 1) { key, _, _ in reports.record(key) }
        for number in 0..<3 {
            let key = HostileKey(breaker: breaker, number: number)
            await #expect(throws: WorkFailed.self) { try await breaker.run(key: key) { throw WorkFailed() } }
            await #expect(throws: CircuitOpenError.self) { try await breaker.run(key: key) {} }
        }
        #expect(reports.events == ["0 closed", "1 closed", "2 closed"])
    }
}
