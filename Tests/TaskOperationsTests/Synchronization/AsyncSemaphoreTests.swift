import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("AsyncSemaphore", .inTurns, .endsInTime)
struct AsyncSemaphoreTests {
    @Test("Waiting tasks get permits by priority, then by arrival")
    func priorityThenArrival() async throws {
        let semaphore = AsyncSemaphore(capacity: 1)
        let order = Recorder<String>()
        try await semaphore.acquire()
        let waits = [TaskPriority.low, .high, .medium, .high, .low, .medium].enumerated().map { ("\($0)", $1) }
        try await withThrowingTaskGroup { group in
            for (name, priority) in waits {
                group.addTask {
                    try await semaphore.withPermit(priority: priority) { order.record(name) }
                }
                await until { semaphore.waitingCount == Int(name)! + 1 }
            }
            semaphore.release()
            try await group.waitForAll()
        }
        #expect(order.events == ["1", "3", "2", "5", "0", "4"])
        #expect((semaphore.available, semaphore.waitingCount) == (1, 0))
    }

    @Test("Where no priority is given, that of the calling task counts")
    func priorityOfTheTask() async throws {
        let semaphore = AsyncSemaphore(capacity: 1)
        let order = Recorder<TaskPriority>()
        try await semaphore.acquire()
        // The tasks report their end through a gate, because awaiting them would escalate them.
        let gate = Gate()
        for (number, priority) in [TaskPriority.background, .low, .high].enumerated() {
            Task.detached(priority: priority) {
                try await semaphore.withPermit { order.record(priority) }
                await gate.pass()
            }
            await until { semaphore.waitingCount == number + 1 }
        }
        semaphore.release()
        await gate.waitForArrivals(3)
        gate.open()
        #expect(order.events == [.high, .low, .background])
    }

