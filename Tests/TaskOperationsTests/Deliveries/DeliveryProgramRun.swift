import Simulation
import TaskOperations
import TaskOperationsDeliveries
import TaskOperationsExtras
import TaskOperationsTesting

/// Runs a program on one thread, and checks the conditions that hold for every program.
final class DeliveryProgramRun: Sendable {
    fileprivate struct Attempt: Hashable {
        let id: Int
        let number: Int
    }

    private struct State: Sendable {
        var random: SeededGenerator
        /// Workers that were killed.
        var crashed: Set<String> = []
        var succeeded: Set<Attempt> = []
        var poisoned: Set<Attempt> = []
        var acknowledged: Set<Int> = []
        /// The kind of the first answer to each attempt.
        var answers: [Attempt: EngineCall] = [:]
        /// The keys of the executing bodies of each worker.
        var executingKeys: Set<[String]> = []
        /// The executing bodies, with their workers, by attempt.
        var executing: [Attempt: (worker: String, task: @Sendable () -> Bool)] = [:]
        var isHealthy = false
        /// Whether `program.answer` has not been used yet.
        var isFirstAnswer = true
        /// The number of pulled deliveries of each payload that the consumer has not reported as settled.
        var unsettled: [Int: Int] = [:]
        var attemptCount = 0
        var violations: [String] = []
    }

    private let program: DeliveryProgram
    private let executor: SeededExecutor
    private let clock: SimulatedClock
    private let limit = AsyncSemaphore(capacity: 1)
    private let state: Lock<State>

    struct Failure: Error { let description: String }
    private struct Unreachable: Error {}
    private struct Failed: Error {}

    init(_ program: DeliveryProgram) {
        self.program = program
        executor = SeededExecutor(seed: program.seed)
        clock = SimulatedClock(on: executor)
        state = Lock(State(random: SeededGenerator(seed: ~program.seed)))
    }

    /// Returns the number of attempts.
    ///
    /// - Throws: `Failure`, and `SeededRunError` if a consumer never returns.
    func run() throws -> Int {
        let engine = InMemoryEngine<Int>(lease: .seconds(DeliveryProgram.leaseLength), clock: clock) { [self] in
            try await intercept($0, $1, isDone: $2)
        }
        try executor.run {
            self.checkLeases(in: engine)
            guard let deadline = self.clock.nextDeadline else { return false }
            self.clock.advance(by: deadline.offset - self.clock.now.offset)
            return true
        } _: {
            for payload in self.program.payloads.indices { engine.send(payload) }
            await withTaskGroup { group in
                for number in self.program.workers.indices {
                    group.addTask { await self.runWorker(number, engine) }
                }
            }
            if self.program.isFinished { await self.finish(engine) }
        }
        let (violations, attemptCount, unsettled) = state.withLock { ($0.violations, $0.attemptCount, $0.unsettled) }
        if let first = violations.first { throw Failure(description: first) }
        if let id = unsettled.first(where: { $0.value > 0 })?.key {
            throw Failure(description: "a delivery of \(id) was pulled, and its end was not reported")
        }
        return attemptCount
    }

    private func violate(_ text: String) { state.withLock { $0.violations.append(text) } }
}

// MARK: - Workers

extension DeliveryProgramRun {
    private func runWorker(_ number: Int, _ engine: InMemoryEngine<Int>) async {
        let worker = program.workers[number]
        let name = "worker \(number)"
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: worker.width, executor: executor))
        await withTaskGroup { group in
            group.addTask { await self.consume(engine, on: queue, worker.configuration, name) }
            group.addTask {
                for (time, event) in worker.events {
                    await self.sleep(until: time)
                    if self.perform(event, on: queue, of: name) { return }
                }
                await self.sleep(until: 90)
            }
            // Waits for the first of the two tasks to end.
            await group.next()
            queue.isSuspended = false
            queue.maxConcurrentOperationCount = max(1, queue.maxConcurrentOperationCount)
            group.cancelAll()
        }
    }

    /// Performs an event. Returns whether the worker stops consuming now.
    private func perform(_ event: DeliveryProgram.Event, on queue: TaskOperationQueue, of worker: String) -> Bool {
        switch event {
        case .crash:
            state.withLock { _ = $0.crashed.insert(worker) }
            queue.cancelAllOperations()
            return true
        case .cancel: return true
        case .shutDown(let isCancelling): queue.shutDown(isCancelling ? .cancel : .drain)
        case .suspend: queue.isSuspended = true
        case .resume: queue.isSuspended = false
        case .setWidth(let width): queue.maxConcurrentOperationCount = width
        case .cancelAll(let hasCause):
            queue.cancelAllOperations(throwing: hasCause ? Failed() : CancellationError())
        }
        return false
    }

    private func finish(_ engine: InMemoryEngine<Int>) async {
        state.withLock { $0.isHealthy = true }
        engine.finish()
        var configuration = ConsumerConfiguration()
        configuration.options.lease.duration = .seconds(DeliveryProgram.leaseLength)
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, executor: executor))
        await consume(engine, on: queue, configuration, "healthy")
        if engine.count > 0 { violate("\(engine.count) payloads are left") }
        let done = state.withLock { Set($0.succeeded.union($0.poisoned).map(\.id)) }
        if done.count < program.payloads.count { violate("only \(done) are done") }
    }

    private func sleep(until time: Int) async {
        try? await clock.sleep(until: .init(offset: .seconds(time)))
    }
}

