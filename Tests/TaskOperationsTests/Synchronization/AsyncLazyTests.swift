import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

private struct Refusal: Error, Equatable {
    var attempt = 1
}

@Suite("Values computed once", .inTurns)
struct AsyncLazyTests {
    @Test("the computation runs once for all that ask, during it and after it")
    func computedOnce() async throws {
        let runs = ConcurrencyMeter()
        let gate = Gate()
        let once = AsyncLazy {
            runs.enter()
            await gate.pass()
            return 5
        }
        #expect(runs.total == 0)
        #expect(once.valueIfComputed == nil)
        let asking = (0..<10).map { _ in Task.immediate { try await once.value } }
        await gate.waitForArrivals(1)
        #expect(once.valueIfComputed == nil)
        gate.open()
        for task in asking { #expect(try await task.value == 5) }
        #expect(try await once.value == 5)
        #expect(once.valueIfComputed == 5)
        #expect(runs.total == 1)
    }

    @Test("an error goes to all waiting tasks, and the next use computes again")
    func retried() async throws {
        let runs = ConcurrencyMeter()
        let gate = Gate()
        let once = AsyncLazy {
            runs.enter()
            await gate.pass()
            if runs.total < 3 { throw Refusal(attempt: runs.total) }
            return runs.total
        }
        let asking = (0..<3).map { _ in Task.immediate { try await once.value } }
        gate.open()
        for task in asking { await #expect(throws: Refusal(attempt: 1)) { try await task.value } }
        await #expect(throws: Refusal(attempt: 2)) { try await once.value }
        #expect(once.valueIfComputed == nil)
        #expect(try await once.value == 3)
        #expect(try await once.value == 3)
    }

    @Test("an error is kept where that is asked for")
    func kept() async {
        let runs = ConcurrencyMeter()
        let once = AsyncLazy<Int>(failurePolicy: .keep) {
            runs.enter()
            throw Refusal(attempt: runs.total)
        }
        for _ in 0..<3 { await #expect(throws: Refusal(attempt: 1)) { try await once.value } }
        #expect(runs.total == 1)
    }

    @Test("a cancelled caller continues at once, and the computation continues for the others")
    func oneCancelled() async throws {
        let gate = Gate()
        let once = AsyncLazy {
            await gate.pass()
            return !Task.isCancelled
        }
        let cancelled = Task.immediate { try await once.value }
        let other = Task.immediate { try await once.value }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        gate.open()
        #expect(try await other.value)
    }

    @Test("the computation continues after all callers are cancelled, and a cancelled task gets an existing value")
    func allCancelled() async throws {
        let gate = Gate()
        let runs = ConcurrencyMeter()
        let once = AsyncLazy {
            runs.enter()
            await gate.pass()
            return "value"
        }
        let cancelled = Task.immediate { try await once.value }
        await gate.waitForArrivals(1)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await once.value
        }
        await #expect(throws: CancellationError.self) { try await early.value }
        gate.open()
        #expect(try await once.value == "value")
        let late = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await once.value
        }
        #expect(try await late.value == "value")
        #expect(runs.total == 1)
    }

    @Test("the computation has the priority of its first caller, and then of a more urgent one")
    func escalation() async throws {
        let gate = Gate()
        let priorities = Recorder<TaskPriority>()
        let once = AsyncLazy {
            priorities.record(Task.currentPriority)
            await gate.pass()
            priorities.record(Task.currentPriority)
            return 1
        }
        let low = Task.detached(priority: .low) { try await once.value }
        await gate.waitForArrivals(1)
        let high = Task.immediateDetached(priority: .high) { try await once.value }
        gate.open()
        _ = try await (low.value, high.value)
        #expect(priorities.events == [.low, .high])
    }

    @Test("the priority of the computation increases with that of a waiting caller")
    func laterEscalation() async throws {
        let gate = Gate()
        let priorities = Recorder<TaskPriority>()
        let once = AsyncLazy {
            await gate.pass()
            priorities.record(Task.currentPriority)
            return 1
        }
        let low = Task.immediateDetached(priority: .low) { try await once.value }
        await gate.waitForArrivals(1)
        low.escalatePriority(to: .high)
        gate.open()
        _ = try await low.value
        #expect(priorities.events == [.high])
    }

    @Test("no escalation is lost, at any moment")
    func escalationRace() async throws {
        for _ in 0..<200 {
            let gate = Gate()
            let priority = Recorder<TaskPriority>()
            let lazy = AsyncLazy {
                await gate.pass()
                await until { Task.currentPriority >= .high }
                priority.record(Task.currentPriority)
            }
            let first = Task.detached(priority: .medium) { try await lazy.value }
            await gate.waitForArrivals(1)
            let second = Task.detached(priority: .medium) { try await lazy.value }
            second.escalatePriority(to: .high)
            gate.open()
            // Without the escalation, the computation would wait forever.
            try await second.value
            try await first.value
            #expect(priority.events == [.high])
        }
    }

    @Test("many tasks that race for the value get the same one")
    func race() async throws {
        for _ in 0..<50 {
            let runs = ConcurrencyMeter()
            let once = AsyncLazy {
                runs.enter()
                return runs.total
            }
            try await concurrentPerform(over: 0..<16, width: 16) { _ in
                let value = try await once.value
                #expect(value == 1)
            }
        }
    }
}

// MARK: - Cycles

/// Lazy values that can await each other, even those that are added later.
private final class Circle: Sendable {
    private let values = Recorder<AsyncLazy<Int>>()

