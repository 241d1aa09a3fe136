import Exploration
import Synchronization
import Testing

@Suite("Strategies", .serialized)
struct StrategyTests {
    /// Two threads of three steps each: 20 orders.
    private static let program = ExploredProgram("two threads of three steps") { schedule in
        for name in ["a", "b"] {
            schedule.thread(name) {
                let number = AtomicNumber()
                for _ in 0..<2 { number.value.add(1, ordering: .relaxed) }
            }
        }
        schedule.runToEnd()
    }

    private func explore(_ strategy: ExplorationStrategy, _ program: ExploredProgram = program) async
        -> ExplorationResult
    {
        await onOwnThread { program.explore(strategy) }
    }

    @Test("depth first, every order is run once; with a bound, those with few interruptions")
    func depthFirst() async {
        for (bound, count) in [(0, 2), (1, 6), (2, 14), (3, 18), (9, 20)] {
            let result = await explore(.exhaustive(preemptions: bound))
            #expect(result.scheduleCount == count && result.distinctCount == count && result.isComplete, "\(result)")
        }
        let limited = await explore(.exhaustive(preemptions: 9, limit: 7))
        #expect(limited.scheduleCount == 7 && !limited.isComplete)
    }

    @Test("seeds differ")
    func seeds() async {
        let uniform = await explore(.uniform(seeds: 0..<300))
        #expect(uniform.distinctCount >= 18, "\(uniform)")
        let priorities = await explore(.priorities(seeds: 0..<300, depth: 3))
        #expect(priorities.distinctCount >= 10, "\(priorities)")
    }

    @Test("a deadlock is reported with the locks that threads hold and wait for, and its choices repeat it")
    func deadlock() async throws {
        let program = ExploredProgram("two locks") { schedule in
            let (one, two) = (ControlledLock(1), ControlledLock(2))
            schedule.thread("a") { one.withLock { _ in two.withLock { _ in } } }
            schedule.thread("b") { two.withLock { _ in one.withLock { _ in } } }
            schedule.runToEnd()
        }
        let failure = try #require(await explore(.uniform(seeds: 0..<100), program).failure)
        let message = failure.messages.joined()
        #expect(message.contains("No thread can run"))
        #expect(message.contains("a [1] takes lock 1 (StrategyTests.swift:"))
        #expect(message.contains("holds lock 0 (StrategyTests.swift:"))
        #expect(failure.choices.description.count < 12, "\(failure.choices)")
        let choices = try #require(Choices(failure.choices.description))
        #expect(
            await explore(.replay(choices), program).failure?.messages.first?.hasPrefix("No thread can run") == true)
    }

    @Test("a failing schedule is made smaller within a bound of steps")
    func shrinkingBound() async throws {
        let runs = Holder(0)
        var program = ExploredProgram("long failing schedule") { schedule in
            runs.value! += 1
            let number = AtomicNumber()
            for name in ["a", "b"] {
                schedule.thread(name) { for _ in 0..<25_000 { number.value.add(1, ordering: .relaxed) } }
            }
            schedule.runToEnd()
            schedule.fail("always")
        }
        program.stepLimit = 100_000
        #expect(await explore(.uniform(seeds: 0..<1), program).failure != nil)
        // The maximum is a warm-up, the failing schedule, a million steps of smaller schedules, and a recorded last
        // run.
        #expect(runs.value! <= 3 + 1_000_000 / 50_000 + 1)
    }

    @Test("a lock that a failed schedule held is free in the next one")
    func lockOfFailedSchedule() async throws {
        let lock = ControlledLock(0)
        let program = ExploredProgram("lock that outlives the schedule") { schedule in
            schedule.thread("holder") { lock.withLock { _ in schedule.runToEnd() } }
            schedule.thread("taker") { lock.withLock { _ in } }
        }
        let failed = try #require(await explore(.replay(Choices("")!), program).failure)
        #expect(failed.messages[0].hasPrefix("No thread can run"))
        let other = ExploredProgram("the same lock") { _ in lock.withLock { _ in } }
        #expect(await explore(.replay(Choices("")!), other).failure == nil)
    }

    @Test("a trap fails the schedule, and the process continues")
    func trap() async throws {
        let program = ExploredProgram("trap") { schedule in
            let number = AtomicNumber()
            for name in ["a", "b"] {
                schedule.thread(name) {
                    let seen = number.value.load(ordering: .relaxed)
                    number.value.store(seen + 1, ordering: .relaxed)
                }
            }
            schedule.runToEnd()
            precondition(number.value.load(ordering: .relaxed) == 2, "an addition was lost")
        }
        let failure = try #require(await explore(.exhaustive(preemptions: 1), program).failure)
        #expect(failure.messages[0].hasPrefix("The process would end here"))
    }

    @Test("a cancellation handler is interrupted, and its task waits for it where the runtime makes the task wait")
    func handlers() async throws {
        let ends = Holder(Set<String>())
        let program = ExploredProgram("lock in a cancellation handler") { schedule in
            let (lock, order) = (ControlledLock(0), Holder<[String]>([]))
            schedule.thread("canceller") {
                let task = Task {
                    await withTaskCancellationHandler {
                        lock.withLock { _ in schedule.pause() }
                        order.value!.append("body")
                    } onCancel: {
                        lock.withLock { _ in schedule.pause() }
                        order.value!.append("handler")
                    }
                    order.value!.append("end")
                }
                schedule.pause()
                task.cancel()
            }
            schedule.runToEnd()
            ends.value!.insert(order.value!.joined(separator: " "))
        }
        let result = await explore(.exhaustive(preemptions: 2), program)
        #expect(result.failure == nil && result.isComplete, "\(result)")
        #expect(ends.value == ["body handler end", "handler body end", "body end"])
    }

    @Test("a program that does not repeat its steps is noticed")
    func divergence() async throws {
        let runs = Holder(0)
        let program = ExploredProgram("divergence") { schedule in
            runs.value! += 1
            let number = AtomicNumber()
            for _ in 0..<runs.value! % 3 { number.value.add(1, ordering: .relaxed) }
        }
        let result = await explore(.uniform(seeds: 0..<100), program)
        #expect(result.failure?.messages.first?.hasPrefix("The schedule is not repeatable") == true)
    }
}