// MARK: - Consuming

extension DeliveryProgramRun {
    private func consume(
        _ engine: InMemoryEngine<Int>, on queue: TaskOperationQueue, _ configuration: ConsumerConfiguration,
        _ worker: String
    ) async {
        var configuration = configuration
        configuration.clock = clock
        let deliveries = engine.deliveries(to: worker).map { delivery in
            self.state.withLock { $0.unsettled[delivery.id, default: 0] += 1 }
            return CheckedDelivery(delivery: delivery, run: self)
        }
        let onPoison: @Sendable (CheckedDelivery, any Error) async throws -> Void = { delivery, _ in
            self.state.withLock { _ = $0.poisoned.insert(delivery.checkedAttempt) }
        }
        await queue.consume(
            deliveries, configuration: configuration, optionsFor: { self.options(of: $0.payload) },
            onPoison: program.handlesPoison ? onPoison : nil,
            observer: { event in
                guard let id = event.settledID else { return }
                self.state.withLock { $0.unsettled[id]! -= 1 }
            }
        ) { delivery in
            try await self.execute(delivery, worker)
        }
        let left = state.withLock { state in state.executing.values.count { $0.worker == worker } }
        if left > 0 { violate("\(worker) has returned with \(left) bodies") }
    }

    private func options(of payload: Int) -> DeliveryOptions {
        let kind = program.payloads[payload].kind
        var options = program.kinds[kind]
        options.operation = [options.operation, .clock(clock)]
        if program.limitedKinds.contains(kind) { options.operation = [options.operation, .limit(limit)] }
        return options
    }

    private func execute(_ delivery: InMemoryDelivery<Int>, _ worker: String) async throws {
        let attempt = Attempt(id: delivery.id, number: delivery.attempt)
        let isHealthy = state.withLock { state in
            state.attemptCount += 1
            if state.executing[attempt] != nil { state.violations.append("\(attempt) executes twice at once") }
            return state.isHealthy
        }
        let key = program.kinds[program.payloads[delivery.payload].kind].key
        if let key, !state.withLock({ $0.executingKeys.insert([worker, key]).inserted }) {
            violate("two deliveries of one key execute at once on \(worker)")
        }
        defer { if let key { state.withLock { _ = $0.executingKeys.remove([worker, key]) } } }
        let operation = AnyTaskOperation.current!
        state.withLock { $0.executing[attempt] = (worker, { operation.isCancelled }) }
        defer { state.withLock { _ = $0.executing.removeValue(forKey: attempt) } }
        let attempts = program.payloads[delivery.payload].attempts
        let steps = attempts.isEmpty ? [] : attempts[min(delivery.attempt, attempts.count) - 1]
        for step in isHealthy ? [] : steps { try await perform(step) }
        state.withLock { _ = $0.succeeded.insert(attempt) }
    }

    private func perform(_ step: DeliveryProgram.Step) async throws {
        switch step {
        case .sleep(let seconds): try await clock.sleep(for: .seconds(seconds))
        case .hang(let seconds):
            await Task.detached(executorPreference: executor) { [clock] in
                try? await clock.sleep(for: .seconds(seconds))
            }.value
        case .progress:
            let step = AnyTaskOperation.current!.currentProgress.completedUnitCount ?? 0
            AnyTaskOperation.current!.reportProgress(step + 1, of: 1000)
        case .yield: await Task.yield()
        case .fail: throw Failed()
        }
    }
}

// MARK: - Checks

