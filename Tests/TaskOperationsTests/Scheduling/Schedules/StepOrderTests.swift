import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Orders of steps", .prompt)
struct StepOrderTests {
    /// Keeps the order of its calls.
    private actor Log {
        private(set) var calls: [Int] = []

        func add(_ task: Int) { calls.append(task) }
    }

    /// Three tasks, each of which calls logs, or records itself outside of actors.
    private struct Program {
        /// For each task, the numbers of the logs; -1 for a record outside of actors, -2 for a yield.
        let calls: [[Int]]

        init(seed: UInt64) {
            var random = SeededGenerator(seed: seed)
            calls = (0..<3).map { _ in (0..<(1 + random.number(below: 3))).map { _ in random.number(below: 4) - 2 } }
        }

        /// The order of the calls of each log, and of the records outside of actors.
        func run() async -> [[Int]] {
            let (logs, outside) = ([Log(), Log()], Recorder<Int>())
            let tasks = calls.enumerated().map { number, calls in
                Task {
                    for call in calls {
                        switch call {
                        case -2: await Task.yield()
                        case -1: outside.record(number)
                        default: await logs[call].add(number)
                        }
                    }
                }
            }
            for task in tasks { await task.value }
            return [await logs[0].calls, await logs[1].calls, outside.events]
        }
    }

    /// Runs a program under schedules, and records its results.
    @discardableResult
    private func run(
        _ program: Program, _ schedules: Schedules, _ results: Recorder<[[Int]]>
    ) throws -> ScheduleSummary {
        try schedules.run { results.record(await program.run()) }
    }

    @Test("Schedules that an exhaustive strategy leaves out have no other results", arguments: 0..<12 as Range<UInt64>)
    func leftOut(seed: UInt64) throws {
        let program = Program(seed: seed)
        let (some, all) = (Recorder<[[Int]]>(), Recorder<[[Int]]>())
        let summary = try run(program, Schedules(10_000, .exhaustive(delays: 2)), some)
        #expect(summary.isComplete)
        try run(program, Schedules(only: "usual"), all)
        // A delay after the last step has no effect.
        for first in 0..<40 {
            try run(program, Schedules(only: "\(first)-"), all)
            for second in first..<40 { try run(program, Schedules(only: "\(first)-,\(second)-"), all) }
        }
        #expect(Set(some.events) == Set(all.events))
        #expect(try #require(summary.orderCount) >= Set(all.events).count)
    }

    @Test("The order of tasks that wait for the main actor is a part of the order")
    func mainActor() throws {
        let (some, all) = (Recorder<[Int]>(), Recorder<[Int]>())
        let body: @Sendable (Recorder<[Int]>) async -> Void = { results in
            let order = Recorder<Int>()
            let first = Task { @MainActor in order.record(0) }
            let tasks = [Log(), Log()].enumerated().map { number, log in
                Task {
                    await log.add(number)
                    await Task { @MainActor in order.record(number + 1) }.value
                }
            }
            await first.value
            for task in tasks { await task.value }
            results.record(order.events)
        }
        let summary = try Schedules(10_000, .exhaustive(delays: 3)).run { await body(some) }
        #expect(summary.isComplete)
        _ = try Schedules(2_000).run { await body(all) }
        #expect(Set(some.events) == Set(all.events))
    }

    @Test("An exhaustive strategy leaves out schedules of equal orders")
    func reduction() throws {
        let summary = try Schedules(10_000, .exhaustive(delays: 8)).run { try? await loseUpdate() }
        #expect(summary.isComplete)
        #expect(summary.orderCount == 10)
        // Without the reduction, 4 delays have 70 schedules.
        #expect(summary.count < 70)
        // 196 schedules without the reduction. States after the removal of the next job would lose an order.
        let group = try Schedules(10_000, .exhaustive(delays: 4)).run {
            let counter = Counter()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<3 {
                    group.addTask {
                        await counter.increment()
                        await counter.increment()
                    }
                }
            }
        }
        #expect(group.orderCount == 84)
        #expect(group.count < 196)
    }

    @Test("Steps on different actors have one order, and steps outside of actors have several")
    func independence() throws {
        let orders = try [false, true].map { isOutside in
            var schedules = Schedules(300)
            schedules.countsOrders = true
            return try schedules.run {
                let logs = [Log(), Log(), Log()]
                let tasks = logs.map { log in
                    Task { @concurrent in
                        await log.add(1)
                        if isOutside { await Task.yield() }
                    }
                }
                for task in tasks { await task.value }
            }.orderCount!
        }
        #expect(orders[0] < orders[1])
        #expect(try Schedules(10).run {}.orderCount == nil)
    }
}