    func add(_ name: String, _ compute: @escaping @Sendable (Circle) async throws -> Int) {
        values.record(AsyncLazy(name: name) { try await compute(self) })
    }

    subscript(number: Int) -> AsyncLazy<Int> { values.events[number] }
}

extension AsyncLazyTests {
    private func names(_ error: TaskOperationError?) -> [String?] {
        if case .waitCycle(let cycle)? = error { cycle.map(\.name) } else { [] }
    }

    @Test("a computation that awaits its own value is refused by name")
    func awaitsItself() async {
        let circle = Circle()
        circle.add("alone") { try await $0[0].value }
        let error = await #expect(throws: TaskOperationError.self) { try await circle[0].value }
        #expect(names(error) == ["alone", "alone"])
    }

    @Test("a computation that awaits its own value through another one is refused by name")
    func awaitsItselfThroughAnother() async {
        let circle = Circle()
        circle.add("a") { try await $0[1].value }
        circle.add("b") { try await $0[0].value }
        let error = await #expect(throws: TaskOperationError.self) { try await circle[0].value }
        // Both computations execute at the same time. The one that awaits the other last closes the cycle.
        #expect([["a", "b", "a"], ["b", "a", "b"]].contains(names(error)))
    }

    @Test("values that await each other are refused by name if each was begun from outside", arguments: [2, 3, 20])
    func circleBegunFromOutside(count: Int) async {
        for _ in 0..<20 {
            let circle = Circle()
            let gate = Gate()
            for number in 0..<count {
                circle.add("\(number)") { circle in
                    await gate.pass()
                    return try await circle[(number + 1) % count].value
                }
            }
            let tasks = (0..<count).map { number in Task.detached { try await circle[number].value } }
            await gate.waitForArrivals(count)
            gate.open()
            for task in tasks {
                let error = await #expect(throws: TaskOperationError.self) { try await task.value }
                #expect(names(error).count == count + 1)
            }
        }
    }

    @Test("a cycle through an operation is refused by name, and the value is computed when it is asked for again")
    func cycleThroughOperation() async throws {
        let queue = TaskOperationQueue()
        let operations = Recorder<TaskOperation<Int>>()
        let lazy = AsyncLazy(name: "lazy") { try await operations.events[0].value }
        let operation = TaskOperation(name: "operation") { () async throws -> Int in
            do {
                return try await lazy.value
            } catch TaskOperationError.waitCycle(let cycle) {
                return cycle.count
            }
        }
        operations.record(operation)
        let asking = Task.immediate { try await lazy.value }
        // Waits until the computation waits for the operation, which has not been added yet.
        await until { operation.record.withLock { $0.isWaitedFor } }
        try queue.addOperation(operation)
        #expect(try await operation.value == 3)
        #expect(try await asking.value == 3)
    }

    @Test("a body on a queue of width 1 awaits a value that needs the queue")
    func needsQueue() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let lazy = AsyncLazy { try await queue.run { 5 } }
        #expect(try await queue.run { try await lazy.value } == 5)
    }
}