extension DeliveryProgramRun {
    private func intercept(_ worker: String, _ call: EngineCall, isDone: Bool) async throws {
        let (isCrashed, choice, seconds) = state.withLock { state in
            let isFaulty =
                program.faultRarity > 0 && !state.isHealthy && state.random.number(below: program.faultRarity) == 0
            let choice = isFaulty ? state.random.number(below: 3) : 3
            return (state.crashed.contains(worker), choice, state.random.number(below: 12))
        }
        if isCrashed && !isDone { throw Unreachable() }
        switch choice {
        case 0: throw Unreachable()
        // A pull is never late, because the worker could not know the age of the lease.
        case 1 where !isDone || call != .pull:
            await Task.detached(executorPreference: executor) { [clock] in
                try? await clock.sleep(for: .seconds(seconds))
            }.value
        case 2: await Task.yield()
        default: break
        }
    }

    /// Checks, while no task can run, that each body that is not cancelled holds its lease.
    private func checkLeases(in engine: InMemoryEngine<Int>) {
        for (attempt, body) in state.withLock({ $0.executing }) where !body.task() {
            if state.withLock({ $0.crashed.contains(body.worker) }) { continue }
            if engine.holdingAttempt(of: attempt.id) != attempt.number {
                violate("\(attempt) executes at \(clock.now.offset) on \(body.worker) without a lease")
            }
        }
    }

    /// Calls the engine. If this is the first answer to the first delivery, delays or loses it as the program
    /// specifies.
    fileprivate func answer(
        _ delivery: CheckedDelivery, _ call: () async throws -> Void
    ) async throws {
        let isFirst = state.withLock { state in
            defer { if delivery.attempt == 1 { state.isFirstAnswer = false } }
            return state.isFirstAnswer && delivery.attempt == 1
        }
        guard isFirst, let answer = program.answer else { return try await call() }
        if answer.delay > 0 { try await clock.sleep(for: .seconds(answer.delay)) }
        if answer.loss == .call { throw Unreachable() }
        try await call()
        if answer.replyDelay > 0 { try await clock.sleep(for: .seconds(answer.replyDelay)) }
        if answer.loss == .reply { throw Unreachable() }
    }

    fileprivate func willAnswer(_ delivery: CheckedDelivery, by call: EngineCall) {
        let first = state.withLock { state in
            let first = state.answers[delivery.checkedAttempt] ?? call
            state.answers[delivery.checkedAttempt] = first
            return first
        }
        if first != call { violate("\(delivery.checkedAttempt) is answered by \(first) and \(call)") }
    }

    fileprivate func willAcknowledge(_ delivery: CheckedDelivery) {
        willAnswer(delivery, by: .acknowledge)
        state.withLock { state in
            let attempt = delivery.checkedAttempt
            if !state.succeeded.contains(attempt), !state.poisoned.contains(attempt) {
                state.violations.append("\(attempt) is acknowledged without success")
            }
        }
    }

    fileprivate func wasAcknowledged(_ delivery: CheckedDelivery) {
        let isFirst = state.withLock { $0.acknowledged.insert(delivery.id).inserted }
        if !isFirst { violate("\(delivery.id) was acknowledged twice") }
    }
}

/// A delivery that checks the calls to it.
private struct CheckedDelivery: Delivery {
    let delivery: InMemoryDelivery<Int>
    let run: DeliveryProgramRun

    var id: Int { delivery.id }
    var payload: InMemoryDelivery<Int> { delivery }
    var attempt: Int { delivery.attempt }
    var checkedAttempt: DeliveryProgramRun.Attempt { .init(id: id, number: attempt) }

    func acknowledge() async throws {
        run.willAcknowledge(self)
        try await run.answer(self) {
            try await delivery.acknowledge()
            run.wasAcknowledged(self)
        }
    }

    func reject(retryAfter delay: Duration) async throws {
        run.willAnswer(self, by: .reject)
        try await run.answer(self) { try await delivery.reject(retryAfter: delay) }
    }

    func extendLease(by duration: Duration) async throws { try await delivery.extendLease(by: duration) }
}

extension DeliveryEvent {
    /// The identity of the delivery that is settled by this event; nil for other events.
    fileprivate var settledID: ID? {
        switch self {
        case .acknowledged(let id), .rejected(let id, _, _), .givenBack(let id), .poisoned(let id, _),
            .leaseLost(let id):
            id
        case .pullPostponed: nil
        case .engineFailed(let call, let id, _, let pause): call == .extendLease || pause != nil ? nil : id
        }
    }
}
