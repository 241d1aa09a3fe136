import Dispatch
import Foundation
import Synchronization
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Schedules", .prompt, .endsInTime)
struct SchedulesTests {
    @Test("Each strategy finds a lost update, and the schedule that it names fails again", arguments: 0..<4)
    func lostUpdate(_ strategy: Int) throws {
        let strategy: ScheduleStrategy = [.mixed, .priorities(), .uniform, .exhaustive()][strategy]
        let found = try #require(failure(of: Schedules(1_000, strategy), loseUpdate))
        // One delay is enough.
        #expect(found.schedule.split(separator: ",").count == 1)
        for _ in 0..<20 {
            let again = failure(of: Schedules(only: found.schedule), loseUpdate)
            #expect(again?.steps == found.steps)
        }
        #expect(failure(of: Schedules(only: "usual"), loseUpdate) == nil)
    }

    @Test("The report shows the tasks, their actors and the lines, on Linux", .enabled(if: isLinux))
    func report() throws {
        let found = try #require(failure(of: Schedules(1_000), loseUpdate))
        let steps = found.steps.joined(separator: "\n")
        #expect(steps.contains("task 2 “other” (LostUpdate.swift:25): enters Counter in Counter.add(_:)"))
        #expect(steps.contains("the test: creates task 2"))
        #expect("\(found)".contains("TASK_OPERATIONS_SCHEDULE=\(found.schedule)"))
    }

    @Test("An exhaustive exploration says that it has run all schedules")
    func exhaustive() throws {
        let body: @Sendable () async throws -> Void = {
            let counter = Counter()
            async let one: Void = counter.increment()
            async let two: Void = counter.increment()
            async let three: Void = counter.increment()
            _ = await (one, two, three)
        }
        let all = try Schedules(10_000, .exhaustive(delays: 3)).run(body)
        #expect(all.isComplete)
        #expect(all.count > 10)
        let some = try Schedules(10, .exhaustive(delays: 3)).run(body)
        #expect(!some.isComplete)
        #expect(some.count == 10)
    }

    @Test("Sleeps take no time, in any task and on the main actor", .enabled(if: isLinux))
    func sleeps() throws {
        let start = ContinuousClock.now
        try Schedules(100).run {
            let start = ContinuousClock.now
            let tasks = [
                Task { try await Task.sleep(for: .seconds(3600)) },
                Task.detached { try await ContinuousClock().sleep(until: .now + .seconds(3600)) },
                Task.detached { try await SuspendingClock().sleep(for: .seconds(3600)) },
                Task { @MainActor in try await Task.sleep(nanoseconds: 3_600_000_000_000) },
            ]
            for task in tasks { try await task.value }
            if ContinuousClock.now - start != .seconds(3600) { throw Fault() }
        }
        #expect(ContinuousClock.now - start < .seconds(600))
    }

    @Test("A sleep does not end before its deadline, which may be between two nanoseconds", .enabled(if: isLinux))
    func fractionalDeadline() throws {
        try Schedules(10).run {
            let clock = ContinuousClock()
            let deadline = clock.now + .seconds(1) / 3
            try await Task.sleep(until: deadline, clock: .continuous)
            if clock.now < deadline { throw Fault() }
        }
    }

    @Test("All functions of the C library show the virtual time", .enabled(if: isLinux))
    func timeFunctions() throws {
        try Schedules(10).run {
            let (before, seconds) = (Date(), time(nil))
            try await Task.sleep(for: .seconds(3600))
            var now = timeval()
            gettimeofday(&now, nil)
            if Date().timeIntervalSince(before) < 3600 || time(nil) - seconds < 3600 || now.tv_sec - seconds < 3600 {
                throw Fault()
            }
        }
    }

    @Test("A strategy with any number of priority changes runs")
    func manyPriorityChanges() throws {
        try Schedules(10, .priorities(depth: .max)).run {
            async let other: Void = Task.yield()
            await other
        }
    }

    @Test("The main actor is isolated, and its jobs keep their order")
    func mainActor() throws {
        try Schedules(300).run {
            let order = Recorder<Int>()
            await MainActor.run { MainActor.assertIsolated() }
            let tasks = await MainActor.run {
                (0..<4).map { number in Task { @MainActor in order.record(number) } }
            }
            for task in tasks { await task.value }
            if order.events != [0, 1, 2, 3] { throw Fault() }
        }
    }

