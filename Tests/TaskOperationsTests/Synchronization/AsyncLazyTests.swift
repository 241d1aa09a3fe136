import TaskOperations
import TaskOperationsTesting
import Testing

private struct Refusal: Error, Equatable {
    var attempt = 1
}

@Suite("Values computed once")
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

    @Test("an error goes to all that await it, and the next one who asks tries again")
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
        let once = AsyncLazy<Int>(failurePolicy: .kept) {
            runs.enter()
            throw Refusal(attempt: runs.total)
        }
        for _ in 0..<3 { await #expect(throws: Refusal(attempt: 1)) { try await once.value } }
        #expect(runs.total == 1)
    }

    @Test("a cancelled caller goes on at once, and the computation goes on for the others")
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

    @Test("the computation goes on where all callers are cancelled, and a cancelled task gets a value that is there")
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

    @Test("the computation has the priority of who asks first, and rises to that of a more urgent one")
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

    @Test("the computation rises with a caller that is escalated while it waits")
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

    @Test("a computation that awaits its own value is refused, directly and through another one")
    func awaitsItself() async {
        final class Pair: Sendable {
            let first = Recorder<AsyncLazy<Int>>()

            var own: AsyncLazy<Int> { first.events[0] }
        }
        let pair = Pair()
        let second = AsyncLazy { try await pair.own.value }
        pair.first.record(AsyncLazy { try await second.value })
        await #expect(throws: AsyncLazyError.awaitsItself) { try await pair.own.value }

        let alone = Pair()
        alone.first.record(AsyncLazy { try await alone.own.value })
        await #expect(throws: AsyncLazyError.awaitsItself) { try await alone.own.value }
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
