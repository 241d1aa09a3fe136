import Foundation
import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsDeliveries

/// An engine, a queue and a clock.
private struct Setup: Sendable {
    let clock = ManualClock()
    let engine: InMemoryEngine<Int>
    let queue: TaskOperationQueue
    let events = Recorder<String>()
    let runs = Recorder<Int>()
    var configuration = ConsumerConfiguration()

    /// - Parameter configure: Changes the configuration of the queue, which receives the clock of the test.
    init(
        width: Int = 2, lease: Duration = .seconds(30), payloads: Int,
        interceptor: (@Sendable (String, EngineCall, Bool) async throws -> Void)? = nil,
        configure: (inout TaskOperationQueue.Configuration, ManualClock) -> Void = { _, _ in }
    ) {
        engine = InMemoryEngine(lease: lease, clock: clock, interceptor: interceptor)
        var queueConfiguration = TaskOperationQueue.Configuration(maxConcurrentOperationCount: width)
        configure(&queueConfiguration, clock)
        queue = TaskOperationQueue(queueConfiguration)
        for payload in 0..<payloads { engine.send(payload) }
        configuration.clock = clock
        configuration.options.lease = DeliveryLease(lease, renewal: .whileProgressing)
        configuration.options.redelivery = RetryPolicy { _, attempt in .seconds(attempt) }
        configuration.backoff = RetryPolicy { _, _ in .seconds(1) }
    }

    func consume(
        isFinished: Bool = true, optionsFor: (@Sendable (Int) -> DeliveryOptions)? = nil,
        onPoison: (@Sendable (InMemoryDelivery<Int>, any Error) async throws -> Void)? = nil,
        body: @escaping @Sendable (Int) async throws -> Void
    ) async {
        if isFinished { engine.finish() }
        await queue.consume(
            engine.deliveries(), configuration: configuration, optionsFor: optionsFor, onPoison: onPoison,
            observer: { events.record(Self.name($0)) }
        ) { payload in
            runs.record(payload)
            try await body(payload)
        }
    }

    /// Moves the clock in small steps until a body has returned.
    func advancing(while body: @escaping @Sendable () async -> Void) async {
        let task = Task { await body() }
        let isOver = Recorder<Void>()
        Task {
            await task.value
            isOver.record(())
        }
        while isOver.events.isEmpty { await step() }
    }

    func step() async {
        for _ in 0..<100 { await Task.yield() }
        clock.advance(by: .milliseconds(500))
    }

    static func name(_ event: DeliveryEvent<Int>) -> String {
        switch event {
        case .acknowledged(let id): "acknowledged \(id)"
        case .rejected(let id, _, let delay): "rejected \(id) for \(delay)"
        case .givenBack(let id): "given back \(id)"
        case .poisoned(let id, _): "poisoned \(id)"
        case .leaseLost(let id): "lost \(id)"
        case .pullPostponed(_, let pause): "pull postponed for \(pause)"
        case .engineFailed(let call, let id, _, let pause):
            "\(call) \(id.map { "\($0)" } ?? "") failed, \(pause.map { "\($0)" } ?? "for good")"
        }
    }
}

private struct Failed: Error {}

@Suite("Consuming deliveries", .schedules(50), .endsInTime)
struct ConsumeTests {
    @Test("each delivery executes once and is acknowledged; the call returns at the end of the sequence")
    func success() async {
        let setup = Setup(payloads: 20)
        await setup.consume { _ in await Task.yield() }
        #expect(setup.runs.events.sorted() == Array(0..<20))
        #expect(setup.events.events.sorted() == (1...20).map { "acknowledged \($0)" }.sorted())
        #expect(setup.engine.count == 0)
    }

