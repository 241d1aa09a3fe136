#if os(Linux)
    import Dispatch
    import Foundation
    import Synchronization
    import TaskOperations
    import TaskOperationsTesting
    import TestSupport
    import Testing

    /// A program whose fault needs an interruption between two statements, and its mended twin.
    private struct Program: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let run: @Sendable (_ isMended: Bool) async throws -> Void

        init(_ name: String, _ run: @escaping @Sendable (_ isMended: Bool) async throws -> Void) {
            (testDescription, self.run) = (name, run)
        }
    }

    /// A program that ends, whichever jobs are interrupted.
    private struct Correct: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let run: @Sendable () async throws -> Void

        init(_ name: String, _ run: @escaping @Sendable () async throws -> Void) {
            (testDescription, self.run) = (name, run)
        }
    }

    @Suite("Jobs that are interrupted", .prompt, .endsInTime)
    struct InterruptedJobsTests {
        private static func schedules(_ count: Int = 1_000, _ strategy: ScheduleStrategy = .mixed) -> Schedules {
            var schedules = Schedules(count, strategy)
            (schedules.threads, schedules.patience) = (.controlled, .milliseconds(1))
            return schedules
        }

        @Test(
            "A fault between two statements is found, reduced and repeated", arguments: Program.all,
            [ScheduleStrategy.mixed, .priorities(), .uniform])
        fileprivate func fault(_ program: Program, _ strategy: ScheduleStrategy) throws {
            #expect(failure(of: Schedules(1_000, strategy)) { try await program.run(false) } == nil)
            let found = try #require(failure(of: Self.schedules(1_000, strategy)) { try await program.run(false) })
            #expect(
                found.steps.contains { $0.contains("is interrupted in") && $0.contains("InterruptedJobsTests.swift") })
            var again = Schedules(only: found.schedule)
            again.patience = .milliseconds(1)
            let repeated = try #require(failure(of: again) { try await program.run(false) })
            #expect(repeated.steps == found.steps)
        }

        @Test("The mended twins pass", arguments: Program.all)
        fileprivate func mended(_ program: Program) throws {
            let summary = try Self.schedules(isDeep ? 100_000 : 1_000).run { try await program.run(true) }
            #expect(summary.notes == [])
        }

        @Test("Programs that use locks in the right way pass", arguments: Correct.all)
        fileprivate func correct(_ program: Correct) throws {
            let summary = try Self.schedules(isDeep ? 5_000 : 300).run(program.run)
            #expect(summary.notes == [])
        }

        @Test("Two tasks that lock in opposite orders are named")
        func deadlock() throws {
            let found = try #require(
                failure(of: Self.schedules()) {
                    let (one, other) = (NSLock(), NSLock())
                    await withTaskGroup { group in
                        group.addTask { one.withLock { other.withLock {} } }
                        group.addTask { other.withLock { one.withLock {} } }
                    }
                })
            guard case .stuck = found.cause else {
                Issue.record(found)
                return
            }
            #expect(found.description.contains("deadlock() blocks its thread in NSLocking.withLock"), "\(found)")
            #expect(!found.description.contains("computes"), "\(found)")
        }

        @Test("A cancellation is no deadlock if a task is interrupted in the middle of another one")
        func cancellations() throws {
            var schedules = Self.schedules()
            schedules.faults = [.cancellation, .time]
            try schedules.run {
                let tasks = (0..<3).map { _ in Task { try await Task.sleep(for: .seconds(1)) } }
                let canceller = Task { for task in tasks { task.cancel() } }
                for task in tasks { _ = await task.result }
                await canceller.value
            }
        }

        @Test("A lock that another thread has is waited for")
        func foreignLock() throws {
            let lock = NSLock()
            let isEnded = Atomic(false)
            let thread = Thread {
                while !isEnded.load(ordering: .relaxed) {
                    lock.withLock { _ = usleep(100) }
                    usleep(100)
                }
            }
            thread.start()
            defer { isEnded.store(true, ordering: .relaxed) }
            var schedules = Self.schedules(100)
            schedules.patience = .seconds(60)
            try schedules.run {
                await withTaskGroup { group in
                    for _ in 0..<3 { group.addTask { for _ in 0..<3 { lock.withLock {} } } }
                }
            }
        }

        @Test("An endless schedule releases the locks of its interrupted jobs")
        func endless() throws {
            let lock = NSLock()
            var schedules = Self.schedules(200)
            schedules.stepLimit = 40
            let found = try #require(
                failure(of: schedules) {
                    let other = Task { for _ in 0..<4 { lock.withLock {} } }
                    for _ in 0..<40 {
                        lock.withLock {}
                        await Task.yield()
                    }
                    await other.value
                })
            guard case .endless = found.cause else {
                Issue.record(found)
                return
            }
            #expect(lock.try())
        }

        @Test("The threads of an exploration end with it")
        func threads() async throws {
            await #expect(processExitsWith: .success) {
                for _ in 0..<20 { try Self.schedules(50).run(Correct.all[0].run) }
                let folder = "/proc/self/task"
                while try FileManager.default.contentsOfDirectory(atPath: folder).contains(where: {
                    (try? String(contentsOfFile: "\(folder)/\($0)/comm", encoding: .utf8)) == "schedules job\n"
                }) { usleep(1_000) }
            }
        }

        @Test("A crash on the thread of an interrupted job names the schedule")
        func crash() async throws {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try Self.schedules().run {
                    do { try await Program.all[0].run(false) } catch { fatalError("no") }
                }
            }
            let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
            #expect(text.contains(/ends the process in schedule \d+ · repeat it/), "\(text)")
        }

        @Test("The trait interrupts jobs", .schedules(200, threads: .controlled))
        func trait() async throws { try await Program.all[0].run(true) }
    }

    extension Program {
        static let all = [
            Self("a count is read and written under two locks") { isMended in
                let (lock, count) = (NSLock(), Recorder<Int>())
                let add: @Sendable () -> Void = {
                    if isMended { return lock.withLock { count.record(count.events.count) } }
                    let old = lock.withLock { count.events.count }
                    lock.withLock { count.record(old) }
                }
                await withTaskGroup { group in for _ in 0..<2 { group.addTask { add() } } }
                try check(count.events == [0, 1])
            },
            Self("a task runs before its creator stores it") { isMended in
                let store = Store()
                try await check((isMended ? store.createUnderLock() : store.create()).value)
            },
            Self("a cancelled body answers before its timeout") { isMended in
                let (answers, source) = AsyncStream.makeStream(of: String.self)
                let body = Task {
                    try? await Task.sleep(for: .seconds(100))
                    source.yield("cancelled")
                }
                let timeout = Task {
                    try await Task.sleep(for: .seconds(1))
                    if isMended { source.yield("timeout") }
                    body.cancel()
                    source.yield("timeout")
                }
                let first = await answers.first { _ in true }
                try check(first == "timeout")
                _ = await (body.value, timeout.result)
            },
            Self("a waiter is resumed between the check and the wait") { isMended in
                let gate = LateGate()
                let waiter = Task { await gate.pass(isMended: isMended) }
                gate.open()
                await waiter.value
            },
        ]
    }

    extension Correct {
        static let all = [
            Self("jobs that share a lock") {
                let lock = NSLock()
                await withTaskGroup { group in
                    for _ in 0..<4 { group.addTask { for _ in 0..<3 { lock.withLock {} } } }
                }
            },
            Self("a lock of Synchronization that is held while tasks are resumed") {
                let (values, source) = AsyncStream.makeStream(of: Int.self)
                let count = Count()
                let reader = Task { for await _ in values { count.value.withLock { $0 += 1 } } }
                await withTaskGroup { group in
                    for number in 0..<3 {
                        group.addTask {
                            count.value.withLock { count in
                                source.yield(number)
                                count += 1
                            }
                        }
                    }
                }
                source.finish()
                await reader.value
                try check(count.value.withLock(\.self) == 6)
            },
            Self("a recursive lock, and a semaphore of Dispatch") {
                let (lock, semaphore) = (NSRecursiveLock(), DispatchSemaphore(value: 1))
                await withTaskGroup { group in
                    for _ in 0..<3 {
                        group.addTask {
                            lock.withLock { lock.withLock {} }
                            pass(semaphore, lock)
                        }
                    }
                }
            },
            Self("a static variable whose initializer locks") {
                await withTaskGroup { group in
                    for _ in 0..<3 { group.addTask { _ = Initialized.value } }
                }
            },
            Self("an actor, the main actor and a lock") {
                let (actor, lock) = (Visitors(), NSLock())
                await withTaskGroup { group in
                    for _ in 0..<4 {
                        group.addTask {
                            lock.withLock {}
                            await actor.visit(lock)
                            await MainActor.run { lock.withLock {} }
                        }
                    }
                }
                try await check(actor.count == 4)
            },
            Self("jobs of the main actor") {
                let (lock, total) = (NSLock(), MainCount())
                let tasks = (0..<4).map { _ in
                    Task { @MainActor in
                        let old = total.value
                        lock.withLock {}
                        total.value = old + 1
                    }
                }
                let other = Task { for _ in 0..<4 { lock.withLock {} } }
                for task in tasks { await task.value }
                await other.value
                try await check(total.value == 4)
            },
            Self("queues of this package") {
                let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
                let operations = (0..<4).map { number in queue.addOperation { number } }
                operations[1].cancel()
                for (number, operation) in operations.enumerated() where number != 1 {
                    try await check(operation.value == number)
                }
                try await queue.waitUntilAllOperationsAreFinished()
            },
            Self("200 tasks that share a lock") {
                let lock = NSLock()
                let tasks = (0..<200).map { _ in Task { lock.withLock {} } }
                for task in tasks { await task.value }
            },
        ]
    }

    private struct Wrong: Error {}

    private func check(_ condition: Bool) throws { if !condition { throw Wrong() } }

    /// Stores a task that expects to be stored.
    private final class Store: Sendable {
        private let task = Lock<Task<Bool, Never>?>(nil)

        func create() -> Task<Bool, Never> {
            let task = Task { self.task.withLock { $0 != nil } }
            self.task.withLock { $0 = task }
            return task
        }

        func createUnderLock() -> Task<Bool, Never> {
            self.task.withLock { stored in
                let task = Task { self.task.withLock { $0 != nil } }
                stored = task
                return task
            }
        }
    }

    /// A gate whose waiter looks at it under one lock, and waits under another.
    private final class LateGate: @unchecked Sendable {
        private let lock = NSLock()
        // The lock protects both.
        private var isOpen = false
        private var waiter: CheckedContinuation<Void, Never>?

        func pass(isMended: Bool) async {
            if lock.withLock({ isOpen }) { return }
            await withCheckedContinuation { continuation in
                let isLate = lock.withLock {
                    if isMended, isOpen { return true }
                    waiter = continuation
                    return false
                }
                if isLate { continuation.resume() }
            }
        }

        func open() {
            let waiter = lock.withLock {
                isOpen = true
                defer { self.waiter = nil }
                return self.waiter
            }
            waiter?.resume()
        }
    }

    private final class Count: Sendable {
        let value = Lock(0)
    }

    @MainActor private final class MainCount {
        var value = 0

        nonisolated init() {}
    }

    private actor Visitors {
        var count = 0

        func visit(_ lock: NSLock) { lock.withLock { count += 1 } }
    }

    private enum Initialized {
        static let lock = NSLock()
        static let value: Int = lock.withLock { lock.description.count }
    }

    private func pass(_ semaphore: DispatchSemaphore, _ lock: NSRecursiveLock) {
        semaphore.wait()
        lock.withLock {}
        semaphore.signal()
    }
#endif
