import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Operations of which there is one for each key", .inTurns, .endsInTime)
struct KeyedOperationsTests {
    @Test("all that ask for a key share one operation, and each gets its value", .schedules(50))
    func shared() async throws {
        let queue = TaskOperationQueue()
        let (keyed, gate) = (KeyedOperations<String, Int>(queue: queue), Gate())
        let requests = (0..<10).map { number in
            keyed.request("key") {
                await gate.pass()
                return number
            }
        }
        let other = keyed.request("other") { 100 }
        #expect(try await other.value == 100)
        #expect(keyed.count == 1)
        #expect(keyed["key"] === requests[3].operation)
        gate.open()
        for request in requests { #expect(try await request.value == 0) }
        #expect(gate.arrivals == 1)
        #expect(keyed.count == 0)
        #expect(try await keyed.value(for: "key") { 7 } == 7)
    }

    @Test("leaving ends one's own wait at once, and the operation with the last one", .schedules(50))
    func leaving() async throws {
        let queue = TaskOperationQueue()
        let (keyed, gate) = (KeyedOperations<String, Int>(queue: queue), Gate())
        let requests = (0..<3).map { _ in
            keyed.request("key") {
                await gate.pass()
                try Task.checkCancellation()
                return 1
            }
        }
        await gate.waitForArrivals(1)
        async let first = requests[0].result
        await untilOthersWait()
        requests[0].cancel()
        requests[0].cancel()
        let left = await first
        #expect(throws: CancellationError.self) { try left.get() }
        await #expect(throws: CancellationError.self) { try await requests[0].value }
        #expect(!requests[1].operation.isCancelled)
        requests[1].cancel()
        #expect(keyed.count == 1)
        requests[2].cancel()
        #expect(requests[2].operation.isCancelled)
        #expect(keyed.count == 0)
        // The cancelled body has not ended yet.
        let again = keyed.request("key") { 2 }
        #expect(again.operation !== requests[2].operation)
        #expect(try await again.value == 2)
        gate.open()
        for request in requests { await #expect(throws: CancellationError.self) { try await request.value } }
        again.cancel()
        #expect(try await again.value == 2)
        #expect(!again.isCancelled)
    }

    @Test("tasks that await a cancelled request resume in the order in which they began to wait")
    func orderOfLeaving() async throws {
        let (queue, executor) = (TaskOperationQueue(.init(isSuspended: true)), ThreadExecutor())
        let keyed = KeyedOperations<String, Int>(queue: queue)
        let order = Recorder<Int>()
        let request = keyed.request("key") { 1 }
        let waiting = (0..<20).map { number in
            Task(executorPreference: executor) {
                _ = await request.result
                order.record(number)
            }
        }
        // The runtime enqueues a task again at each call of a function that is not isolated to the executor. The thread
        // runs its jobs in order, so one round trip lets each task pass one such call. A wait begins after fewer than
        // fifty.
        for _ in 0..<50 { try await executor.run {} }
        try await executor.run { request.cancel() }
        // The test does not await the tasks here: awaiting may escalate a task, which would change the executor's
        // order.
        #expect(await eventually { order.events.count == 20 })
        #expect(order.events == Array(0..<20))
        for task in waiting { await task.value }
        queue.isSuspended = false
    }

    @Test("the priority is the highest of those that still want it, and changes with them", .schedules(20))
    func priorities() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let low = keyed.request(1, .priority(.low)) { 1 }
        #expect(low.operation.priority == .low)
        let high = keyed.request(1, .priority(.high)) { 1 }
        let medium = keyed.request(1, .priority(.medium)) { 1 }
        #expect(low.operation.priority == .high)
        high.cancel()
        #expect(low.operation.priority == .medium)
        low.priority = .high
        #expect(low.operation.priority == .high)
        low.priority = .background
        #expect(low.operation.priority == .medium)
        medium.cancel()
        medium.priority = .high
        #expect(low.operation.priority == .background)
        queue.isSuspended = false
        #expect(try await low.value == 1)
    }

    @Test("cancelling a task ends its wait, and with `value(for:)` its request", .schedules(50))
    func cancelledTasks() async throws {
        let queue = TaskOperationQueue()
        let (keyed, gate) = (KeyedOperations<Int, Int>(queue: queue), Gate())
        let request = keyed.request(1) {
            await gate.pass()
            return 1
        }
        await withThrowingTaskGroup { group in
            group.addTask { _ = try await request.value }
            group.addTask { _ = try await keyed.value(for: 1) { 1 } }
            await untilOthersWait()
            group.cancelAll()
            while let result = await group.nextResult() {
                #expect(throws: CancellationError.self) { try result.get() }
            }
        }
        #expect(!request.operation.isCancelled)
        gate.open()
        #expect(try await request.value == 1)
    }

    @Test("an operation that was cancelled by its queue is not joined", .schedules(50))
    func cancelledByTheQueue() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let first = keyed.request(1) { 1 }
        queue.cancelAllOperations()
        let second = keyed.request(1) { 2 }
        queue.isSuspended = false
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await second.value == 2)
        await until { keyed.count == 0 }
        queue.shutDown()
        let late = keyed.request(1) { 3 }
        await #expect(throws: TaskOperationError.self) { try await late.value }
        await until { keyed.count == 0 }
    }

    @Test("a failure goes to all, and is not kept", .schedules(20))
    func failure() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let requests = (0..<3).map { _ in keyed.request(1) { throw WorkFailed() } }
        queue.isSuspended = false
        for request in requests { await #expect(throws: WorkFailed()) { try await request.value } }
        #expect(try await keyed.request(1) { 1 }.value == 1)
    }

    @Test("a body that asks for its own key and awaits it is refused by name", .schedules(20))
    func ownKey() async throws {
        let queue = TaskOperationQueue()
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let request = keyed.request(1, name: "one") { try await keyed.request(1) { 1 }.value }
        let error = await #expect(throws: TaskOperationError.self) { try await request.value }
        if case .waitCycle(let labels) = error {
            #expect(labels.map(\.name) == ["one", "one"])
        } else {
            Issue.record("\(String(describing: error))")
        }
        #expect(keyed.count == 0)
    }

    @Test("an operation with policies of its own is made once for all")
    func ownOperation() async throws {
        let (clock, gate) = (ManualClock(), Gate())
        let keyed = KeyedOperations<Int, Int>(queue: TaskOperationQueue())
        let requests = (0..<2).map { _ in
            keyed.request(1, priority: .high) {
                let operation = TaskOperation<Int> {
                    await gate.pass()
                    try Task.checkCancellation()
                    return 1
                }
                try? operation.addOptions([.timeout(.seconds(1)), .clock(clock)])
                return operation
            }
        }
        await gate.waitForArrivals(1)
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        await until { requests[0].operation.isCancelled }
        gate.open()
        for request in requests {
            await #expect(throws: TaskOperationError.self) { try await request.value }
            #expect(request.operation.priority == .high)
        }
    }

    @Test("an operation of another queue is refused, and continues there", .schedules(10))
    func alreadyAdded() async throws {
        let (queue, other) = (TaskOperationQueue(), TaskOperationQueue())
        let keyed = KeyedOperations<String, Int>(queue: queue)
        other.isSuspended = true
        let queued = other.addOperation(name: "queued", priority: .low) { 1 }
        let error = await #expect(throws: TaskOperationError.self) {
            try await keyed.request("key", priority: .high) { queued }.value
        }
        #expect(error?.alreadyAdded == "queued")
        await until { keyed.count == 0 && keyed["key"] == nil }
        #expect(queued.priority == .low && !queued.isFinished && other.operations == [queued])
        other.isSuspended = false
        #expect(try await queued.value == 1)
        #expect(try await keyed.request("key") { TaskOperation { 2 } }.value == 2)
    }

    @Test("a key that is not equal to itself is forgotten when its operation ends", .schedules(10))
    func unequalKeys() async throws {
        let queue = TaskOperationQueue()
        let (keyed, gate) = (KeyedOperations<Double, Int>(queue: queue), Gate())
        let requests = (0..<5).map { number in
            keyed.request(.nan) {
                await gate.pass()
                return number
            }
        }
        let one = keyed.request(1) { 1 }
        #expect(keyed.count >= 5)
        requests[3].cancel()
        gate.open()
        for number in [0, 1, 2, 4] { #expect(try await requests[number].value == number) }
        #expect(try await one.value == 1)
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(keyed.count == 0)
    }

    @Test("requests are freed with their values, and the table with its keys")
    func freed() async throws {
        final class Key: Hashable, Sendable {
            let witness: Witness
            init(_ freed: Gate) { witness = Witness(freed) }
            static func == (left: Key, right: Key) -> Bool { left === right }
            func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
        }
        let (freed, body) = (Gate(), Gate())
        let keyed = KeyedOperations<Key, Void>(queue: TaskOperationQueue())
        do {
            let witness = Witness(body)
            try await keyed.request(Key(freed)) { _ = witness }.value
        }
        await until { freed.isOpen && body.isOpen }
        #expect(keyed.count == 0)
    }

    @Test("An operation that the queue refuses is freed")
    func freedRefused() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let freed = Gate()
        let barrier = queue.addBarrier {}
        // The new operation would wait for the barrier, and the barrier waits for the new operation.
        let error = await #expect(throws: TaskOperationError.self) {
            try await keyed.request(1) { [witness = Witness(freed)] in
                let operation = TaskOperation {
                    _ = witness
                    return 1
                }
                try? barrier.addDependency(operation)
                return operation
            }.value
        }
        #expect(error?.dependencyCycle?.count == 3)
        for dependency in barrier.dependencies { try barrier.removeDependency(dependency) }
        #expect(await eventually { freed.isOpen })
        await until { keyed.count == 0 }
        queue.isSuspended = false
    }

    @Test("An operation is freed if another one for the same key was added while it was made")
    func freedAfterRace() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let freed = Gate()
        let request = keyed.request(1) { [witness = Witness(freed)] in
            keyed.request(1) { 1 }
            return TaskOperation {
                _ = witness
                return 2
            }
        }
        #expect(await eventually { freed.isOpen })
        queue.isSuspended = false
        #expect(try await request.value == 1)
    }

    @Test("The last cancelled request cancels the inputs of its operation, and their inputs", .schedules(20))
    func inputs() async throws {
        let queue = TaskOperationQueue()
        let (keyed, gate) = (KeyedOperations<Int, Int>(queue: queue), Gate())
        let first = queue.addOperation {
            await gate.pass()
            return 1
        }
        let order = TaskOperationQueue(.init(isSuspended: true)).addOperation {}
        let second = queue.addOperation(dependencies: [order], after: first) { $0 + 1 }
        let requests = (0..<2).map { _ in keyed.request(1) { TaskOperation(after: second) { $0 + 1 } } }
        await gate.waitForArrivals(1)
        requests[0].cancel()
        #expect(!first.isCancelled && !second.isCancelled)
        requests[1].cancel()
        #expect(requests[1].operation.isFinished && second.isFinished && first.isCancelled)
        // The value of this dependency is not needed, so it is no input.
        #expect(!order.isCancelled)
        gate.open()
    }

    @Test("An input that an operation, a task or a handler still needs is not cancelled", .schedules(20))
    func neededInputs() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let inputs = (0..<5).map { number in
            queue.addOperation(.timeout(untilEnd: .seconds(3600))) { number }
        }
        let other = keyed.request(100) { 100 }
        let handled = Gate()
        let request = keyed.request(1) {
            let sum = queue.addOperation(after: inputs) { $0.reduce(0, +) }
            return TaskOperation(after: sum, other.operation) { $0 + $1 }
        }
        let dependent = queue.addOperation(after: inputs[1]) { $0 }
        let waiter = Task { try await inputs[2].value }
        await untilOthersWait()
        inputs[3].addCompletionHandler { handled.open() }
        // Neither an observer of the progress nor the timer of a limit needs the outcome.
        _ = inputs[4].progress
        request.cancel()
        #expect(inputs.map(\.isCancelled) == [true, false, false, false, true])
        #expect(!other.operation.isCancelled)
        queue.isSuspended = false
        #expect(try await dependent.value == 1)
        #expect(try await waiter.value == 2)
        #expect(try await other.value == 100)
        await handled.pass()
    }

    @Test("of a thousand that come and go at random each gets its end, and nothing is left", .schedules(30))
    func storm() async throws {
        var generator = Schedules.generator()
        try await storm(seed: generator.next())
    }

    @Test("Requests of many threads for one key share an operation")
    func stormOnThreads() async throws {
        for seed in 0..<10 { try await storm(seed: UInt64(seed)) }
    }

    @Test("An abandoned request whose body has not begun, or begins again, fails with its timeout", .schedules(50))
    func abandoned() async throws {
        let queue = TaskOperationQueue()
        queue.addBodyInterceptor { _, body in
            // Ignores its cancellation.
            await Task { try? await Task.sleep(for: .milliseconds(20)) }.value
            try await body()
        }
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let late = keyed.request(1, [.timeout(untilEnd: .milliseconds(10)), .overrun(.abandon)]) { 1 }
        let again = keyed.request(
            2, [.timeout(.milliseconds(5)), .overrun(.abandon), .retry(.immediately(attempts: 1000))]
        ) {
            await Task { try? await Task.sleep(for: .milliseconds(2)) }.value
            throw WorkFailed()
        }
        for request in [late, again] {
            let error = await #expect(throws: TaskOperationError.self) { try await request.value }
            guard case .timedOut = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
    }

    private func storm(seed: UInt64) async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let meter = ConcurrencyMeter()
        await withTaskGroup { group in
            for number in 0..<1000 {
                group.addTask {
                    var generator = SeededGenerator(seed: seed &* 1000 &+ UInt64(number))
                    let key = generator.number(below: 20)
                    for _ in 0..<generator.number(below: 5) { await Task.yield() }
                    let priority: [TaskPriority] = [.low, .medium, .high]
                    let request = keyed.request(key, .priority(priority[generator.number(below: 3)])) {
                        await meter.measure { await Task.yield() }
                        if key == 7 { throw WorkFailed(number: key) }
                        return key * 2
                    }
                    for _ in 0..<generator.number(below: 5) { await Task.yield() }
                    let leaves = generator.happens(percent: 50)
                    if leaves { request.cancel() }
                    switch await request.result {
                    case .success(let value): #expect(value == key * 2)
                    case .failure(let error as WorkFailed): #expect(error.number == key)
                    case .failure(let error): #expect(error is CancellationError && leaves)
                    }
                }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        // Handlers of operations that were cancelled before their start run in separate tasks.
        await until { keyed.count == 0 }
        #expect(meter.most <= 3)
        let together = Gate()
        for _ in 0..<3 { queue.addOperation { await together.pass() } }
        await together.waitForArrivals(3)
        together.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }
}
