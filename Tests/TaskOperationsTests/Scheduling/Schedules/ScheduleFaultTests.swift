import Synchronization
import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

private let strategies: [ScheduleStrategy] = [.mixed, .priorities(), .uniform]

@Suite("Delays, time and cancellation as parts of a schedule", .prompt, .endsInTime)
struct ScheduleFaultTests {
    private static func schedules(
        _ strategy: Int = 0, _ count: Int = isDeep ? 100_000 : 1_000, faults: ScheduleFaults = []
    ) -> Schedules {
        var schedules = Schedules(count, strategies[strategy])
        schedules.faults = faults
        // The programs use no other threads.
        schedules.patience = .zero
        return schedules
    }

    @Test("A task that waits for long is one change of the usual order", arguments: 0..<2)
    func delay(_ strategy: Int) throws {
        let found = failure(of: Self.schedules(strategy)) {
            if await stepsBeforeLateTask(of: 30) == 30 { throw Fault() }
        }
        #expect(try #require(found).schedule.split(separator: ",").count == 1)
    }

    @Test("A delay of a job of the main actor delays the later ones, too")
    func mainActor() throws {
        try Schedules(1_000, .exhaustive(delays: 3)).run {
            let order = Recorder<Int>()
            let tasks = (0..<3).map { number in Task { @MainActor in order.record(number) } }
            let other = Task { await Task.yield() }
            for task in tasks { await task.value }
            await other.value
            if order.events != [0, 1, 2] { throw Fault() }
        }
    }

    @Test("A task that must run between two steps of another one is delayed until then", arguments: strategies.indices)
    func window(_ strategy: Int) throws {
        let body: @Sendable () async throws -> Void = {
            if await stepsBeforeLateTask(of: 6) == 3 { throw Fault() }
        }
        let found = try #require(failure(of: Self.schedules(strategy, 10_000), body))
        #expect(found.notes.isEmpty)
        #expect(failure(of: Schedules(only: found.schedule), body) != nil)
    }