    @Test("a failure is rejected with the delay of the policy, and delivered again after it")
    func failure() async {
        let setup = Setup(payloads: 1)
        await setup.advancing {
            await setup.consume { _ in if setup.runs.events.count < 3 { throw Failed() } }
        }
        #expect(
            setup.events.events == [
                "rejected 1 for 1.0 seconds", "rejected 1 for 2.0 seconds", "acknowledged 1",
            ])
    }

    @Test("a delivery that fails the given number of times is poison: the handler gets it, and the engine removes it")
    func poison() async {
        var setup = Setup(payloads: 1)
        setup.configuration.options.redelivery = RetryPolicy { _, _ in .zero }
        setup.configuration.options.maxAttempts = 3
        let poisoned = Recorder<Int>()
        await setup.consume(onPoison: { delivery, _ in poisoned.record(delivery.attempt) }) { _ in throw Failed() }
        #expect(setup.runs.events.count == 3)
        #expect(poisoned.events == [3])
        #expect(setup.events.events.last == "poisoned 1")
    }

    @Test("a policy without another attempt makes a delivery poison at once; a handler that throws keeps it")
    func permanentFailure() async {
        var setup = Setup(lease: .seconds(1), payloads: 1)
        setup.configuration.options.redelivery = RetryPolicy { _, _ in nil }
        let poisoned = Recorder<Int>()
        await setup.advancing { [setup] in
            await setup.consume(onPoison: { delivery, _ in
                poisoned.record(delivery.attempt)
                if delivery.attempt == 1 { throw Failed() }
            }) { _ in
                throw Failed()
            }
        }
        #expect(poisoned.events == [1, 2])
        #expect(setup.events.events == ["rejected 1 for 1.0 seconds", "poisoned 1"])
    }

    enum Place: CaseIterable {
        case waiting, executing, answering
    }

    @Test(
        "as many deliveries as the width and the prefetched ones are held, and no more",
        arguments: [0, 1, 3], Place.allCases)
    func bound(prefetch: Int, place: Place) async throws {
        let (gate, limit) = (Gate(), AsyncSemaphore(capacity: 1))
        var setup = Setup(width: 3, payloads: 30) { _, call, isDone in
            if call == .reject, !isDone { await gate.pass() }
        }
        setup.configuration.prefetch = prefetch
        if place == .waiting { try await limit.acquire() }
        let pulls = Recorder<Int>()
        let consumption = Task { [setup] in
            let deliveries = setup.engine.deliveries().map { delivery in
                pulls.record(delivery.id)
                return delivery
            }
            await setup.queue.consume(deliveries, configuration: setup.configuration) { _ in
                var options = setup.configuration.options
                if place == .waiting { options.operation = .limit(limit) }
                return options
            } body: { _ in
                if place == .executing { await gate.pass() }
                throw Failed()
            }
        }
        for _ in 0..<300 { await Task.yield() }
        // A delivery that waits for a limit of its kind counts as prefetched. Without prefetching, only that delivery
        // is pulled.
        #expect(pulls.events.count == (place == .waiting ? max(1, prefetch) : 3 + prefetch))
        consumption.cancel()
        if place == .waiting { limit.release() }
        gate.open()
        await consumption.value
    }

    @Test("a suspended queue pulls nothing, and so does one whose limit is taken")
    func noPull() async throws {
        var setup = Setup(payloads: 3)
        let limit = AsyncSemaphore(capacity: 1)
        setup.configuration.options.operation = .limit(limit)
        let (queue, engine, configuration) = (setup.queue, setup.engine, setup.configuration)
        try await limit.acquire()
        queue.isSuspended = true
        let pulls = Recorder<Int>()
        engine.finish()
        let consumption = Task {
            let deliveries = engine.deliveries().map { delivery in
                pulls.record(delivery.id)
                return delivery
            }
            await queue.consume(deliveries, configuration: configuration) { _ in }
        }
        for _ in 0..<20 { await Task.yield() }
        queue.isSuspended = false
        for _ in 0..<20 { await Task.yield() }
        #expect(pulls.events.isEmpty)
        limit.release()
        await consumption.value
        #expect(pulls.events.count == 3)
    }

    @Test("A delivery that arrives after its queue was suspended is given back, and can be replaced", .schedules(50))
    func suspendedWhilePulling() async {
        let (queue, engine) = (TaskOperationQueue(), InMemoryEngine<Int>(lease: .seconds(60)))
        let (sent, givenBack) = (Recorder<Int>(), Recorder<Int>())
        let consumption = Task {
            await queue.consume(
                engine.deliveries(),
                observer: { if case .givenBack(let id) = $0 { givenBack.record(id) } },
                body: { sent.record($0) })
        }
        await untilOthersWait()
        queue.isSuspended = true
        for edit in 1...3 {
            engine.send(edit, options: EnqueueOptions(identity: "note", replaces: true))
            await untilOthersWait()
        }
        #expect(sent.events.isEmpty)
        queue.isSuspended = false
        engine.finish()
        await consumption.value
        #expect(sent.events == [3])
        #expect(givenBack.events.count == 1)
    }

    @Test("waiting for a start uses no token of the rate")
    func rate() async {
        let setup = Setup(payloads: 3)
        let queue = TaskOperationQueue(
            .init(
                maxConcurrentOperationCount: 2, rate: .one(per: .seconds(1)), clock: setup.clock))
        setup.engine.finish()
        await setup.advancing {
            await queue.consume(setup.engine.deliveries(), configuration: setup.configuration) { _ in
                setup.runs.record(Int(setup.clock.now.offset / .seconds(1)))
            }
        }
        #expect(setup.runs.events == [0, 1, 2])
    }

    @Test("Waiting for a start uses no token of the rate of a limit, in total or for a key", arguments: [false, true])
    func rateOfLimit(isPerKey: Bool) async {
        var setup = Setup(payloads: 4)
        let limit =
            isPerKey
            ? AsyncSemaphore(capacity: 9, ratePerKey: .one(per: .seconds(1)), clock: setup.clock)
            : AsyncSemaphore(capacity: 9, rate: .one(per: .seconds(1)), clock: setup.clock)
        setup.configuration.options.operation = .limit(limit, key: 1)
        await setup.advancing { [setup] in
            setup.engine.finish()
            await setup.queue.consume(setup.engine.deliveries(), configuration: setup.configuration) { _ in
                setup.runs.record(Int(setup.clock.now.offset / .seconds(1)))
            }
        }
        #expect(setup.runs.events == [0, 1, 2, 3])
    }

    @Test("Waiting for a start passes no interceptor, so that only deliveries count as calls")
    func interceptors() async {
        var setup = Setup(width: 1, payloads: 60)
        setup.configuration.options.redelivery = RetryPolicy { _, _ in nil }
        // With a limit, the consumer waits for a start before each delivery.
        setup.configuration.options.operation = .limit(AsyncSemaphore(capacity: 1))
        let (names, budget) = (Recorder<String?>(), RetryBudget(ratio: 0.1))
        let breaker = CircuitBreaker(failureRatio: 0.9, minCallCount: 10, clock: setup.clock)
        setup.queue.addBodyInterceptor { operation, body in
            names.record(operation.name)
            try await body()
        }
        breaker.guardBodies(of: setup.queue)
        budget.countBodies(of: setup.queue)
        while budget.takeToken() {}
        await setup.consume(onPoison: { _, _ in }) { _ in throw Failed() }
        #expect(!names.events.isEmpty && !names.events.contains("pull"))
        #expect(breaker.state == .open)
        #expect(budget.tokenCount == 0)
    }

    @Test("a delivery starts after earlier ones of its key have ended, even if one between them is cancelled")
    func cancelledDeliveryOfKey() async {
        var setup = Setup(width: 4, payloads: 3)
        let (gate, isExecuting) = (Gate(), Gate())
        setup.configuration.prefetch = 3
        setup.configuration.options.key = "key"
        setup.configuration.options.name = "delivery"
        setup.configuration.options.redelivery = RetryPolicy { _, _ in .seconds(1000) }
        let meter = Recorder<WorkEvent>()
        let consumption = Task { [setup] in
            await setup.consume(isFinished: false) { payload in
                await meter.run("\(payload)") {
                    isExecuting.open()
                    await gate.pass()
                }
            }
        }
        await isExecuting.pass()
        for _ in 0..<200 { await Task.yield() }
        let second = setup.queue.operations.filter { $0.state == .waiting }.first
        second?.cancel()
        for _ in 0..<200 { await Task.yield() }
        #expect(second != nil && meter.started.count == 1)
        gate.open()
        consumption.cancel()
        await consumption.value
        meter.expectAtMost(1)
    }

    @Test("deliveries with one key execute one at a time")
    func keys() async {
        let setup = Setup(width: 4, payloads: 12)
        let meter = Recorder<WorkEvent>()
        await setup.consume { [options = setup.configuration.options] payload in
            var options = options
            options.key = payload % 2 == 0 ? "even" : nil
            return options
        } body: { payload in
            if payload % 2 == 0 { await meter.run("\(payload)") { await Task.yield() } }
        }
        meter.expectAtMost(1)
        #expect(setup.runs.events.count == 12)
    }

    @Test(
        "a cancelled consumer lets bodies finish in the drain time, then cancels them, and returns the remaining deliveries"
    )
    func drain() async {
        var setup = Setup(width: 2, payloads: 5)
        setup.configuration.drainTime = .seconds(5)
        let consumption = Task { [setup] in
            await setup.consume(isFinished: false) { payload in
                try await setup.clock.sleep(for: .seconds(payload == 0 ? 3 : 1000))
            }
        }
        await setup.clock.waitForSleepers(2)
        consumption.cancel()
        setup.clock.advance(by: .seconds(3))
        while setup.events.events.isEmpty { await Task.yield() }
        #expect(setup.events.events == ["acknowledged 1"])
        await setup.advancing { await consumption.value }
        #expect(setup.events.events == ["acknowledged 1", "given back 2"])
        #expect(setup.engine.count == 4)
    }

    @Test("a delivery that arrives after the cancellation is given back, and does not execute")
    func lateDelivery() async {
        let (arrives, isPulling) = (Gate(), Gate())
        let setup = Setup(payloads: 1) { _, call, isDone in
            if call != .pull || !isDone { return }
            isPulling.open()
            await arrives.pass()
        }
        let consumption = Task { await setup.consume(isFinished: false) { _ in } }
        await isPulling.pass()
        consumption.cancel()
        arrives.open()
        await consumption.value
        #expect(setup.runs.events.isEmpty)
        #expect(setup.events.events == ["given back 1"])
    }

    @Test(
        "cancelling all operations of the queue, with or without a cause, does not end the consumption",
        arguments: [CancellationError() as any Error, Failed()])
    func cancelAll(cause: any Error) async {
        let setup = Setup(payloads: 3)
        setup.queue.isSuspended = true
        let consumption = Task { await setup.consume { _ in } }
        while setup.queue.operationCount == 0 { await Task.yield() }
        #expect(setup.queue.operationCount == 1)
        setup.queue.cancelAllOperations(throwing: cause)
        while setup.events.events.isEmpty { await Task.yield() }
        setup.queue.isSuspended = false
        await consumption.value
        #expect(setup.engine.count == 0)
        #expect(setup.events.events.first == "pull postponed for 0.0 seconds")
    }

    @Test("a full queue that drops the operation of the consumer does not end the consumption", arguments: [1, 5])
    func overflow(additions: Int) async {
        let setup = Setup(
            payloads: 3,
            configure: { queue, _ in
                queue.maxQueuedOperationCount = 1
                queue.overflow = .dropOldest
            })
        setup.queue.isSuspended = true
        let consumption = Task { await setup.consume { _ in } }
        while setup.queue.operationCount == 0 { await Task.yield() }
        for _ in 0..<additions { setup.queue.addOperation {} }
        setup.queue.isSuspended = false
        await setup.advancing { await consumption.value }
        #expect(setup.engine.count == 0)
        #expect(setup.events.events.contains { $0.hasPrefix("pull postponed") })
    }

    @Test(
        "timeouts of the queue's defaults apply to deliveries, and do not end or delay the consumption",
        arguments: [OperationOptions.timeout(untilStart: .seconds(1)), .timeout(untilEnd: .seconds(1))])
    func defaultTimeouts(limit: OperationOptions) async {
        let setup = Setup(payloads: 3, configure: { queue, clock in queue.defaults = [limit, .clock(clock)] })
        setup.queue.isSuspended = true
        let consumption = Task { await setup.consume { _ in } }
        for _ in 0..<10 { await setup.step() }
        setup.queue.isSuspended = false
        await consumption.value
        #expect(setup.events.events.sorted() == (1...3).map { "acknowledged \($0)" })
    }

    @Test("a delay among the queue's defaults delays each delivery once")
    func defaultDelay() async {
        let setup = Setup(
            width: 1, payloads: 2,
            configure: { queue, clock in
                queue.defaults = [.delay(.seconds(10)), .clock(clock), .limit(AsyncSemaphore(capacity: 1))]
            })
        let starts = Recorder<Int>()
        await setup.advancing {
            await setup.consume { _ in starts.record(Int(setup.clock.now.offset / .seconds(1))) }
        }
        #expect(starts.events == [10, 20])
    }

    @Test("the next pull follows after the duration of a lease if the policy allows no further one")
    func exhaustedBackoff() async {
        let calls = Recorder<Int>()
        var setup = Setup(payloads: 1) { _, call, isDone in
            if call != .pull || isDone { return }
            calls.record(0)
            if calls.events.count <= 3 { throw Failed() }
        }
        setup.configuration.backoff = RetryPolicy { _, attempt in attempt < 2 ? .seconds(1) : nil }
        await setup.advancing { [setup] in await setup.consume { _ in } }
        let pauses = ["1.0", "30.0", "30.0"].map { "pull  failed, \($0) seconds" }
        #expect(setup.events.events == pauses + ["acknowledged 1"])
    }

    @Test("the shutdown of another queue, which a body reports, does not end the consumption")
    func shutdownOfAnotherQueue() async {
        let setup = Setup(payloads: 3)
        let other = TaskOperationQueue(maxConcurrentOperationCount: 1)
        other.shutDown()
        await setup.advancing {
            await setup.consume { _ in if setup.runs.events.count <= 2 { try await other.run {} } }
        }
        #expect(setup.engine.count == 0)
        #expect(setup.events.events.count { $0.hasPrefix("rejected") } == 2)
    }

    @Test("limits and weights of the queue's defaults apply to pulls", arguments: [false, true])
    func defaultLimits(isWeight: Bool) async throws {
        let limit = AsyncSemaphore(capacity: 1)
        let setup = Setup(
            width: 2, payloads: 1,
            configure: { queue, _ in
                queue.defaults = isWeight ? .weight(2) : .limit(limit)
            })
        let gate = Gate()
        if !isWeight { try await limit.acquire() }
        if isWeight { setup.queue.addOperation(.weight(1)) { await gate.pass() } }
        let pulls = Recorder<Int>()
        let consumption = Task {
            setup.engine.finish()
            let deliveries = setup.engine.deliveries().map { delivery in
                pulls.record(delivery.id)
                return delivery
            }
            await setup.queue.consume(deliveries, configuration: setup.configuration) { _ in }
        }
        for _ in 0..<100 { await Task.yield() }
        #expect(pulls.events.isEmpty)
        gate.open()
        if !isWeight { limit.release() }
        await consumption.value
        #expect(setup.engine.count == 0)
    }

    @Test("a delivery that is repeated in this process counts once among the waiting deliveries")
    func repetitions() async {
        var setup = Setup(width: 4, payloads: 10)
        setup.configuration.prefetch = 1
        setup.configuration.options.operation = .retry(.immediately(attempts: 4))
        let gate = Gate()
        let consumption = Task { [setup] in
            await setup.consume(isFinished: false) { payload in
                if payload > 0 { return await gate.pass() }
                if RetryPolicy.attempt! < 4 { throw Failed() }
                setup.queue.isSuspended = true
                gate.open()
            }
        }
        for _ in 0..<500 { await Task.yield() }
        let executed = setup.events.events.count
        #expect(setup.queue.operationCount <= 1 && executed < 10)
        consumption.cancel()
        setup.queue.isSuspended = false
        await consumption.value
    }

    @Test("shutting down the queue ends the consumption, and refused deliveries are returned")
    func shutDown() async {
        let setup = Setup(payloads: 5)
        setup.queue.shutDown()
        await setup.consume(isFinished: false) { _ in }
        #expect(setup.runs.events.isEmpty)
        #expect(setup.engine.count == 5)
    }
}

