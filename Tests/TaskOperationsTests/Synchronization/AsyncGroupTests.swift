import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Async groups", .inTurns)
struct AsyncGroupTests {
    @Test("an empty group is not waited for")
    func empty() async throws {
        await AsyncGroup().wait()
        try await AsyncGroup().wait(timeout: .seconds(3600))
        try await AsyncGroup().waitUnlessCancelled()
    }

    @Test("the wait lasts until the group is empty, also if it is entered again meanwhile")
    func wait() async {
        let group = AsyncGroup()
        let order = Recorder<String>()
        group.enter()
        let wait = Task.immediate {
            await group.wait()
            order.record("empty")
        }
        group.enter()
        group.leave()
        order.record("left")
        #expect(group.count == 1)
        group.leave()
        await wait.value
        #expect(order.events == ["left", "empty"])
    }

    @Test("a cancelled task continues to wait")
    func cancelled() async {
        let group = AsyncGroup()
        group.enter()
        let wait = Task.immediate {
            await group.wait()
            return group.count
        }
        wait.cancel()
        group.leave()
        #expect(await wait.value == 0)
    }

    @Test("a wait of the other form ends when its task is cancelled, and the group is not changed")
    func cancelledWait() async throws {
        let group = AsyncGroup()
        let clock = ManualClock()
        group.enter()
        let waits = [
            Task.immediate { try await group.waitUnlessCancelled() },
            Task.immediate { try await group.wait(timeout: .seconds(10), clock: clock) },
            Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await group.waitUnlessCancelled()
            },
        ]
        let other = Task.immediate { try await group.waitUnlessCancelled() }
        for wait in waits {
            wait.cancel()
            await #expect(throws: CancellationError.self) { try await wait.value }
        }
        await until { clock.sleeperCount == 0 }
        #expect(group.count == 1)
        group.leave()
        try await other.value
    }

    @Test("a wait ends when its time is up, by the clock that it was given")
    func timeout() async throws {
        let group = AsyncGroup()
        let clock = ManualClock()
        group.enter()
        let wait = Task.immediate { try await group.wait(timeout: .seconds(10), clock: clock) }
        clock.advance(by: .seconds(9))
        let second = Task.immediate { try await group.wait(timeout: .seconds(10), clock: clock) }
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: TaskOperationError.self) { try await wait.value }
        #expect("\(error!)".hasPrefix("Timed out after 10.0 seconds waiting for an AsyncGroup to be empty. "))
        group.leave()
        try await second.value
        await until { clock.sleeperCount == 0 }
    }

    @Test("a group can be used again")
    func again() async {
        let group = AsyncGroup()
        for _ in 0..<3 {
            group.enter()
            let wait = Task.immediate { await group.wait() }
            group.leave()
            await wait.value
        }
        #expect(group.count == 0)
    }

    @Test("notified work runs once for each notification, in a task, after the group is empty")
    func notify() async {
        let group = AsyncGroup()
        let order = Recorder<String>()
        let done = AsyncGroup()
        done.enter()
        done.enter()
        group.enter()
        group.notify {
            order.record("first")
            done.leave()
        }
        order.record("before")
        group.leave()
        group.notify { @MainActor in
            MainActor.assertIsolated()
            order.record("second")
            done.leave()
        }
        await done.wait()
        #expect(order.events.first == "before")
        #expect(order.events.sorted() == ["before", "first", "second"])
    }

    @Test("an operation enters a group and leaves it at its end")
    func operation() async throws {
        let group = AsyncGroup()
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operations = (0..<3).map { _ in TaskOperation {} }
        for operation in operations { group.enter(for: operation) }
        #expect(group.count == 3)
        try queue.addOperations(operations)
        queue.isSuspended = false
        await group.wait()
        #expect(operations.allSatisfy { $0.isFinished })
    }

    @Test(
        "A body at width 1 lends its permit while it awaits a group with operations of its own queue", .schedules(20),
        arguments: 0..<4)
    func ownQueue(form: Int) async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (other, clock) = (TaskOperationQueue(), ManualClock())
        let body = queue.addOperation {
            let (group, part) = (AsyncGroup(), TaskOperation { 1 })
            if form < 3 { group.enter(for: part) } else { group.enter() }
            try queue.addOperation(part)
            switch form {
            case 0: await group.wait()
            case 1: try await group.waitUnlessCancelled()
            case 2: try await group.wait(timeout: .seconds(1_000_000), clock: clock)
            default:
                // The group learns of the operation only during the wait.
                other.addOperation {
                    group.enter(for: part)
                    group.leave()
                }
                await group.wait()
            }
            return part.isFinished
        }
        #expect(await eventually { body.isFinished })
        #expect(body.outcome.map { (try? $0.get()) == true } == true)
        queue.cancelAllOperations()
    }

    @Test("A group does not keep an operation that is never added")
    func released() {
        weak let operation: TaskOperation<Void>?
        let group = AsyncGroup()
        do {
            let made = TaskOperation {}
            group.enter(for: made)
            operation = made
        }
        #expect(operation == nil)
        #expect(group.count == 1)
    }

    @Test("A body keeps its permit while it awaits a group of operations that do not need the permit", .schedules(20))
    func keptPermit() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let other = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let (gate, order) = (Gate(), Recorder<String>())
        let body = queue.addOperation {
            let group = AsyncGroup()
            for _ in 0..<3 { group.enter(for: other.addOperation { await gate.pass() }) }
            await group.wait()
            order.record("body")
        }
        let next = queue.addOperation { order.record("next") }
        await gate.waitForArrivals(3)
        await untilOthersWait()
        gate.open()
        try await body.value
        try await next.value
        #expect(order.events == ["body", "next"])
    }

    @Test(
        "A wait for a group that contains the waiting body is refused by name, where the wait can throw",
        .schedules(20))
    func ownBody() async throws {
        let queue = TaskOperationQueue()
        let (group, clock) = (AsyncGroup(), ManualClock())
        let body = TaskOperation(name: "body") { try await group.wait(timeout: .seconds(1_000_000), clock: clock) }
        group.enter(for: body)
        try queue.addOperation(body)
        #expect(await eventually { body.isFinished })
        #expect(body.refusal?.waitCycle?.contains("body") == true)
        queue.cancelAllOperations()
    }

    @Test("The operations of a group inherit the priority of a body that awaits the group", .schedules(20))
    func inheritance() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let part = queue.addOperation(priority: .low) {}
        let body = TaskOperationQueue().addOperation(priority: .high) {
            let group = AsyncGroup()
            group.enter(for: part)
            await group.wait()
        }
        #expect(await eventually { part.effectivePriority == .high })
        queue.isSuspended = false
        try await body.value
    }

    @Test("entering and leaving from many tasks balances out")
    func storm() async {
        let group = AsyncGroup()
        await concurrentPerform(over: 0..<1000, width: 8) { _ in
            group.enter()
            await Task.yield()
            group.leave()
        }
        #expect(group.count == 0)
        await group.wait()
    }

    @Test("leaving more often than entering stops the process with a message", .prompt)
    func overLeave() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let group = AsyncGroup()
            group.enter()
            group.leave()
            group.leave()
        }
        #expect(result.errorText.contains("leave() was called more often than enter()"))
    }
}
