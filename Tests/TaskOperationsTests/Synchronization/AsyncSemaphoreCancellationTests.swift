import Synchronization
import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("AsyncSemaphore under cancellation", .inTurns, .endsInTime)
struct AsyncSemaphoreCancellationTests {
    @Test("Cancelled while it waits, a task gives its place up at once, and throws")
    func cancelledWhileWaiting() async throws {
        let semaphore = AsyncSemaphore(capacity: 1)
        try await semaphore.acquire()
        let task = Task { try await semaphore.acquire() }
        await until { semaphore.waitingCount == 1 }
        task.cancel()
        #expect(semaphore.waitingCount == 0)
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(semaphore.available == 0)
        semaphore.release()
        #expect(semaphore.available == 1)
    }

    @Test("One that was cancelled before takes no permit, though there is one")
    func cancelledBefore() async throws {
        let semaphore = AsyncSemaphore(capacity: 1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await semaphore.acquire()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(semaphore.available == 1)
        let runs = Recorder<Bool>()
        let scoped = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await semaphore.withPermit { runs.record(true) }
        }
        await #expect(throws: CancellationError.self) { try await scoped.value }
        #expect(runs.events == [])
        #expect(semaphore.available == 1)
    }

    @Test("When the first task of the line is cancelled, tasks that only it held back continue")
    func headGivesUp() async throws {
        let semaphore = AsyncSemaphore(capacity: 3)
        try await semaphore.acquire(weight: 1)
        let heavy = Task { try await semaphore.acquire(weight: 3) }
        await until { semaphore.waitingCount == 1 }
        let light = (0..<2).map { _ in Task { try await semaphore.acquire() } }
        await until { semaphore.waitingCount == 3 }
        heavy.cancel()
        for task in light { try await task.value }
        await #expect(throws: CancellationError.self) { try await heavy.value }
        #expect((semaphore.available, semaphore.waitingCount) == (0, 0))
    }

    @Test("One that is cancelled in the middle of the line leaves the order of the others as it was")
    func middleGivesUp() async throws {
        let semaphore = AsyncSemaphore(capacity: 1)
        let order = Recorder<Int>()
        try await semaphore.acquire()
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<200 {
            tasks.append(Task { try await semaphore.withPermit(priority: .medium) { order.record(number) } })
            await until { semaphore.waitingCount == number + 1 }
        }
        for number in 0..<200 where number % 3 != 0 { tasks[number].cancel() }
        semaphore.release()
        for number in stride(from: 0, to: 200, by: 3) { try await tasks[number].value }
        #expect(order.events == Array(stride(from: 0, to: 200, by: 3)))
        #expect((semaphore.available, semaphore.waitingCount) == (1, 0))
    }

    @Test("A task that is cancelled as soon as it is in line gets no permit that is released afterwards")
    func cancelledAtOnce() async throws {
        for _ in 0..<5000 {
            let semaphore = AsyncSemaphore(capacity: 1)
            try await semaphore.acquire()
            let task = Task { try await semaphore.acquire() }
            while semaphore.waitingCount == 0 { await Task.yield() }
            task.cancel()
            semaphore.release()
            let isCancelled = if case .failure(is CancellationError) = await task.result { true } else { false }
            try #require(isCancelled)
        }
    }

    @Test("A task that is cancelled just before it is in line gets no place")
    func cancelledBeforeWaiting() async throws {
        let semaphore = AsyncSemaphore(capacity: 1)
        try await semaphore.acquire()
        let task = Task { try await semaphore.acquire(timeout: .seconds(1000), clock: CancellingClock()) }
        let isCancelled = if case .failure(is CancellationError) = await task.result { true } else { false }
        #expect(isCancelled && semaphore.waitingCount == 0)
    }

    @Test("A storm of cancellations loses no permit and makes none", arguments: 1...10)
    func storm(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let semaphore = AsyncSemaphore(capacity: 5)
        let meter = ConcurrencyMeter()
        let tasks = (0..<500).map { _ in
            let weight = Int.random(in: 1...5, using: &random)
            let priority: TaskPriority = Bool.random(using: &random) ? .low : .high
            return Task {
                try await semaphore.withPermit(weight: weight, priority: priority) {
                    for _ in 0..<weight { meter.enter() }
                    await Task.yield()
                    for _ in 0..<weight { meter.leave() }
                }
            }
        }
        for task in tasks.shuffled(using: &random) where Bool.random(using: &random) {
            task.cancel()
            await Task.yield()
        }
        for task in tasks { _ = await task.result }
        #expect((semaphore.available, semaphore.waitingCount) == (5, 0))
        #expect(meter.most <= 5)
        #expect(meter.now == 0)
    }

    @Test("A permit whose release races with a cancellation goes to one task or is free", arguments: 0..<10)
    func givingRacesWithCancelling(_: Int) async throws {
        let semaphore = AsyncSemaphore(capacity: 1)
        for _ in 0..<100 {
            try await semaphore.acquire()
            let task = Task { () -> Bool in
                do {
                    try await semaphore.acquire()
                    return true
                } catch {
                    return false
                }
            }
            async let cancelling: Void = task.cancel()
            semaphore.release()
            await cancelling
            if await task.value { semaphore.release() }
            #expect((semaphore.available, semaphore.waitingCount) == (1, 0))
        }
    }

