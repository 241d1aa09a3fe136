#if os(Linux)
    import Glibc
    import TaskOperations
    import TaskOperationsTesting
    import TestSupport
    import Testing

    @testable import TaskDump

    @Suite("Task dumps", .inTurns, .endsInTime)
    struct TaskDumpTests {
        /// Continuations that end the tasks of a test.
        private final class Pending: Sendable {
            private let continuations = Lock<[CheckedContinuation<Void, Never>]>([])

            func wait() async {
                await withCheckedContinuation { continuation in continuations.withLock { $0.append(continuation) } }
            }

            func resumeAll() {
                for continuation in continuations.withLock(\.self) { continuation.resume() }
            }
        }

        /// The entry of a task with a name, as soon as it satisfies a condition.
        private func entry(_ name: String, _ isReached: (TaskDump.Entry) -> Bool) async throws -> TaskDump.Entry {
            while true {
                try Task.checkCancellation()
                if let entry = TaskDump.capture().tasks.first(where: { $0.name == name }), isReached(entry) {
                    return entry
                }
                await Task.yield()
            }
        }

        private func unique(_ name: String = #function) -> String { "\(name) \(UInt64.random(in: 0...UInt64.max))" }

        @Test("A task that waits for a continuation shows its creator, its functions and its priority")
        func continuation() async throws {
            TaskDump.begin()
            let (pending, name) = (Pending(), unique())
            let task = Task(name: name, priority: .low) { await pending.wait() }
            let entry = try await entry(name) { $0.wait == .continuation }
            #expect(
                entry.frames.contains {
                    $0.function.contains("Pending.wait") && $0.place?.hasPrefix("TaskDumpTests") == true
                })
            #expect(entry.creators.contains { $0.function.contains("continuation()") })
            #expect(entry.priority == .low)
            #expect(!entry.isCancelled)
            task.cancel()
            #expect(try await self.entry(name) { $0.isCancelled }.wait == .continuation)
            pending.resumeAll()
            await task.value
        }

        @Test("A task that awaits another one names its number")
        func value() async throws {
            TaskDump.begin()
            let (pending, first, second) = (Pending(), unique(), unique())
            let one = Task(name: first) { await pending.wait() }
            let two = Task(name: second) { await one.value }
            let awaited = try await entry(first) { $0.wait == .continuation }
            let waiting = try await entry(second) { $0.wait == .task(awaited.number) }
            #expect(waiting.wait == .task(awaited.number))
            pending.resumeAll()
            await two.value
        }

        @Test("A group names its children, also those that have ended none")
        func group() async throws {
            TaskDump.begin()
            let (pending, name, child) = (Pending(), unique(), unique())
            let task = Task(name: name) {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<3 { group.addTask(name: child) { await pending.wait() } }
                    group.addTask {}
                    await group.waitForAll()
                }
            }
            let entry = try await entry(name) {
                if case .children(let numbers) = $0.wait { numbers.count == 3 } else { false }
            }
            let children = TaskDump.capture().tasks.filter { $0.name == child }
            #expect(children.map(\.parent) == Array(repeating: entry.number, count: 3))
            #expect(entry.wait == .children(children.map(\.number)))
            pending.resumeAll()
            await task.value
        }

        @Test("A child of `async let` is found through its parent")
        func asyncLet() async throws {
            TaskDump.begin()
            let (pending, name) = (Pending(), unique())
            let task = Task(name: name) {
                async let one: Void = pending.wait()
                async let two: Void = pending.wait()
                _ = await (one, two)
            }
            let entry = try await entry(name) { if case .task = $0.wait { true } else { false } }
            var children: [TaskDump.Entry] = []
            while children.filter({ $0.wait == .continuation }).count < 2 {
                children = TaskDump.capture().tasks.filter { $0.parent == entry.number }
                await Task.yield()
            }
            #expect(children.count == 2)
            #expect(children.contains { entry.wait == .task($0.number) })
            pending.resumeAll()
            await task.value
        }

        @Test("A sleep shows the rest of its duration", arguments: [true, false])
        func sleep(isInNanoseconds: Bool) async throws {
            TaskDump.begin()
            let name = unique()
            let task = Task(name: name) {
                if isInNanoseconds {
                    try? await Task.sleep(nanoseconds: 1_000_000_000_000)
                } else {
                    try? await Task.sleep(for: .seconds(1_000))
                }
            }
            let entry = try await entry(name) { if case .sleep(.some) = $0.wait { true } else { false } }
            guard case .sleep(let remaining?) = entry.wait else {
                Issue.record("\(entry.wait)")
                return
            }
            #expect(remaining > .seconds(900) && remaining <= .seconds(1_000))
            task.cancel()
            await task.value
        }

        @Test("A task that awaits the next element of a stream says so")
        func element() async throws {
            TaskDump.begin()
            let name = unique()
            let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
            let task = Task(name: name) { for await _ in stream {} }
            #expect(try await entry(name) { $0.wait == .element }.wait == .element)
            continuation.finish()
            await task.value
        }

        @Test("An address that is none has no function")
        func noAddress() {
            let addresses: Set<UInt> = [0, 1, .max, .max - 7, .max / 2]
            let symbols = Symbols(addresses)
            for address in addresses { #expect(symbols[address] == nil) }
        }

        @Test("The functions of a library have names in each look-up")
        func laterNames() throws {
            for name in ["swift_task_switch", "swift_continuation_await", "swift_continuation_init"] {
                let address = UInt(bitPattern: try #require(dlsym(nil, name)))
                for place in address..<address + 3 { #expect(Symbols([place])[place]?.function == name) }
            }
        }

        @Test("Tasks that have ended leave the list")
        func ended() async throws {
            TaskDump.begin()
            let name = unique()
            for _ in 0..<10_000 { await Task(name: name) {}.value }
            for _ in 0..<100 { async let one: Void = Task.yield(); await one }
            // A dump leaves out tasks that have ended, also if they are still listed.
            while Snapshot.list().contains(where: { $0.birth.name == name }) { await Task.yield() }
        }

        @Test("A long name with any bytes is cut, and harmless")
        func names() async throws {
            TaskDump.begin()
            let (pending, prefix) = (Pending(), unique())
            let task = Task(name: prefix + String(repeating: "\n\u{1B}ä", count: 10_000)) { await pending.wait() }
            var found: TaskDump.Entry?
            while found == nil {
                found = TaskDump.capture().tasks.first {
                    $0.name?.hasPrefix(prefix) == true && $0.wait == .continuation
                }
                await Task.yield()
            }
            #expect(found!.name!.utf8.count < 200)
            #expect(!found!.heading.contains("\n"))
            pending.resumeAll()
            await task.value
        }

        @Test("Dumps on many threads at once have the same task")
        func concurrent() async throws {
            TaskDump.begin()
            let (pending, name) = (Pending(), unique())
            let task = Task(name: name) { await pending.wait() }
            _ = try await entry(name) { $0.wait == .continuation }
            await withTaskGroup(of: Int.self) { group in
                for _ in 0..<8 {
                    group.addTask { TaskDump.capture().tasks.count { $0.name == name } }
                }
                for await count in group { #expect(count == 1) }
            }
            pending.resumeAll()
            await task.value
        }

        @Test("A test that has not ended in time has one issue with the task that holds it up, and continues")
        func trait() async throws {
            TaskDump.begin()
            let (pending, name, ends) = (Pending(), unique(), Recorder<String>())
            let (test, testCase) = (try #require(Test.current), Test.Case.current)
            let task = Task(name: name) { await pending.wait() }
            _ = try await entry(name) { $0.wait == .continuation }
            let issues = Recorder<String>()
            let swallowing = IssueHandlingTrait.compactMapIssues { issue in
                issues.record("\(issue) \(issue.comments.map(\.rawValue).joined())")
                pending.resumeAll()
                return nil
            }
            try await swallowing.provideScope(for: test, testCase: testCase) {
                try await DumpsTasksTrait(duration: .milliseconds(500)).provideScope(for: test, testCase: testCase) {
                    await task.value
                    ends.record("end")
                }
            }
            #expect(ends.events == ["end"])
            #expect(issues.events.count == 1)
            #expect(issues.events.first?.contains("has not ended after 0.5 seconds") == true, "\(issues.events)")
            #expect(issues.events.first?.contains("Pending.wait") == true, "\(issues.events)")
        }

        @Test("A dump without the list has the overview of the explainer after the reason")
        func limitation() {
            let dump = TaskDump(tasks: [], limitation: "No list.", overview: "queue \"images\"")
            #expect(dump.description == "Task dump: 0 tasks, 0 other threads. No list.\nqueue \"images\"")
            #expect(dump.causes(of: 1) == "No list.\nqueue \"images\"")
        }

        @Test("A task that waits for the actor of the dump names the task that takes the dump")
        func callersActor() async throws {
            TaskDump.begin()
            let name = unique()
            let task = Task { @MainActor in
                let waiting = Task(name: name) {}
                let dump = TaskDump.capture()
                return (dump, waiting)
            }
            let (dump, waiting) = await task.value
            await waiting.value
            let entry = try #require(dump.tasks.first { $0.name == name })
            guard case .actor("MainActor", _, let holder?) = entry.wait else {
                Issue.record("\(entry.wait)")
                return
            }
            #expect(dump.tasks.first { $0.number == holder }?.isCaller == true)
        }

        @Test("A test that ends in time has no issue")
        func noDump() async throws {
            let (test, testCase) = (try #require(Test.current), Test.Case.current)
            try await DumpsTasksTrait(duration: .seconds(60)).provideScope(for: test, testCase: testCase) {
                await Task.yield()
            }
        }

        @Test("A schedule under which the body waits forever fails with the function that waits")
        func stuckSchedule() throws {
            let error = #expect(throws: ScheduleFailure.self) {
                try Schedules(10).run {
                    let pending = Pending()
                    let task = Task { await pending.wait() }
                    await task.value
                }
            }
            #expect(error?.description.contains("Pending.wait") == true, "\(error?.description ?? "")")
            #expect(error?.description.contains("holds up 1 other") == true)
        }

        @Test("A task that an actor's function creates keeps its name and its line in a failing schedule")
        func actorsTask() throws {
            actor Creator {
                func create(_ pending: Pending) -> Task<Void, Never> {
                    Task(name: "from the actor") { await self.wait(pending) }
                }
                func wait(_ pending: Pending) async { await pending.wait() }
            }
            let error = #expect(throws: ScheduleFailure.self) {
                try Schedules(10).run {
                    let (creator, pending) = (Creator(), Pending())
                    await creator.create(pending).value
                }
            }
            #expect(
                error?.steps.contains { $0.contains("“from the actor” (TaskDumpTests.swift:") } == true,
                "\(error?.description ?? "")")
        }
    }
#endif
