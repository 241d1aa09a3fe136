#if os(Linux)
    import Foundation
    import TaskOperations
    import TaskOperationsTesting
    import TestSupport
    import Testing

    /// Each exit test has an environment of its own.
    @Suite("Schedules that are repeated", .prompt, .endsInTime)
    struct RepeatedScheduleTests {
        /// Explores a body that ends the process where `loseUpdate` loses an update. Only the failing schedule, whose number
        /// standard error names, may end it.
        private static func crash(_ end: @escaping @Sendable () -> Void) throws {
            let number = try #require(failure(of: Schedules(1_000), loseUpdate)).place.number
            FileHandle.standardError.write(Data("expected \(number)\n".utf8))
            setenv("TASK_OPERATIONS_SCHEDULE", "#\(number)", 1)
            try Schedules(1_000).run {
                do { try await loseUpdate() } catch { end() }
            }
        }

        private func expectNumber(_ result: ExitTest.Result?) throws {
            let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
            let expected = try #require(text.firstMatch(of: /expected (\d+)/)).1
            #expect(text.contains("ends the process in schedule \(expected) · repeat it"), "\(text)")
            #expect(text.contains("TASK_OPERATIONS_SCHEDULE='#\(expected)'"), "\(text)")
        }

        @Test("A precondition that fails in a schedule names the schedule, which then is the last of the repeated ones")
        func precondition() async throws {
            try expectNumber(
                await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                    try Self.crash { fatalError("no") }
                })
        }

        @Test("A call of `abort` in a schedule names the schedule")
        func abortion() async throws {
            try expectNumber(
                await #expect(processExitsWith: .signal(SIGABRT), observing: [\.standardErrorContent]) {
                    try Self.crash { abort() }
                })
        }

        @Test("A read of memory that does not exist names the schedule")
        func badMemory() async throws {
            try expectNumber(
                await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                    try Self.crash { print(UnsafePointer<Int>(bitPattern: 64)!.pointee) }
                })
        }

        @Test("An overflow of the stack names the schedule")
        func stackOverflow() async throws {
            try expectNumber(
                await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                    try Self.crash { print(depth(1)) }
                })
        }

        // In a process of its own: if copies do not end, because other tests have locks when they are made, the crash
        // would end the process of all tests.
        @Test("A crash in a copy of the process is reduced and repeated like another failure")
        func copies() async {
            await #expect(processExitsWith: .success) {
                for crash in Crash.allCases {
                    for strategy in [ScheduleStrategy.mixed, .priorities(), .uniform, .exhaustive()] {
                        try Self.checkCopies(crash, strategy)
                    }
                }
            }
        }

        private static func checkCopies(_ crash: Crash, _ strategy: ScheduleStrategy) throws {
            var schedules = Schedules(1_000, strategy)
            let expected = try #require(failure(of: schedules, loseUpdate))
            let body: @Sendable () async throws -> Void = {
                do { try await loseUpdate() } catch { crash.happen() }
            }
            schedules.forks = true
            let found = try #require(failure(of: schedules, body))
            #expect(found.description.contains(crash.rawValue), "\(found)")
            #expect(found.place.number == expected.place.number)
            #expect(found.schedule == expected.schedule)
            #expect(found.steps.contains { $0.hasPrefix("→") })
            var only = Schedules(only: found.schedule)
            only.forks = true
            #expect(failure(of: only, body)?.description.contains(crash.rawValue) == true)
        }

        @Test("A copy of the process that needs a lock of another thread says nothing about the schedule")
        func copiesWithLocks() throws {
            let lock = Lock(0)
            let isDone = Lock(false)
            Thread {
                while !isDone.withLock({ $0 }) { lock.withLock { _ = usleep(UInt32($0 & 63)) } }
            }.start()
            defer { isDone.withLock { $0 = true } }
            var schedules = Schedules(50)
            schedules.forks = true
            #expect(try schedules.run { lock.withLock { $0 += 1 } }.count == 50)
        }

        /// The failure of an exploration whose schedules run in copies of the process.
        private static func copiedFailure(_ body: @escaping @Sendable () async throws -> Void) -> ScheduleFailure? {
            var schedules = Schedules(1_000)
            schedules.forks = true
            return failure(of: schedules, body)
        }

        @Test("A crash whose message differs each time is reduced")
        func varyingMessages() async {
            await #expect(processExitsWith: .success) {
                for isFatalError in [false, true] { try Self.checkVaryingMessages(isFatalError: isFatalError) }
            }
        }

        private static func checkVaryingMessages(isFatalError: Bool) throws {
            let expected = try #require(failure(of: Schedules(1_000), loseUpdate))
            let found = copiedFailure {
                do { try await loseUpdate() } catch {
                    let message = "request \(UInt64.random(in: 0 ... .max)) is lost"
                    if isFatalError { fatalError(message) }
                    FileHandle.standardError.write(Data("\(message)\n".utf8))
                    abort()
                }
            }
            #expect(found?.schedule == expected.schedule)
            #expect(found?.description.contains("is lost") == true)
        }

        @Test("The report of a crash ends with the step that ends the process")
        func lastStep() async {
            await #expect(processExitsWith: .success) {
                let found = Self.copiedFailure {
                    await Task {
                        for _ in 0..<3 { await Task.yield() }
                        fatalError("no")
                    }.value
                }
                #expect(found?.schedule == "usual")
                // The test waits in step 0. A yield takes two steps of the task.
                #expect(found?.steps.last?.hasPrefix("     7  task 2") == true, "\(found?.steps ?? [])")
            }
        }

        @Test("A copy that does not end is the last one")
        func endlessCopy() throws {
            let (request, reply) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            Thread {
                while true {
                    request.wait()
                    reply.signal()
                }
            }.start()
            var schedules = Schedules(50)
            schedules.forks = true
            let summary = try schedules.run { block(request, reply) }
            #expect(summary.count == 50)
            #expect(summary.notes.contains { $0.contains("copies did not end") })
        }

        @Test("A body that waits forever, and ends the process when it is cancelled, is reported as waiting")
        func crashAfterCancellation() throws {
            let found = Self.copiedFailure {
                await withTaskCancellationHandler {
                    await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
                } onCancel: {
                    fatalError("nobody cancels this test")
                }
            }
            guard case .stuck? = found?.cause else { throw Fault() }
        }

        @Test("A body that waits for a cancelled task of its own passes, also in copies of the process")
        func ownCancellation() throws {
            var schedules = Schedules(200)
            (schedules.forks, schedules.faults, schedules.patience) = (true, .cancellation, .zero)
            try schedules.run {
                let (stream, continuation) = AsyncStream<Void>.makeStream()
                Task {
                    try await Task.sleep(for: .seconds(1))
                    continuation.yield()
                }
                for await _ in stream { break }
            }
        }

        @Test("Code that ends a copy without a signal runs in the process itself")
        func silentEnd() async throws {
            await #expect(processExitsWith: .exitCode(3)) {
                var schedules = Schedules(10)
                schedules.forks = true
                try schedules.run { exit(3) }
            }
        }

        @Test("A crash in a repeated schedule names this schedule again")
        func repeatedCrash() async throws {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try Schedules(only: "1-").run { fatalError("no") }
            }
            let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
            #expect(text.contains("TASK_OPERATIONS_SCHEDULE='1-'"), "\(text)")
        }

        @Test("A schedule that needs another thread runs in the process itself, and the others pass twice")
        func copiesWithThreads() throws {
            var schedules = Schedules(20)
            (schedules.forks, schedules.patience) = (true, .seconds(300))
            let lines = Recorder<Int>()
            let summary = try schedules.run {
                lines.record(1)
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().async { continuation.resume() }
                }
                await withCheckedContinuation { continuation in
                    Thread { continuation.resume() }.start()
                }
            }
            #expect(summary.count == 20)
            #expect(lines.events.count >= 20)
        }

        @Test("A crash outside schedules names none")
        func outside() async throws {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try Schedules(10).run {}
                fatalError("no")
            }
            let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
            #expect(!text.contains("in schedule"), "\(text)")
        }

        @Test("A value of the environment that is not understood fails, and names the value")
        func environment() async {
            await #expect(processExitsWith: .success) {
                for (name, value) in [
                    ("TASK_OPERATIONS_SCHEDULE", "1:1"), ("TASK_OPERATIONS_SCHEDULE", "#0"),
                    ("TASK_OPERATIONS_SCHEDULES", "many"), ("TASK_OPERATIONS_SCHEDULES", "-1"),
                ] {
                    setenv(name, value, 1)
                    let found = failure(of: Schedules(10)) {}
                    unsetenv(name)
                    #expect(found?.description.contains("\(name) is \"\(value)\"") == true)
                    #expect(found?.place.number == 0)
                }
            }
        }

        @Test("The environment of another test has no effect")
        func otherTest() async {
            await #expect(processExitsWith: .success) {
                setenv("TASK_OPERATIONS_TEST", "other()", 1)
                setenv("TASK_OPERATIONS_SCHEDULE", "usual", 1)
                let summary = try Schedules(10).run {}
                #expect(summary.count == 10)
            }
        }

        @Test("A repeated schedule that passes says so, also if the program cannot take its choices")
        func passes() async {
            await #expect(processExitsWith: .success) {
                let two: @Sendable () async throws -> Void = {
                    async let one: Void = Task.yield()
                    await one
                }
                setenv("TASK_OPERATIONS_SCHEDULE", "usual", 1)
                let passed = try Schedules(10).run(two).notes
                #expect(passed.first?.hasPrefix("The schedule usual passes.") == true, "\(passed)")
                #expect(passed.first?.contains("SWIFT_DETERMINISTIC_HASHING") == true)
                setenv("TASK_OPERATIONS_SCHEDULE", "#7", 1)
                #expect(try Schedules(10).run(two).notes == ["The first 7 schedules pass."])
                unsetenv("TASK_OPERATIONS_SCHEDULE")
                let stale = try Schedules(only: "900-").run(two).notes
                #expect(stale.first?.contains("at step 900, 0 jobs are ready") == true, "\(stale)")
                #expect(try Schedules(only: "usual").run(two).notes.isEmpty)
            }
        }

        @Test(
            "The reduction of a schedule keeps the fault that was found",
            arguments: [[2, 1, 0], [1, 2, 0], [2, 0, 1], [1, 0, 2]])
        func reduction(_ target: [Int]) throws {
            struct Other: Error {}
            let found = Recorder<String>()
            // An order that differs less from the usual one shows another fault.
            let failing = failure(of: Schedules(1_000, .uniform)) {
                let order = Recorder<Int>()
                let tasks = (0..<3).map { number in Task { order.record(number) } }
                for task in tasks { await task.value }
                if order.events == target {
                    found.record("Fault")
                    throw Fault()
                }
                if order.events[0] == target[0], !found.events.isEmpty { throw Other() }
            }
            guard case .error(let error)? = failing?.cause else {
                Issue.record("no failure")
                return
            }
            #expect(error is Fault)
        }

        @Test("Schedules of earlier failures run first", arguments: [0, 1])
        func earlierFailures(_ kind: Int) throws {
            let strategy: ScheduleStrategy = [.mixed, .exhaustive()][kind]
            let found = try #require(failure(of: Schedules(1_000, strategy), loseUpdate))
            var schedules = Schedules(1_000, strategy)
            schedules.also = ["usual", found.schedule]
            #expect(failure(of: schedules, loseUpdate)?.place.number == 2)
            schedules.also = ["usual"]
            let later = failure(of: schedules, loseUpdate)?.place.number
            #expect(later == found.place.number + 1)
        }

        @Test("A limit of time ends an exploration after at least one schedule")
        func duration() throws {
            var schedules = Schedules(.max)
            // A busy machine runs few schedules in a short time.
            let runsSeveral = try [50, 500, 5_000, 50_000].contains { milliseconds in
                schedules.duration = .milliseconds(milliseconds)
                return try schedules.run {}.count > 10
            }
            #expect(runsSeveral)
            schedules.duration = .zero
            #expect(try schedules.run {}.count == 1)
        }

        @Test("A test in virtual time runs once, and its sleeps take no time", .virtualTime)
        func virtualTime() async throws {
            let start = ContinuousClock.now
            try await Task.sleep(for: .seconds(86_400))
            #expect(ContinuousClock.now - start >= .seconds(86_400))
        }

        @Test("A task of the highest priority keeps it when it yields")
        func yields() throws {
            let body: @Sendable () async throws -> Void = {
                let order = Recorder<String>()
                let first = Task {
                    for _ in 0..<40 { await Task.yield() }
                    order.record("first")
                }
                let second = Task { order.record("second") }
                await first.value
                await second.value
                if order.events == ["first", "second"] { throw Fault() }
            }
            // A third of the orders of three tasks.
            #expect(failure(of: Schedules(50, .priorities(depth: 1)), body) != nil)
        }

        @Test("A task that waits in a loop of yields does not keep the others waiting")
        func loopOfYields() throws {
            try Schedules(100, .priorities()).run {
                let isDone = Recorder<Bool>()
                let waiting = Task { while isDone.events.isEmpty { await Task.yield() } }
                let other = Task { isDone.record(true) }
                await waiting.value
                await other.value
            }
        }
    }

    /// A way in which the tested code ends the process, with a part of the report.
    enum Crash: String, CaseIterable {
        case precondition = "Fatal error: no"
        case abortion = "SIGABRT"
        case badMemory = "SIGSEGV"
        case overflow = "ends the process: SIGSEGV"
        case resumption = "tried to resume its continuation more than once"

        func happen() {
            switch self {
            case .precondition: fatalError("no")
            case .abortion: abort()
            case .badMemory: FileHandle.standardError.write(Data([UnsafePointer<UInt8>(bitPattern: 64)!.pointee]))
            case .overflow: FileHandle.standardError.write(Data("\(depth(1))".utf8))
            case .resumption:
                Task {
                    await withCheckedContinuation { continuation in
                        continuation.resume()
                        continuation.resume()
                    }
                }
            }
        }
    }

    private func block(_ request: DispatchSemaphore, _ reply: DispatchSemaphore) {
        request.signal()
        reply.wait()
    }

    /// Never returns.
    private func depth(_ number: Int) -> Int { number == 0 ? 0 : depth(number + 1) + 1 }
#endif