@Suite("Leases and engines that fail", .schedules(50), .endsInTime)
struct DeliveryFailureTests {
    @Test("a body that reports no progress loses its lease and is cancelled, and keeps its permit until it ends")
    func hang() async {
        let setup = Setup(width: 1, lease: .seconds(9), payloads: 1)
        let isReleased = Gate()
        let consumption = Task {
            await setup.consume { _ in
                if setup.runs.events.count > 1 { return }
                await withTaskCancellationHandler {
                    await Task.detached { await isReleased.pass() }.value
                } onCancel: {
                    setup.events.record("cancelled")
                }
            }
        }
        await advance(setup, by: .seconds(9))
        #expect(setup.events.events == ["lost 1", "cancelled"])
        #expect(setup.queue.operations.first?.state == .executing)
        #expect(setup.runs.events.count == 1)
        isReleased.open()
        await advance(setup, by: .seconds(3))
        await consumption.value
        #expect(setup.runs.events.count == 2)
        #expect(setup.engine.count == 0)
    }

    @Test("a body finds that it was cancelled because of its lease, and its operation fails with that error")
    func cause() async {
        let setup = Setup(width: 1, lease: .seconds(9), payloads: 1)
        let (causes, failures) = (Recorder<(any Error)?>(), Recorder<(any Error)?>())
        let consumption = Task {
            await setup.consume { _ in
                let operation = AnyTaskOperation.current!
                if setup.runs.events.count > 1 { return causes.record(operation.cancellationCause) }
                operation.addCompletionHandler { [unowned operation] in failures.record(operation.failure) }
                do {
                    try await setup.clock.sleep(for: .seconds(100))
                } catch {
                    causes.record(operation.cancellationCause)
                    throw error
                }
            }
        }
        await advance(setup, by: .seconds(10))
        await consumption.value
        #expect(causes.events.map { $0 is DeliveryLeaseLost } == [true, false])
        #expect(failures.events.map { $0 is DeliveryLeaseLost } == [true])
    }