    @Test("Queues take part with any executor, and their limits pass in virtual time", .enabled(if: isLinux))
    func queues() throws {
        let foreign = Recorder<Void>()
        try Schedules(100).run {
            let queue = TaskOperationQueue(
                .init(maxConcurrentOperationCount: 2, rate: .one(per: .seconds(60)), executor: OtherThreads()))
            let start = ContinuousClock.now
            let operations = (0..<3).map { _ in
                queue.addOperation { if !isOnExploringThread() { foreign.record(()) } }
            }
            for operation in operations { try await operation.value }
            if ContinuousClock.now - start < .seconds(120) { throw Fault() }
            let late = queue.addOperation(.timeout(.seconds(3600))) { try await Task.sleep(for: .seconds(7200)) }
            await #expect(throws: (any Error).self) { try await late.value }
        }
        #expect(foreign.events.isEmpty)
    }

    @Test("Random numbers of a schedule repeat with the schedule")
    func randomNumbers() throws {
        let numbers = Recorder<Int>()
        let body: @Sendable () async throws -> Void = {
            var generator = Schedules.generator()
            let number = Int.random(in: 0..<1000, using: &generator)
            numbers.record(number)
            if number > 500 { throw Fault() }
        }
        let found = try #require(failure(of: Schedules(1_000), body))
        let last = numbers.events.last
        #expect(failure(of: Schedules(only: found.schedule), body) != nil)
        #expect(numbers.events.last == last)
    }

    @Test("A schedule is printed and read")
    func text() throws {
        for text in ["usual", "1-", "3/usual", "17/1-2,1-,4t,7-19"] {
            #expect(failure(of: Schedules(only: text)) { throw Fault() } != nil)
        }
    }

    @Test("10,000 schedules of a program with 100 jobs do not take long", .enabled(if: isDeep))
    func cost() throws {
        let start = ContinuousClock.now
        try Schedules(10_000).run {
            let counter = Counter()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<20 { group.addTask { await counter.increment() } }
            }
        }
        // The time includes that of other tests on the same processors.
        #expect(ContinuousClock.now - start < .seconds(600))
    }
}

#if os(Linux)
    let isLinux = true
#else
    let isLinux = false
#endif

func isOnExploringThread() -> Bool { Thread.current.name == "schedules" }

/// Runs each job on a new thread.
final class OtherThreads: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

// In separate processes: the other thread needs a thread of the pool, and tests with schedules block such threads.
@Suite("Code beside a schedule", .inTurns, .enabled(if: isLinux), .endsInTime)
struct CodeBesideSchedulesTests {
    /// One schedule whose job may block while the other thread runs.
    private static var patient: Schedules {
        var schedules = Schedules(1)
        schedules.blockLimit = .seconds(1200)
        return schedules
    }

    /// Calls a function on another thread, and blocks until the function calls its argument.
    private static func onOtherThread(_ body: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void) {
        let semaphore = DispatchSemaphore(value: 0)
        Thread { body { semaphore.signal() } }.start()
        semaphore.wait()
    }

    @Test("a completion handler of a schedule does not run in a task beside the schedule")
    func handlers() async {
        await #expect(processExitsWith: .success) {
            try Self.patient.run {
                let (own, ran) = (TaskOperation {}, Recorder<Bool>())
                own.addCompletionHandler { ran.record(isOnExploringThread()) }
                own.cancel()
                // The task for the handler of the schedule cannot run now. That of the other thread can.
                Self.onOtherThread { done in
                    let other = TaskOperation {}
                    other.addCompletionHandler { done() }
                    other.cancel()
                }
                #expect(ran.events == [])
                for _ in 0..<10 { await Task.yield() }
                #expect(ran.events == [true])
            }
        }
    }

    @Test("an operation that a schedule starts without a queue does not run in a task beside the schedule")
    func withoutQueue() async {
        await #expect(processExitsWith: .success) {
            try Self.patient.run {
                let own = TaskOperation { isOnExploringThread() }
                try own.start()
                Self.onOtherThread { done in
                    try! TaskOperation { done() }.start()
                }
                #expect(try await own.value)
            }
        }
    }
}
