import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

/// An addition that waits for room inserts the operation before it searches for a cycle, and withdraws the operation if
/// it finds one. In between, an observer is called without any lock, and acts like another thread.
@Suite("An addition that is refused", .inTurns, .endsInTime)
struct RefusedAdditionTests {
    /// A queue in which adding `refused` closes the cycle `refused`, barrier, `waiting`.
    private struct Cycle {
        let queue: TaskOperationQueue
        let started = Gate()
        let opened = Gate()
        let dependency: AnyTaskOperation
        let refused: AnyTaskOperation

        /// - Parameter body: The body of `refused`.
        init(
            defaults: OperationOptions = OperationOptions(), body: @escaping TaskOperation<Void>.Body = {}
        ) async throws {
            queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, defaults: defaults))
            let (started, opened) = (started, opened)
            let dependency = TaskOperation(name: "dependency") { await opened.pass() }
            let refused = TaskOperation(name: "refused", dependencies: [dependency], body: body)
            (self.dependency, self.refused) = (dependency, refused)
            let waiting = TaskOperation(name: "waiting") {
                await started.pass()
                _ = try? await refused.value
            }
            try queue.addOperation(waiting)
            try queue.addOperation(dependency)
            await started.waitForArrivals(1)
            await opened.waitForArrivals(1)
            started.open()
            #expect(await eventually { refused.waiterCount > 0 })
            queue.addBarrier(name: "barrier") {}
        }

        func addRefused() async -> TaskOperationError? {
            do { try await queue.addOperationWaitingForRoom(refused) } catch { return error as? TaskOperationError }
            return nil
        }
    }

    @Test("A dependency of a refused operation ends while the refusal is undone", .prompt)
    func dependencyEnds() async throws {
        let cycle = try await Cycle()
        let (queue, opened, dependency) = (cycle.queue, cycle.opened, cycle.dependency)
        let observer = WithdrawalObserver {
            opened.open()
            while queue.operations.contains(dependency) { yieldThread() }
        }
        queue.addObserver(observer)
        let error = await cycle.addRefused()
        #expect(error?.dependencyCycle == ["refused", "barrier", "waiting", "refused"])
        cycle.refused.cancel()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(queue.operationCount == 0)
    }

    @Test("A refused operation has no place among the queued operations of its limit")
    func placesInLimits() async throws {
        let cycle = try await Cycle()
        let workers = AsyncSemaphore(capacity: 0)
        workers.maxQueuedOperationCount = 1
        try cycle.refused.addOptions(.limit(workers))
        #expect(await cycle.addRefused() != nil)
        let suspended = TaskOperationQueue(.init(isSuspended: true))
        let accepted = suspended.addOperation(.limit(workers)) {}
        #expect(!accepted.isFinished)
        accepted.cancel()
        try suspended.addOperation(cycle.refused)
        #expect(!cycle.refused.isFinished && suspended.addOperation(.limit(workers)) {}.isFinished)
        cycle.refused.cancel()
        cycle.opened.open()
        try await cycle.queue.waitUntilAllOperationsAreFinished()
    }

    @Test("A refused operation can be added to another queue while the refusal is undone")
    func addedElsewhere() async throws {
        let cycle = try await Cycle()
        let (refused, other) = (cycle.refused, TaskOperationQueue())
        let refusals = Recorder<TaskOperationError>()
        let observer = WithdrawalObserver {
            do throws(TaskOperationError) { try other.addOperation(refused) } catch { refusals.record(error) }
        }
        cycle.queue.addObserver(observer)
        #expect(await cycle.addRefused() != nil)
        if refusals.events.isEmpty == false { try other.addOperation(refused) }
        cycle.opened.open()
        try await other.waitUntilAllOperationsAreFinished()
        #expect(refused.isFinished)
        try await cycle.queue.waitUntilAllOperationsAreFinished()
    }

    @Test("A refused operation is not counted in the statistics of its key")
    func statistics() async throws {
        let hosts = AsyncSemaphore(capacity: 9)
        let cycle = try await Cycle()
        try cycle.refused.addOptions(.limit(hosts, key: "host"))
        let statistics = OperationStatistics(keysOf: hosts)
        cycle.queue.addObserver(statistics)
        let added = Recorder<[Int]>()
        let observer = WithdrawalObserver { added.record(statistics.snapshot.map { $0.added + $0.queued }) }
        cycle.queue.addObserver(observer)
        #expect(await cycle.addRefused() != nil)
        #expect(added.events == [[0]])
        cycle.opened.open()
        cycle.refused.cancel()
        try await cycle.queue.waitUntilAllOperationsAreFinished()
        #expect(statistics.snapshot.map(\.cancelled) == [0])
    }

    @Test("A refused operation has the policies of the queue that runs it", arguments: [1, 2])
    func policiesOfTheOtherQueue(attempts: Int) async throws {
        let runs = Recorder<Int>()
        let cycle = try await Cycle(defaults: .retry(.immediately(attempts: 3))) {
            runs.record(1)
            throw CancellationError()
        }
        #expect(throws: TaskOperationError.self) { try cycle.queue.addOperation(cycle.refused) }
        let defaults = attempts == 1 ? OperationOptions() : .retry(.immediately(attempts: attempts))
        let other = TaskOperationQueue(.init(defaults: defaults))
        try other.addOperation(cycle.refused)
        cycle.opened.open()
        try await cycle.refused.waitUntilFinished()
        #expect(runs.events.count == attempts)
        try await cycle.queue.waitUntilAllOperationsAreFinished()
    }

    @Test("An operation that was refused, or whose wait for room was cancelled, is freed with its limits of time")
    func freed() async throws {
        let limits: OperationOptions = [.timeout(untilStart: .seconds(1000)), .timeout(untilEnd: .seconds(1000))]
        let full = TaskOperationQueue(.init(maxQueuedOperationCount: 1, isSuspended: true))
        full.addOperation {}
        let freed = Gate()
        do {
            let operation = TaskOperation(limits) { [witness = Witness(freed)] in _ = witness }
            let producer = Task { try await full.addOperationWaitingForRoom(operation) }
            #expect(await eventually { full.waitingProducerCount == 1 })
            producer.cancel()
            await #expect(throws: CancellationError.self) { try await producer.value }
        }
        #expect(await eventually { freed.isOpen })
        full.cancelAllOperations()
    }

    @Test("The limits of time of a withdrawn addition have no effect on the next one")
    func limitsOfTheFormerAddition() async throws {
        let clock = ManualClock()
        let full = TaskOperationQueue(
            .init(
                maxQueuedOperationCount: 1, isSuspended: true,
                defaults: [.timeout(untilStart: .seconds(1)), .timeout(untilEnd: .seconds(2)), .clock(clock)]))
        full.addOperation([.timeout(untilStart: .seconds(1000)), .timeout(untilEnd: .seconds(1000))]) {}
        let gate = Gate()
        let operation = TaskOperation { await gate.pass() }
        let producer = Task { try await full.addOperationWaitingForRoom(operation) }
        #expect(await eventually { full.waitingProducerCount == 1 })
        producer.cancel()
        await #expect(throws: CancellationError.self) { try await producer.value }
        let other = TaskOperationQueue(.init(defaults: [.timeout(.seconds(10)), .overrun(.abandon), .clock(clock)]))
        try other.addOperation(operation)
        await gate.waitForArrivals(1)
        clock.advance(by: .seconds(5))
        #expect(!operation.isFinished)
        clock.advance(by: .seconds(5))
        // The body still executes: the second queue abandons it.
        try await operation.waitUntilFinished()
        #expect(operation.refusal?.timedOut != nil)
        gate.open()
        full.cancelAllOperations()
        try await other.waitUntilAllOperationsAreFinished()
    }
}

/// Calls a function when an operation is withdrawn.
private final class WithdrawalObserver: TaskOperationObserver {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    func operationChanged(_ event: TaskOperationEvent) {
        if case .withdrawn = event.kind { action() }
    }
}