    @Test(
        "a body that exceeds a timeout has failed: its delivery is rejected with the delay of the policy",
        arguments: [OperationOptions.timeout(.seconds(1)), .timeout(untilEnd: .seconds(1))])
    func timeout(limit: OperationOptions) async {
        var setup = Setup(payloads: 1)
        setup.configuration.options.operation = [limit, .clock(setup.clock)]
        setup.configuration.options.maxAttempts = 3
        await setup.advancing { [setup] in
            await setup.consume(onPoison: { _, _ in }) { _ in try await setup.clock.sleep(for: .seconds(1000)) }
        }
        #expect(setup.runs.events.count == 3)
        #expect(
            setup.events.events == ["rejected 1 for 1.0 seconds", "rejected 1 for 2.0 seconds", "poisoned 1"])
    }

    @Test("a delivery whose time is over before its start is rejected with the delay of the policy")
    func timeoutBeforeStart() async {
        var setup = Setup(payloads: 1)
        setup.configuration.prefetch = 1
        setup.configuration.options.operation = [.timeout(untilEnd: .seconds(1)), .clock(setup.clock)]
        setup.queue.isSuspended = true
        let consumption = Task { [setup] in await setup.consume { _ in } }
        await advance(setup, by: .seconds(1.5))
        #expect(setup.events.events == ["rejected 1 for 1.0 seconds"])
        setup.queue.isSuspended = false
        await advance(setup, by: .seconds(5))
        await consumption.value
        #expect(setup.events.events.last == "acknowledged 1")
    }

    @Test(
        "A delivery that always fails before its start is poison after its last attempt, with its last error",
        arguments: [false, true])
    func poisonBeforeStart(isLimitedByPolicy: Bool) async {
        var setup = Setup(payloads: 1)
        setup.configuration.prefetch = 1
        setup.configuration.options.operation = [.timeout(untilEnd: .seconds(1)), .clock(setup.clock)]
        if isLimitedByPolicy {
            setup.configuration.options.redelivery = RetryPolicy { _, attempt in attempt < 2 ? .seconds(1) : nil }
        } else {
            setup.configuration.options.maxAttempts = 2
        }
        setup.queue.isSuspended = true
        let (attempts, errors) = (Recorder<Int>(), Recorder<any Error>())
        await setup.advancing { [setup] in
            await setup.consume(onPoison: { delivery, error in
                attempts.record(delivery.attempt)
                errors.record(error)
            }) { _ in
            }
        }
        #expect(attempts.events == [2] && setup.runs.events.isEmpty)
        #expect(setup.events.events == ["rejected 1 for 1.0 seconds", "poisoned 1"])
        let isTimeout = errors.events.map { if case TaskOperationError.timedOut = $0 { true } else { false } }
        #expect(isTimeout == [true], "\(errors.events)")
    }

    @Test(
        "the engine gets one answer for a body that ignores the end of its time, and the body keeps its key until it ends",
        arguments: [false, true])
    func overrun(succeeds: Bool) async {
        let answers = Recorder<EngineCall>()
        var setup = Setup(width: 4, payloads: 8) { _, call, isDone in
            if isDone, call == .acknowledge || call == .reject { answers.record(call) }
        }
        setup.configuration.prefetch = 4
        setup.configuration.options.key = "key"
        setup.configuration.options.lease = DeliveryLease(.seconds(30), renewal: .upTo(.seconds(1000)))
        setup.configuration.options.operation = [
            .timeout(.seconds(1)), .overrun(.abandon), .clock(setup.clock),
        ]
        let meter = Recorder<WorkEvent>()
        await setup.advancing { [setup] in
            await setup.consume { payload in
                let isLate = setup.runs.events.count { $0 == payload } == 1
                try await meter.run("\(payload)") {
                    if isLate {
                        await Task.detached {
                            try? await setup.clock.sleep(for: .seconds(3))
                        }.value
                    }
                    if isLate && !succeeds { throw Failed() }
                }
            }
            #expect(meter.started.count == meter.finished.count)
        }
        meter.expectAtMost(1)
        #expect(answers.events.count { $0 == .acknowledge } == 8)
        #expect(answers.events.count { $0 == .reject } == (succeeds ? 0 : 8))
        #expect(setup.events.events.count == answers.events.count)
    }

    @Test("an attempt that is cut off while the engine acknowledges does not execute the payload again")
    func slowAcknowledgement() async {
        let calls = Recorder<Int>()
        let clock = ManualClock()
        var setup = Setup(payloads: 1) { _, call, isDone in
            if call != .acknowledge || isDone { return }
            calls.record(0)
            if calls.events.count == 1 { try? await clock.sleep(for: .seconds(2)) }
        }
        setup.configuration.options.operation = [
            .retry(.immediately(attempts: 3)), .timeout(perAttempt: .seconds(1)), .clock(clock),
        ]
        let consumption = Task { [setup] in await setup.consume { _ in } }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        await consumption.value
        #expect(setup.runs.events.count == 1)
        #expect(setup.engine.count == 0)
    }

    @Test("a body that reports progress keeps its lease")
    func progress() async {
        let setup = Setup(lease: .seconds(9), payloads: 1)
        let consumption = Task {
            await setup.consume { _ in
                for step in 1...20 {
                    try await setup.clock.sleep(for: .seconds(2))
                    AnyTaskOperation.current!.reportProgress(step, of: 20)
                }
            }
        }
        await advance(setup, by: .seconds(41))
        await consumption.value
        #expect(setup.events.events == ["acknowledged 1"])
    }

    @Test("an engine that does not answer a pull is asked again after pauses")
    func pulls() async {
        let calls = Recorder<Int>()
        let setup = Setup(payloads: 1) { _, call, isDone in
            if call != .pull || isDone { return }
            calls.record(0)
            if calls.events.count <= 3 { throw Failed() }
        }
        let consumption = Task { await setup.consume { _ in } }
        await advance(setup, by: .seconds(5))
        await consumption.value
        #expect(
            setup.events.events == Array(repeating: "pull  failed, 1.0 seconds", count: 3) + ["acknowledged 1"])
    }

    @Test("an acknowledgement that fails is repeated within the lease, and reported")
    func acknowledgements() async {
        let calls = Recorder<Int>()
        let setup = Setup(payloads: 1) { _, call, isDone in
            if call != .acknowledge || isDone { return }
            calls.record(0)
            if calls.events.count <= 3 { throw Failed() }
        }
        let consumption = Task { await setup.consume { _ in } }
        await advance(setup, by: .seconds(5))
        await consumption.value
        #expect(setup.runs.events.count == 1)
        #expect(
            setup.events.events == Array(repeating: "acknowledge 1 failed, 1.0 seconds", count: 2)
                + ["acknowledged 1"])
    }

    @Test("a success that cannot be acknowledged is reported when the lease ends, and executes again")
    func lostAcknowledgement() async {
        let isDown = AsyncSemaphore(capacity: 1)
        let setup = Setup(lease: .seconds(5), payloads: 1) { _, call, isDone in
            if call == .acknowledge, !isDone, isDown.available == 1 { throw Failed() }
        }
        let consumption = Task { await setup.consume { _ in } }
        await advance(setup, by: .seconds(5))
        #expect(setup.events.events.contains("acknowledge 1 failed, for good"))
        _ = isDown.tryAcquire()
        await advance(setup, by: .seconds(5))
        await consumption.value
        #expect(setup.runs.events.count >= 2)
        #expect(setup.events.events.last == "acknowledged 1")
    }

    /// Moves the clock in small steps, and lets all tasks run between them.
    private func advance(_ setup: Setup, by duration: Duration) async {
        let end = setup.clock.now.advanced(by: duration)
        while setup.clock.now < end { await setup.step() }
        for _ in 0..<100 { await Task.yield() }
    }
}

