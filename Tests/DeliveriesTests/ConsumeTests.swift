import TaskOperations
import TaskOperationsDeliveries
import TaskOperationsExpectations
import TaskOperationsExtras
import TaskOperationsTesting
import Testing

/// An engine, a queue and a clock that run on the executor of the test.
private struct Setup: Sendable {
    let clock = ManualClock(on: .seeded)
    let engine: InMemoryEngine<Int>
    let queue: TaskOperationQueue
    let events = Recorder<String>()
    let runs = Recorder<Int>()
    var configuration = ConsumerConfiguration()

    init(
        width: Int = 2, lease: Duration = .seconds(30), payloads: Int,
        interceptor: InMemoryEngine<Int>.Interceptor? = nil
    ) {
        engine = InMemoryEngine(lease: lease, clock: clock, interceptor: interceptor)
        queue = TaskOperationQueue(.init(maxConcurrentOperationCount: width, executor: .seeded))
        for payload in 0..<payloads { engine.send(payload) }
        configuration.clock = clock
        configuration.options.lease.duration = lease
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
        let task = Task(executorPreference: .seeded) { await body() }
        let isOver = Recorder<Void>()
        Task(executorPreference: .seeded) {
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
        case .engineFailed(let call, let id, _, let pause):
            "\(call) \(id.map { "\($0)" } ?? "") failed, \(pause.map { "\($0)" } ?? "for good")"
        }
    }
}

private struct Failed: Error {}

@Suite("Consuming deliveries", .seeds(50), .timeLimit(.minutes(10)))
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
        let consumption = Task(executorPreference: .seeded) { [setup] in
            let deliveries = setup.engine.deliveries().map { delivery in
                pulls.record(delivery.id)
                return delivery
            }
            await setup.queue.consume(deliveries, configuration: setup.configuration) { _ in
                var options = setup.configuration.options
                if place == .waiting { options.operation = .limited(by: limit) }
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
        setup.configuration.options.operation = .limited(by: limit)
        let (queue, engine, configuration) = (setup.queue, setup.engine, setup.configuration)
        try await limit.acquire()
        queue.isSuspended = true
        let pulls = Recorder<Int>()
        engine.finish()
        let consumption = Task(executorPreference: .seeded) {
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

    @Test("waiting for a start uses no token of the rate")
    func rate() async {
        let setup = Setup(payloads: 3)
        let queue = TaskOperationQueue(
            .init(
                maxConcurrentOperationCount: 2, rate: .one(per: .seconds(1)), clock: setup.clock, executor: .seeded))
        setup.engine.finish()
        await setup.advancing {
            await queue.consume(setup.engine.deliveries(), configuration: setup.configuration) { _ in
                setup.runs.record(Int(setup.clock.now.offset / .seconds(1)))
            }
        }
        #expect(setup.runs.events == [0, 1, 2])
    }

    @Test("deliveries with one key execute one at a time")
    func keys() async {
        let setup = Setup(width: 4, payloads: 12)
        let meter = Recorder<OperationEvent>()
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
        let consumption = Task(executorPreference: .seeded) { [setup] in
            await setup.consume(isFinished: false) { payload in
                try await setup.clock.sleep(for: .seconds(payload == 0 ? 3 : 1000))
            }
        }
        await setup.clock.waitForSleepers(2)
        consumption.cancel()
        for _ in 0..<20 { await Task.yield() }
        setup.clock.advance(by: .seconds(3))
        for _ in 0..<20 { await Task.yield() }
        #expect(setup.events.events == ["acknowledged 1"])
        setup.clock.advance(by: .seconds(2))
        await consumption.value
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
        let consumption = Task(executorPreference: .seeded) { await setup.consume(isFinished: false) { _ in } }
        await isPulling.pass()
        consumption.cancel()
        arrives.open()
        await consumption.value
        #expect(setup.runs.events.isEmpty)
        #expect(setup.events.events == ["given back 1"])
    }

    @Test("cancelling all operations of the queue does not end the consumption")
    func cancelAll() async {
        let setup = Setup(payloads: 3)
        setup.queue.isSuspended = true
        let consumption = Task(executorPreference: .seeded) { await setup.consume { _ in } }
        for _ in 0..<20 { await Task.yield() }
        #expect(setup.queue.operationCount == 1)
        setup.queue.cancelAllOperations()
        for _ in 0..<20 { await Task.yield() }
        setup.queue.isSuspended = false
        await consumption.value
        #expect(setup.engine.count == 0)
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

@Suite("Leases and engines that fail", .seeds(50), .timeLimit(.minutes(10)))
struct DeliveryFailureTests {
    @Test("a body that reports no progress loses its lease and is cancelled, and keeps its permit until it ends")
    func hang() async {
        let setup = Setup(width: 1, lease: .seconds(9), payloads: 1)
        let (isReleased, executor) = (Gate(), SeededExecutor.seeded)
        let consumption = Task(executorPreference: .seeded) {
            await setup.consume { _ in
                if setup.runs.events.count > 1 { return }
                await withTaskCancellationHandler {
                    await Task.detached(executorPreference: executor) { await isReleased.pass() }.value
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
        let consumption = Task(executorPreference: .seeded) {
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

    @Test("a body that reports progress keeps its lease")
    func progress() async {
        let setup = Setup(lease: .seconds(9), payloads: 1)
        let consumption = Task(executorPreference: .seeded) {
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
        let consumption = Task(executorPreference: .seeded) { await setup.consume { _ in } }
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
        let consumption = Task(executorPreference: .seeded) { await setup.consume { _ in } }
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
        let consumption = Task(executorPreference: .seeded) { await setup.consume { _ in } }
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