    @Test("A changed schedule is repeated exactly, whatever its strategy was", arguments: strategies.indices)
    func repetition(_ strategy: Int) throws {
        let found = try #require(
            failure(of: Self.schedules(strategy, faults: [.time, .cancellation])) { try await load(isMended: false) })
        for _ in 0..<5 {
            let again = failure(of: Schedules(only: found.schedule)) { try await load(isMended: false) }
            #expect(again?.steps == found.steps)
        }
    }

    // MARK: Time

    @Test("A timeout interrupts work only if time is a fault of the environment", arguments: strategies.indices)
    func timeout(_ strategy: Int) throws {
        #expect(failure(of: Self.schedules(strategy, faults: .time)) { try await load(isMended: false) } != nil)
        #expect(failure(of: Self.schedules(strategy, faults: .time)) { try await load(isMended: true) } == nil)
        #expect(failure(of: Self.schedules(strategy, 1_000)) { try await load(isMended: false) } == nil)
    }

    @Test("A loop that polls ends, with a clock or with a task that sleeps", arguments: 0..<4)
    func polling(_ strategy: Int) throws {
        let schedules = Schedules(20, (strategies + [.exhaustive()])[strategy])
        try schedules.run {
            let clock = ContinuousClock()
            let end = clock.now + .seconds(5)
            while clock.now < end { await Task.yield() }
        }
        try schedules.run {
            let flag = Flag()
            let task = Task {
                try await Task.sleep(for: .seconds(3600))
                await flag.set()
            }
            while await !flag.isSet { await Task.yield() }
            try await task.value
        }
    }

    @Test("Many tasks that yield a few times are no loop: no time passes", arguments: strategies.indices)
    func yields(_ strategy: Int) throws {
        try Self.schedules(strategy, 2).run {
            let start = ContinuousClock.now
            let sleeper = Task { try await Task.sleep(for: .seconds(86_400)) }
            let tasks = (0..<1_500).map { number in
                Task { for _ in 0..<number % 4 { await Task.yield() } }
            }
            for task in tasks { await task.value }
            #expect(ContinuousClock.now - start < .seconds(1))
            sleeper.cancel()
        }
    }

    @Test("A schedule can create the first recorder of a process, although virtual time does not change meanwhile")
    func recorder() async {
        await #expect(processExitsWith: .success) {
            try Schedules(2).run {
                let queue = TaskOperationQueue(name: "queue")
                let recorder = FlightRecorder(of: [queue])
                try await queue.addOperation(name: "a") { try await Task.sleep(for: .seconds(60)) }.value
                recorder.stop()
                #expect(recorder.trace().operations.map(\.name) == ["a"])
            }
        }
    }

    @Test("A cancelled loop whose sleeps end at once lets other tasks run", arguments: strategies.indices)
    func cancelledPolling(_ strategy: Int) throws {
        try Self.schedules(strategy, 200).run {
            let flag = Flag()
            let setter = Task { await flag.set() }
            let waiter = Task {
                while await !flag.isSet { try? await Task.sleep(for: .milliseconds(1)) }
            }
            waiter.cancel()
            await waiter.value
            await setter.value
        }
    }

    // MARK: Cancellation

    @Test("A permit that a cancelled task keeps is found", arguments: strategies.indices)
    func permit(_ strategy: Int) throws {
        @Sendable func run(isMended: Bool) async throws {
            let permits = OnePermit()
            let tasks = (0..<3).map { _ in
                Task {
                    await permits.take()
                    await Task.yield()
                    if !isMended { try Task.checkCancellation() }
                    await permits.give()
                }
            }
            for task in tasks { _ = await task.result }
            if await !permits.isFree { throw Fault() }
        }
        let schedules = Self.schedules(strategy, faults: .cancellation)
        let found = try #require(failure(of: schedules) { try await run(isMended: false) })
        #expect(failure(of: Schedules(only: found.schedule)) { try await run(isMended: false) } != nil)
        #expect(failure(of: schedules) { try await run(isMended: true) } == nil)
    }

    @Test("A test that does not end after its cancellation is found, and one that throws passes")
    func end() throws {
        @Sendable func run(isMended: Bool) async throws {
            let done = Atomic(false)
            let helper = Task {
                try await Task.sleep(for: .seconds(1))
                done.store(true, ordering: .relaxed)
            }
            while !done.load(ordering: .relaxed) {
                if isMended { try Task.checkCancellation() }
                if Task.isCancelled { await withCheckedContinuation { (_: CheckedContinuation<Void, Never>) in } }
                try? await Task.sleep(for: .milliseconds(100))
            }
            _ = helper
        }
        #expect(failure(of: Self.schedules(faults: .cancellation)) { try await run(isMended: false) } != nil)
        #expect(failure(of: Self.schedules(0, 300, faults: .cancellation)) { try await run(isMended: true) } == nil)
    }

    @Test("An error of a library that counts as a cancellation is noted")
    func acceptedError() throws {
        let summary = try Self.schedules(0, 300, faults: .cancellation).run {
            do { try await Task.sleep(for: .seconds(1)) } catch { throw Stopped() }
        }
        #expect(
            summary.notes == ["In a schedule with a cancellation, this error counts as one: the request was cancelled"])
    }

    private struct Stopped: Error, CustomStringConvertible {
        var description: String { "the request was cancelled" }
    }

    @Test("Operations and permits of this package survive any cancellation", .schedules(faults: .cancellation))
    func operations() async throws {
        let permits = AsyncSemaphore(capacity: 1)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let operations = (0..<3).map { _ in
            queue.addOperation(.limit(permits)) { await Task.yield() }
        }
        let tasks = (0..<3).map { _ in Task { try await permits.withPermit { await Task.yield() } } }
        for task in tasks { _ = await task.result }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy { $0.isFinished })
        #expect(permits.available == 1)
    }
}

/// The number of steps of one task before another one, which was created earlier, begins.
private func stepsBeforeLateTask(of count: Int) async -> Int {
    let steps = Recorder<Int>()
    let late = Task { steps.events.count }
    let other = Task {
        for step in 0..<count {
            steps.record(step)
            await Task.yield()
        }
    }
    await other.value
    return await late.value
}

/// Loads a value within five seconds, and then once more.
@Sendable private func load(isMended: Bool) async throws {
    let cache = Cache(isMended: isMended)
    let work = Task { try await cache.load() }
    let timeout = Task {
        try await Task.sleep(for: .seconds(5))
        work.cancel()
    }
    _ = await work.result
    timeout.cancel()
    if try await cache.load() != 5 { throw Fault() }
}

/// Keeps a mark of a load that was interrupted, unless it is mended.
private actor Cache {
    private let isMended: Bool
    private var value: Int?

    init(isMended: Bool) { self.isMended = isMended }

    func load() async throws -> Int {
        if let value { return value }
        if !isMended { value = -1 }
        await Task.yield()
        try Task.checkCancellation()
        value = 5
        return 5
    }
}

private actor Flag {
    private(set) var isSet = false

    func set() { isSet = true }
}