@Suite("Consuming in a body (rule 12)", .schedules(50), .endsInTime)
struct ConsumeInBodyTests {
    @Test("a body can consume on its own queue of width 1, and has its permit afterwards", arguments: [0, 1, 3])
    func ownQueue(prefetch: Int) async throws {
        var setup = Setup(width: 1, payloads: 10)
        setup.configuration.prefetch = prefetch
        let (meter, configured) = (Recorder<WorkEvent>(), setup)
        try await setup.queue.run {
            await configured.consume { payload in await meter.run("\(payload)") { await Task.yield() } }
            let later = configured.queue.addOperation { await meter.run("later") { await Task.yield() } }
            await meter.run("body") { for _ in 0..<20 { await Task.yield() } }
            try await later.value
        }
        meter.expectAtMost(1)
        #expect(setup.events.events.count == 10)
        #expect(setup.engine.count == 0)
    }

    @Test("deliveries can await operations of the queue whose body consumes them")
    func otherQueue() async throws {
        let setup = Setup(width: 2, payloads: 6)
        let outer = TaskOperationQueue(maxConcurrentOperationCount: 1)
        try await outer.run { await setup.consume { _ in try await outer.run {} } }
        #expect(setup.engine.count == 0)
    }

    @Test("deliveries do not inherit the priority of the body that consumes them")
    func priority() async throws {
        var setup = Setup(width: 1, payloads: 3)
        setup.configuration.options.operation = .priority(.low)
        let (outer, configured) = (TaskOperationQueue(maxConcurrentOperationCount: 1), setup)
        let priorities = Recorder<TaskPriority>()
        try await outer.run(.priority(.high)) {
            await configured.consume { _ in priorities.record(AnyTaskOperation.current!.effectivePriority) }
        }
        #expect(priorities.events == [.low, .low, .low])
    }

