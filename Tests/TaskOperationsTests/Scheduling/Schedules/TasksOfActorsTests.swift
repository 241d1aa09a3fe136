import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Tasks that begin on an actor", .prompt, .endsInTime)
struct TasksOfActorsTests {
    private actor Log {
        private(set) var entries: [String] = []

        func add(_ entry: String) { entries.append(entry) }

        @discardableResult
        func start(_ names: String..., priority: TaskPriority? = nil) -> [Task<Void, Never>] {
            entries.append("start")
            return names.map { name in Task(priority: priority) { add(name) } }
        }

        func startAndLeave() async {
            start("first", "second")
            await Task.detached {}.value
            entries.append("return")
        }

        func startCancelled() -> Task<Bool, Never> {
            let task = Task {
                add("task")
                return Task.isCancelled
            }
            task.cancel()
            return task
        }
    }

    @Test("A task begins before or after a call that has arrived earlier", arguments: 0..<4)
    func earlierCall(_ strategy: Int) throws {
        let strategy: ScheduleStrategy = [.mixed, .priorities(), .uniform, .exhaustive(delays: 3)][strategy]
        for order in [["start", "task", "call"], ["start", "call", "task"], ["call", "start", "task"]] {
            let body: @Sendable () async throws -> Void = {
                let log = Log()
                async let call: Void = log.add("call")
                for task in await log.start("task") { await task.value }
                await call
                if await log.entries == order { throw Fault() }
            }
            let found = try #require(failure(of: Schedules(1_000, strategy), body), "\(order)")
            #expect(failure(of: Schedules(only: found.schedule), body)?.steps == found.steps)
        }
    }

    @Test("Tasks of one actor keep their order, and precede the later calls of the task that creates them")
    func order() throws {
        try Schedules(10_000, .uniform).run {
            let log = Log()
            async let other: Void = log.add("other")
            await log.startAndLeave()
            await other
            let entries = await log.entries.filter { $0 != "other" }
            if entries != ["start", "first", "second", "return"] { throw Fault() }
        }
    }

    @Test("A call with a higher priority can precede a task that was created earlier")
    func priority() throws {
        let found = failure(of: Schedules(1_000)) {
            let log = Log()
            await log.start("task", priority: .background)
            await Task(priority: .high) { await log.add("call") }.value
            if await log.entries == ["start", "call"] { throw Fault() }
        }
        #expect(found != nil)
    }

    @Test("A task of an actor can be cancelled before it begins")
    func cancellation() throws {
        let summary = try Schedules(1_000).run {
            if await !Log().startCancelled().value { throw Fault() }
        }
        #expect(summary.notes.isEmpty)
    }
}