    @Test("No more permits are out than there are, and all are used", .schedules(20), arguments: [1, 3, 20])
    func capacityIsKept(capacity: Int) async throws {
        let semaphore = AsyncSemaphore(capacity: capacity)
        let meter = ConcurrencyMeter()
        let gate = Gate()
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 {
                group.addTask { try await semaphore.withPermit { await meter.measure { await gate.pass() } } }
            }
            await gate.waitForArrivals(capacity)
            await untilOthersWait()
            #expect((meter.now, semaphore.available) == (capacity, 0))
            gate.open()
            try await group.waitForAll()
        }
        #expect((meter.total, meter.most, semaphore.available) == (100, capacity, capacity))
    }

    @Test("A task that needs many permits holds back later ones, so that it cannot starve", .schedules(20))
    func headOfTheLineHoldsBack() async throws {
        let semaphore = AsyncSemaphore(capacity: 3)
        let order = Recorder<String>()
        try await semaphore.acquire(weight: 2)
        let heavy = Task {
            try await semaphore.acquire(weight: 3)
            order.record("heavy")
        }
        await until { semaphore.waitingCount == 1 }
        let light = Task {
            try await semaphore.acquire(weight: 1)
            order.record("light")
        }
        await until { semaphore.waitingCount == 2 }
        await untilOthersWait()
        #expect((order.events, semaphore.available) == ([], 1))
        semaphore.release(weight: 1)
        await untilOthersWait()
        #expect((order.events, semaphore.available) == ([], 2))
        semaphore.release(weight: 1)
        try await heavy.value
        await untilOthersWait()
        #expect((order.events, semaphore.available) == (["heavy"], 0))
        semaphore.release(weight: 3)
        try await light.value
        #expect((order.events, semaphore.available) == (["heavy", "light"], 2))
    }

    @Test("One that is more urgent overtakes one that wants many permits")
    func urgentOvertakesHeavy() async throws {
        let semaphore = AsyncSemaphore(capacity: 3)
        try await semaphore.acquire(weight: 2)
        let heavy = Task { try await semaphore.acquire(weight: 3, priority: .low) }
        await until { semaphore.waitingCount == 1 }
        try await semaphore.acquire(weight: 1, priority: .high)
        #expect((semaphore.waitingCount, semaphore.available) == (1, 0))
        semaphore.release(weight: 3)
        try await heavy.value
    }

    @Test("tryAcquire takes free permits, and overtakes no task")
    func tryAcquire() async throws {
        let semaphore = AsyncSemaphore(capacity: 3)
        #expect(semaphore.tryAcquire(weight: 2))
        #expect(!semaphore.tryAcquire(weight: 2))
        #expect(semaphore.available == 1)
        let waiting = Task { try await semaphore.acquire(weight: 2) }
        await until { semaphore.waitingCount == 1 }
        #expect(!semaphore.tryAcquire())
        semaphore.release(weight: 2)
        try await waiting.value
        #expect(semaphore.tryAcquire())
        #expect(!semaphore.tryAcquire())
    }

    @Test("Raising the capacity resumes waiting tasks at once, lowering it takes no permit back", .schedules(20))
    func changingTheCapacity() async throws {
        let semaphore = AsyncSemaphore(capacity: 0)
        let gate = Gate()
        try await withThrowingTaskGroup { group in
            for _ in 0..<5 { group.addTask { try await semaphore.withPermit { await gate.pass() } } }
            await until { semaphore.waitingCount == 5 }
            semaphore.capacity = 3
            await gate.waitForArrivals(3)
            await untilOthersWait()
            #expect((gate.arrivals, semaphore.waitingCount, semaphore.available) == (3, 2, 0))
            semaphore.capacity = 1
            #expect((semaphore.capacity, semaphore.available) == (1, 0))
            gate.open()
            try await group.waitForAll()
        }
        #expect((semaphore.capacity, semaphore.available, gate.arrivals) == (1, 1, 5))
    }

    @Test(
        "With a lowered capacity, permits given back are not handed out until there are as few as it says",
        .schedules(20))
    func releasingAfterLowering() async throws {
        let semaphore = AsyncSemaphore(capacity: 3)
        try await semaphore.acquire(weight: 3)
        let waiting = Task { try await semaphore.acquire() }
        await until { semaphore.waitingCount == 1 }
        semaphore.capacity = 1
        semaphore.release()
        semaphore.release()
        await untilOthersWait()
        #expect((semaphore.waitingCount, semaphore.available) == (1, 0))
        semaphore.release()
        try await waiting.value
        #expect((semaphore.waitingCount, semaphore.available) == (0, 0))
    }

    @Test("A task that waits for more than a lowered capacity is served alone", .schedules(20))
    func heavierThanTheCapacity() async throws {
        let semaphore = AsyncSemaphore(capacity: 3)
        try await semaphore.acquire(weight: 2)
        let waiting = Task { try await semaphore.acquire(weight: 3) }
        await until { semaphore.waitingCount == 1 }
        semaphore.capacity = 2
        semaphore.release()
        await untilOthersWait()
        #expect(semaphore.waitingCount == 1 && !semaphore.tryAcquire())
        semaphore.release()
        try await waiting.value
        #expect(semaphore.available == 0)
        semaphore.release(weight: 3)
        #expect(semaphore.available == 2)
    }

    @Test("A weight above every capacity so far throws an error that names the semaphore, and takes no permit")
    func excessiveWeight() async throws {
        let semaphore = AsyncSemaphore(capacity: 2, name: "memory")
        #expect(!semaphore.tryAcquire(weight: 3))
        for acquire in [
            { try await semaphore.acquire(weight: 3) },
            { try await semaphore.acquire(weight: 3, timeout: .seconds(1)) },
            { try await semaphore.withPermit(weight: 3) {} },
        ] as [@Sendable () async throws -> Void] {
            let error = await #expect(throws: TaskOperationError.self) { try await acquire() }
            let text = "3 permits of semaphore \"memory\", which has never had more than 2"
            #expect(error?.description.contains(text) == true)
        }
        #expect(semaphore.available == 2)
        semaphore.capacity = 3
        try await semaphore.withPermit(weight: 3) {}
    }

    @Test("withPermit gives the permits back when its body returns, throws or is cancelled")
    func withPermitGivesBack() async throws {
        let semaphore = AsyncSemaphore(capacity: 5)
        #expect(try await semaphore.withPermit(weight: 2) { semaphore.available } == 3)
        await #expect(throws: WorkFailed(number: 1)) {
            try await semaphore.withPermit(weight: 5) { throw WorkFailed(number: 1) }
        }
        let gate = Gate()
        let task = Task {
            try await semaphore.withPermit(weight: 4) {
                await gate.pass()
                try Task.checkCancellation()
            }
        }
        await gate.waitForArrivals(1)
        #expect(semaphore.available == 1)
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(semaphore.available == 5)
    }

    @Test("The more urgent one is served first also where its task was escalated during its wait")
    func escalation() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        let semaphore = AsyncSemaphore(capacity: 1)
        let (order, gate) = (Recorder<Int>(), Gate())
        try await semaphore.acquire()
        var tasks: [Task<Void, any Error>] = []
        for number in 0..<3 {
            tasks.append(
                Task.detached(priority: .low) {
                    try await semaphore.withPermit { order.record(number) }
                    await gate.pass()
                })
            await until { semaphore.waitingCount == number + 1 }
        }
        tasks[1].escalatePriority(to: .high)
        semaphore.release()
        await gate.waitForArrivals(3)
        gate.open()
        #expect(order.events == [1, 0, 2])
    }
}
