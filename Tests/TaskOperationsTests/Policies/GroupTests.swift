import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Operations that consist of others", .inTurns, .endsInTime)
struct GroupTests {
    @Test("a group is finished when all within it are, those included that were added while it ran", .schedules(50))
    func finished() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let order = Recorder<String>()
        let group = queue.addGroup(name: "group") { group in
            let first = group.addOperation { 1 }
            group.addOperation(after: first) { value in
                order.record("added")
                group.addOperation(dependencies: []) {
                    await Task.yield()
                    order.record("late \(value)")
                }
            }
            return "value"
        }
        let dependent = queue.addOperation(dependencies: [group]) { order.record("dependent") }
        #expect(try await group.value == "value")
        try await dependent.value
        #expect(order.events == ["added", "late 1", "dependent"])
    }

    @Test("A group takes one permit of its queue, and has its own width", .schedules(50))
    func widths() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (inside, outside) = (ConcurrencyMeter(), ConcurrencyMeter())
        let group = queue.addGroup(maxConcurrentOperationCount: 3) { group in
            outside.enter()
            for _ in 0..<20 { group.addOperation { await inside.measure { await Task.yield() } } }
            group.addOperation { outside.leave() }
        }
        queue.addOperation { await outside.measure {} }
        try await group.value
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(inside.most <= 3)
        #expect(inside.total == 20)
        #expect(outside.most == 1)
    }

    @Test("the first failure cancels the rest, and only it is the outcome", .schedules(100))
    func failFast() async throws {
        struct Echo: Error {}
        let queue = TaskOperationQueue()
        let (gate, runs) = (Gate(), Recorder<String>())
        let group = queue.addGroup(maxConcurrentOperationCount: 2) { group in
            group.addOperation {
                await withTaskCancellationHandler {
                    await gate.pass()
                } onCancel: {
                    gate.open()
                }
                if Task.isCancelled { throw Echo() }
            }
            let failing = group.addOperation { throw WorkFailed(number: 1) }
            group.addOperation(after: failing) { runs.record("dependent") }
            for _ in 0..<5 { group.addOperation(dependencies: [failing]) { runs.record("never") } }
            _ = await failing.result
            let late = group.addOperation { runs.record("late") }
            await #expect(throws: CancellationError.self) { try await late.value }
        }
        await #expect(throws: WorkFailed(number: 1)) { try await group.value }
        #expect(runs.events.isEmpty)
        #expect(!group.isCancelled)
    }

    @Test("all failures are kept if that is wanted, in their order", .schedules(50))
    func collectAll() async throws {
        let queue = TaskOperationQueue()
        let runs = ConcurrencyMeter()
        let group = queue.addGroup(maxConcurrentOperationCount: 1, failures: .collect) { group in
            for number in 0..<5 {
                group.addOperation(name: "\(number)") {
                    runs.enter()
                    if number % 2 == 1 { throw WorkFailed(number: number) }
                }
            }
        }
        let failures = await #expect(throws: OperationFailures.self) { try await group.value }
        #expect(failures?.failures.map(\.operation.name) == ["1", "3"])
        #expect(failures?.failures.map { $0.error as? WorkFailed } == [WorkFailed(number: 1), WorkFailed(number: 3)])
        #expect(runs.total == 5)
        #expect(failures.map { "\($0)".contains("2 operations failed: \"1\": WorkFailed") } == true)
    }

    @Test("cancelling the group cancels all within it, and the echo of that is not its error", .schedules(100))
    func cancellation() async throws {
        struct Echo: Error {}
        for policy in [FailurePolicy.cancelRest, .collect] {
            let queue = TaskOperationQueue()
            let (gate, runs) = (Gate(), ConcurrencyMeter())
            let group = queue.addGroup(maxConcurrentOperationCount: 1, failures: policy) { group in
                group.addOperation {
                    await withTaskCancellationHandler {
                        await gate.pass()
                    } onCancel: {
                        gate.open()
                    }
                    throw Echo()
                }
                for _ in 0..<5 { group.addOperation { runs.enter() } }
            }
            await gate.waitForArrivals(1)
            group.cancel()
            await #expect(throws: CancellationError.self) { try await group.value }
            #expect(runs.total == 0)
        }
    }

    @Test("an operation of the group that is cancelled alone is no failure, one whose time is over is one")
    func cancelledAlone() async throws {
        let (queue, clock, gate) = (TaskOperationQueue(), ManualClock(), Gate())
        let group = queue.addGroup { group in
            group.addOperation {}.cancel()
            let operation = TaskOperation(name: "slow") {
                await gate.pass()
                try Task.checkCancellation()
            }
            try operation.addOptions([.timeout(.seconds(1)), .clock(clock)])
            try group.addOperation(operation)
            await gate.waitForArrivals(1)
            await until { clock.sleeperCount == 1 }
            clock.advance(by: .seconds(1))
            await until { operation.isCancelled }
            gate.open()
        }
        await #expect(throws: TaskOperationError.self) { try await group.value }
        let cancelled = queue.addGroup { group in
            group.addOperation {}.cancel()
            return 5
        }
        #expect(try await cancelled.value == 5)
    }

    @Test("a body that throws cancels the other operations", .schedules(50))
    func throwingBody() async throws {
        let queue = TaskOperationQueue()
        let runs = ConcurrencyMeter()
        let group = queue.addGroup { group in
            group.isSuspended = true
            for _ in 0..<5 { group.addOperation { runs.enter() } }
            throw WorkFailed(number: 2)
        }
        await #expect(throws: WorkFailed(number: 2)) { try await group.value }
        #expect(runs.total == 0)
    }

    @Test("suspending the queue or the group suspends all nested operations", .schedules(50))
    func suspension() async throws {
        let queue = TaskOperationQueue()
        let (order, gate) = (Recorder<String>(), Gate())
        let group = queue.addGroup { group in
            group.addGroup { inner in
                let first = inner.addOperation { await gate.pass() }
                inner.addOperation(dependencies: [first]) { order.record("second") }
            }
            group.addOperation(dependencies: []) { await gate.pass() }
        }
        await gate.waitForArrivals(2)
        queue.isSuspended = true
        gate.open()
        await untilOthersWait()
        order.record("resumed")
        queue.isSuspended = false
        try await group.value
        #expect(order.events == ["resumed", "second"])

        let own = queue.addGroup { group in
            group.isSuspended = true
            #expect(group.isSuspended)
            group.addOperation { order.record("own") }
            await Task.yield()
            queue.isSuspended = true
            queue.isSuspended = false
            #expect(group.isSuspended)
            order.record("resumed")
            group.isSuspended = false
        }
        try await own.value
        #expect(order.events == ["resumed", "second", "resumed", "own"])
    }

    @Test("A group with a suspended configuration begins suspended", .schedules(50))
    func beginsSuspended() async throws {
        let queue = TaskOperationQueue()
        let order = Recorder<String>()
        let group = queue.addGroup([], .init(isSuspended: true)) { group in
            #expect(group.isSuspended)
            group.addOperation { order.record("ran") }
            await untilOthersWait()
            queue.isSuspended = true
            queue.isSuspended = false
            await untilOthersWait()
            order.record("resumed")
            group.isSuspended = false
        }
        try await group.value
        #expect(order.events == ["resumed", "ran"])
    }

    @Test("a group within a suspended queue finishes after the queue is released", .schedules(50))
    func releasedQueue() async throws {
        let (gate, order) = (Gate(), Recorder<String>())
        let group: TaskOperation<Void>
        do {
            let queue = TaskOperationQueue()
            group = queue.addGroup { group in
                await gate.pass()
                group.addOperation { order.record("ran") }
            }
            await gate.waitForArrivals(1)
            queue.isSuspended = true
        }
        gate.open()
        try await group.value
        #expect(order.events == ["ran"])
    }

    @Test("a waiter of the group raises its operations, and new operations have its priority", .schedules(20))
    func priorities() async throws {
        let queue = TaskOperationQueue()
        let gate = Gate()
        let pending = Lock<AnyTaskOperation?>(nil)
        let group = queue.addGroup(.priority(.low), maxConcurrentOperationCount: 1) { group in
            group.addOperation { await gate.pass() }
            let operation = group.addOperation {}
            pending.withLock { $0 = operation }
        }
        await gate.waitForArrivals(1)
        let operation = pending.withLock { $0.take()! }
        #expect(operation.priority == .low)
        #expect(operation.effectivePriority == .low)
        queue.addOperation(priority: .high, dependencies: [group]) {}
        #expect(operation.effectivePriority == .high)
        gate.open()
        try await group.value
    }

    @Test("waiting for the group within it is refused by name, and for its queue's own work is not", .schedules(50))
    func waiting() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let holder = Lock<TaskOperation<Void>?>(nil)
        let gate = Gate()
        let group = queue.addGroup(name: "group") { group in
            _ = group.addOperation(name: "inner") {
                await gate.pass()
                try await holder.withLock { $0 }!.value
            }
        }
        holder.withLock { $0 = group }
        gate.open()
        let error = await #expect(throws: TaskOperationError.self) { try await group.value }
        if case .waitCycle = error {} else { Issue.record("\(String(describing: error))") }
        _ = holder.withLock { $0.take() }
        let other = queue.addGroup { group in
            _ = group.addOperation { try await queue.addOperation { 5 }.value }
        }
        try await other.value
    }

    @Test(
        "a group has the executor and the task locals of its queue, and refuses operations after its end",
        .schedules(20))
    func surroundings() async throws {
        enum Request { @TaskLocal static var id = 0 }
        let queue = TaskOperationQueue(.init(taskLocals: [InheritedTaskLocal(Request.$id)]))
        let seen = Recorder<Int>()
        let kept = Lock<TaskOperationGroup?>(nil)
        let group = Request.$id.withValue(7) {
            queue.addGroup(name: "group") { group in
                group.addOperation { seen.record(Request.id) }
                kept.withLock { $0 = group }
            }
        }
        try await group.value
        #expect(seen.events == [7])
        let late = kept.withLock { $0 }!.addOperation(name: "late") {}
        #expect(late.refusal?.queueShutDown == "late")
    }

    @Test("groups within groups, failing and cancelled at random, leave no permit behind", .schedules(15))
    func storm() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let meter = ConcurrencyMeter()
        let groups = (0..<20).map { number in
            queue.addGroup(
                maxConcurrentOperationCount: 1 + number % 3, failures: number % 2 == 0 ? .cancelRest : .collect
            ) { group in
                await meter.measure { await Task.yield() }
                for child in 0..<5 {
                    group.addOperation {
                        await Task.yield()
                        if number % 4 == 0, child == 3 { throw WorkFailed(number: number) }
                        group.addGroup { inner in inner.addOperation { await Task.yield() } }
                    }
                }
            }
        }
        for (number, group) in groups.enumerated() where number % 5 == 1 { group.cancel() }
        for (number, group) in groups.enumerated() {
            switch await group.result {
            case .success: #expect(number % 4 != 0)
            case .failure(is CancellationError): #expect(number % 5 == 1)
            case .failure(let error as WorkFailed): #expect(error.number == number)
            case .failure(let error): Issue.record(error)
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        let together = Gate()
        for _ in 0..<2 { queue.addOperation { await together.pass() } }
        await together.waitForArrivals(2)
        together.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }
}