    @Test("No wait lasts if its begin races with a cancellation", arguments: 0..<10)
    func liningUpRacesWithCancelling(_: Int) async throws {
        let semaphore = AsyncSemaphore(capacity: 1)
        try await semaphore.acquire()
        for spins in 0..<300 {
            let begun = Recorder<Bool>()
            await withTaskGroup { group in
                group.addTask {
                    begun.record(true)
                    await #expect(throws: CancellationError.self) { try await semaphore.acquire() }
                }
                while begun.events.isEmpty { await Task.yield() }
                for _ in 0..<spins where semaphore.waitingCount == 0 {}
                group.cancelAll()
            }
            #expect((semaphore.available, semaphore.waitingCount) == (0, 0))
        }
    }

    @Test("Capacity that changes during a storm ends with as many permits as it says")
    func stormOfCapacities() async throws {
        var random = SeededGenerator(seed: 7)
        let semaphore = AsyncSemaphore(capacity: 3)
        let tasks = (0..<500).map { _ in Task { try await semaphore.withPermit { await Task.yield() } } }
        for task in tasks {
            semaphore.capacity = Int.random(in: 1...6, using: &random)
            if Bool.random(using: &random) { task.cancel() }
            await Task.yield()
        }
        semaphore.capacity = 4
        for task in tasks { _ = await task.result }
        #expect((semaphore.available, semaphore.waitingCount) == (4, 0))
    }
}

// MARK: - Limits and lost moments

extension AsyncSemaphoreCancellationTests {
    @Test("A wait ends when its time is up, by the clock that it was given, and leaves no permit behind")
    func timeout() async throws {
        let semaphore = AsyncSemaphore(capacity: 1)
        let clock = ManualClock()
        try await semaphore.acquire(timeout: .seconds(1), clock: clock)
        let late = Task.immediate { try await semaphore.acquire(timeout: .seconds(1), clock: clock) }
        let scoped = Task.immediate { try await semaphore.withPermit(timeout: .seconds(1), clock: clock) { true } }
        let patient = Task.immediate { try await semaphore.acquire(timeout: .seconds(2), clock: clock) }
        clock.advance(by: .seconds(1))
        await waitTimeout { try await late.value }
        await waitTimeout { try await scoped.value }
        #expect(semaphore.waitingCount == 1)
        semaphore.release()
        try await patient.value
        await until { clock.sleeperCount == 0 }
        #expect((semaphore.available, semaphore.waitingCount) == (0, 0))
    }

    @Test("A limited wait is cancelled like any other")
    func cancelledLimitedWait() async throws {
        let semaphore = AsyncSemaphore(capacity: 0)
        let clock = ManualClock()
        let task = Task.immediate { try await semaphore.acquire(timeout: .seconds(1), clock: clock) }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await until { clock.sleeperCount == 0 }
    }

    @Test("Permits are conserved where their release, the end of the time and cancellation race")
    func limitStorm() async throws {
        let semaphore = AsyncSemaphore(capacity: 2)
        let clock = ManualClock()
        await concurrentPerform(over: 0..<2000, width: 16) { number in
            let task = Task {
                try await semaphore.withPermit(timeout: .seconds(number % 3), clock: clock) { await Task.yield() }
            }
            if number % 4 == 0 { task.cancel() }
            clock.advance(by: .seconds(1))
            _ = await task.result
        }
        #expect((semaphore.available, semaphore.waitingCount) == (2, 0))
        await until { clock.sleeperCount == 0 }
    }

    @Test("Lowering the capacity below the requested permits lets tasks wait, and stops none")
    func loweredCapacity() async throws {
        let semaphore = AsyncSemaphore(capacity: 4)
        let isDone = Gate()
        let changes = Task.detached {
            while isDone.arrivals == 0 {
                semaphore.capacity = 1
                semaphore.capacity = 4
                await Task.yield()
            }
        }
        try await concurrentPerform(over: 0..<2000, width: 4) { _ in
            try await semaphore.withPermit(weight: 4) {}
            if semaphore.tryAcquire(weight: 3) { semaphore.release(weight: 3) }
        }
        isDone.open()
        await isDone.pass()
        await changes.value
        semaphore.capacity = 1
        try await semaphore.acquire()
        let heavy = Task.immediate { try await semaphore.acquire(weight: 3) }
        #expect(semaphore.waitingCount == 1)
        #expect(!semaphore.tryAcquire(weight: 4))
        semaphore.capacity = 4
        try await heavy.value
    }

    @Test("An escalation is not lost, at any moment of a wait")
    func escalationRace() async throws {
        for _ in 0..<200 {
            let semaphore = AsyncSemaphore(capacity: 0)
            let order = Recorder<String>()
            let first = Task.immediateDetached(priority: .medium) {
                try await semaphore.acquire()
                order.record("first")
            }
            let raised = Task.detached(priority: .medium) {
                try await semaphore.acquire()
                order.record("raised")
                semaphore.release()
            }
            raised.escalatePriority(to: .high)
            await until { semaphore.waitingCount == 2 }
            semaphore.capacity = 1
            try await raised.value
            try await first.value
            #expect(order.events == ["raised", "first"])
        }
    }
}

/// Cancels the first task that reads the time.
private final class CancellingClock: Clock {
    private let wasAsked = Atomic(false)

    var now: ContinuousClock.Instant {
        if !wasAsked.exchange(true, ordering: .relaxed) { withUnsafeCurrentTask { $0?.cancel() } }
        return .now
    }

    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        try await ContinuousClock().sleep(until: deadline, tolerance: tolerance)
    }
}