    @Test("a queue that never lends refuses the wait by name, and the consumer reports it", arguments: [0, 1])
    func neverLends(prefetch: Int) async throws {
        var setup = Setup(width: 2, payloads: 3, configure: { queue, _ in queue.lending = .never })
        setup.configuration.prefetch = prefetch
        let (refusals, configured) = (Recorder<String>(), setup)
        let body = setup.queue.addOperation(name: "supervisor") {
            await configured.queue.consume(
                configured.engine.deliveries(), configuration: configured.configuration,
                observer: { event in
                    if case .pullPostponed(let error, _) = event { refusals.record("\(error)") }
                }
            ) { configured.runs.record($0) }
        }
        for _ in 0..<5 { await setup.step() }
        #expect(refusals.events.first?.contains("supervisor") == true)
        body.cancel()
        try? await body.value
        #expect(setup.runs.events.isEmpty)
        #expect(setup.engine.count == 3)
    }
}

@Suite("Deliveries with extreme values", .inTurns, .endsInTime)
struct DeliveryValuesTests {
    /// Runs a test under schedules, in the process of an exit test.
    private static func run(_ body: @escaping @Sendable () async throws -> Void) {
        do { try Schedules(2).run(body) } catch { Issue.record(error) }
    }

    @Test("an operation that the queue refuses because of a cycle is a failed delivery")
    func dependencyCycle() async {
        await #expect(processExitsWith: .success) {
            Self.run {
                var setup = Setup(payloads: 1)
                let queue = setup.queue
                queue.isSuspended = true
                let pending = queue.addOperation {}
                let other = TaskOperationQueue(maxConcurrentOperationCount: 1)
                let waiter = other.addOperation { try await queue.waitUntilAllOperationsAreFinished() }
                for _ in 0..<100 { await Task.yield() }
                setup.configuration.prefetch = 1
                setup.configuration.options.dependencies = [waiter]
                let consumption = Task { [setup] in
                    await setup.consume(isFinished: false) { _ in }
                }
                for _ in 0..<100 { await Task.yield() }
                #expect(setup.events.events == ["rejected 1 for 1.0 seconds"])
                consumption.cancel()
                pending.cancel()
                await consumption.value
            }
        }
    }

    @Test("leases, pauses, delays and limits of any length end no process")
    func durations() async {
        await #expect(processExitsWith: .success) {
            Self.run {
                for longest in [Duration.seconds(Int64.max), Duration(attoseconds: .max), Duration(attoseconds: .min)] {
                    let calls = Recorder<Int>()
                    var setup = Setup(lease: longest > .zero ? longest : .seconds(1), payloads: 2) { _, call, isDone in
                        if call != .acknowledge || isDone { return }
                        calls.record(0)
                        if calls.events.count == 1 { throw Failed() }
                    }
                    setup.configuration.options.lease = DeliveryLease(longest, renewal: .upTo(longest))
                    setup.configuration.options.redelivery = RetryPolicy { _, _ in longest }
                    setup.configuration.backoff = RetryPolicy { _, _ in longest }
                    setup.configuration.drainTime = longest
                    let consumption = Task { [setup] in
                        await setup.consume(isFinished: false) { if $0 == 1 { throw Failed() } }
                    }
                    for _ in 0..<200 { await Task.yield() }
                    #expect(setup.runs.events.count >= 2)
                    setup.clock.advance(by: .seconds(Int64.max))
                    for _ in 0..<200 { await Task.yield() }
                    setup.clock.advance(by: .seconds(Int64.max) * 9)
                    setup.engine.send(2)
                    for _ in 0..<200 { await Task.yield() }
                    consumption.cancel()
                    await consumption.value
                }
            }
        }
    }

    @Test("the lease of a consumer at the end of its clock, and a number of attempts below 1, end no process")
    func states() async {
        await #expect(processExitsWith: .success) {
            let end = Duration(attoseconds: .max)
            var lease = LeaseState(DeliveryLease(end, renewal: .upTo(end)), at: .seconds(5), progress: .none)
            lease.begin(at: .seconds(5))
            _ = lease.step(at: .seconds(6), progress: .none)
            lease.wasExtended(at: .seconds(1 << 40))
            var engine = InMemoryEngineState<Int>(lease: end)
            _ = engine.send(0)
            guard case .delivery(let id, _, _, let receipt) = engine.pull(at: .seconds(1 << 40)) else { exit(1) }
            try engine.extend(id, receipt, by: end, at: .seconds(1 << 40))
            try engine.reject(id, receipt, after: end, at: .seconds(1 << 40))
        }
    }
}
