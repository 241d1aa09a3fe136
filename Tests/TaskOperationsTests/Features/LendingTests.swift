import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Permits that are lent while a body awaits", .inTurns, .endsInTime)
struct LendingTests {
    @Test(
        "On a queue that never lends, a member of a body's scope or group cannot await what needs the body's permit",
        arguments: [true, false])
    func memberOfScope(isGroup: Bool) async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, lending: .never))
        let (errors, added) = (Recorder<TaskOperationError>(), Gate())
        let target = TaskOperation { 7 }
        let awaitTarget: @Sendable () async -> Void = {
            await added.pass()
            if case .failure(let error as TaskOperationError) = await target.result { errors.record(error) }
        }
        if isGroup {
            queue.addGroup { group in group.addOperation { await awaitTarget() } }
        } else {
            queue.addOperation {
                try await withTaskOperationQueue { scope in
                    scope.addOperation { await awaitTarget() }
                    // The body continues, so that its own wait has not begun.
                    await until { !errors.events.isEmpty }
                }
            }
        }
        try queue.addOperation(target)
        added.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(errors.events.count == 1 && errors.events.first?.waitCycle != nil && target.isFinished)
    }

    @Test("At width 1 bodies can await each other a hundred deep")
    func nested() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        @Sendable func descend(_ depth: Int) -> TaskOperation<Int> {
            queue.addOperation { depth == 0 ? 0 : try await descend(depth - 1).value + 1 }
        }
        #expect(try await descend(100).value == 100)
    }

    @Test("Across two queues of width 1 bodies can await each other's operations, a hundred deep")
    func acrossTwoQueues() async throws {
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 1) }
        @Sendable func descend(_ depth: Int) -> TaskOperation<Int> {
            queues[depth % 2].addOperation { depth == 0 ? 0 : try await descend(depth - 1).value + 1 }
        }
        #expect(try await descend(100).value == 100)
    }

    @Test(
        "A tree of operations that await their branches runs at any width, and never more at once", arguments: [1, 3],
        [false, true])
    func tree(width: Int, areAwaitedAtOnce: Bool) async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: width)
        let meter = ConcurrencyMeter()
        @Sendable func count(_ depth: Int) -> TaskOperation<Int> {
            queue.addOperation {
                await meter.measure { await Task.yield() }
                if depth == 0 { return 1 }
                let (left, right) = (count(depth - 1), count(depth - 1))
                async let first = left.value
                if !areAwaitedAtOnce { _ = try await first }
                async let second = right.value
                let sum = try await first + second
                await meter.measure { await Task.yield() }
                return sum
            }
        }
        #expect(try await count(8).value == 256)
        #expect(meter.most <= width)
        #expect(meter.total == 511 + 255)
    }

    @Test("The permit is taken back after the last wait of all child tasks", .schedules(20))
    func lastOfSeveralWaits() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gates = [Gate(), Gate()]
        let need = TaskOperation {}
        let elsewhere = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let awaited = gates.map { gate in elsewhere.addOperation(dependencies: [need]) { await gate.pass() } }
        let order = Recorder<String>()
        let body = queue.addOperation {
            async let first: Void = awaited[0].value
            async let second: Void = awaited[1].value
            _ = try await (first, second)
            order.record("goes on")
        }
        try queue.addOperation(need)
        try await need.value
        let blocking = Gate()
        let meanwhile = queue.addOperation { await blocking.pass() }
        await blocking.waitForArrivals(1)
        gates[0].open()
        try await awaited[0].value
        await untilOthersWait()
        #expect(order.events == [])
        gates[1].open()
        try await awaited[1].value
        await untilOthersWait()
        #expect(order.events == [])
        blocking.open()
        try await meanwhile.value
        try await body.value
        #expect(order.events == ["goes on"])
    }

    @Test("Awaiting a finished operation lends nothing")
    func awaitingTheFinished() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let finished = TaskOperationQueue().addOperation { 1 }
        _ = try await finished.value
        let starts = Recorder<String>()
        let body = queue.addOperation {
            let other = queue.addOperation { starts.record("other") }
            for _ in 0..<100 { _ = try await finished.value }
            starts.record("body")
            return other
        }
        try await body.value.value
        #expect(starts.events == ["body", "other"])
    }

    @Test("Of bodies that wait for their permits, the more urgent one continues first")
    func returningByPriority() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (awaited, blocking) = (Gate(), Gate())
        let order = Recorder<TaskPriority>()
        var elsewhere: [TaskOperation<Void>] = []
        for priority in [.low, .medium, .high] as [TaskPriority] {
            elsewhere.append(
                try await LentBody(on: queue, priority: priority, until: awaited) { order.record(priority) }.awaited)
        }
        queue.addOperation { await blocking.pass() }
        await blocking.waitForArrivals(1)
        awaited.open()
        for operation in elsewhere { try await operation.value }
        await until { queue.returningCount == 3 }
        blocking.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(order.events == [.high, .medium, .low])
    }

    @Test("Waiting for all in another queue, and a scope, lend the permit too")
    func otherWaysOfWaiting() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let other = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let body = queue.addOperation {
            other.addOperation { try await queue.run {} }
            try await other.waitUntilAllOperationsAreFinished()
            return try await withTaskOperationQueue(maxConcurrentOperationCount: 1) { scope in
                scope.addOperation { try await queue.run { 1 } }
            }
        }
        #expect(try await body.value.value == 1)
    }

    @Test("A body that is cancelled during a wait continues at once with its permit, or after the wait", .schedules(20))
    func cancelledWhileAwaiting() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let elsewhere = TaskOperationQueue().addOperation { await gate.pass() }
        let throwing = queue.addOperation { try await elsewhere.value }
        await until { throwing.isExecuting }
        throwing.cancel()
        await #expect(throws: CancellationError.self) { try await throwing.value }
        let patient = queue.addOperation {
            _ = await elsewhere.result
            return Task.isCancelled
        }
        await until { patient.isExecuting }
        patient.cancel()
        await untilOthersWait()
        #expect(patient.isExecuting)
        gate.open()
        #expect(try await patient.value)
        #expect(try await queue.run { 1 } == 1)
    }

    @Test(
        "An unstructured task of a body lends no permit during its waits, also if it outlives the body",
        .schedules(20))
    func unstructuredTask() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let behind = TaskOperation { await gate.pass() }
        let body = queue.addOperation {
            let task = Task { try await behind.value }
            try queue.addOperation(behind)
            await untilOthersWait()
            #expect(!behind.isExecuting)
            return task
        }
        let task = try await body.value
        let meter = ConcurrencyMeter()
        for _ in 0..<20 { queue.addOperation { await meter.measure { await Task.yield() } } }
        gate.open()
        try await task.value
        try await queue.waitUntilAllOperationsAreFinished()
        #expect((meter.total, meter.most) == (20, 1))
    }

    @Test(
        "A task that waits for the permit continues without it when another task of the body begins to await",
        .schedules(20))
    func taskWaitsAsAnotherAwaits() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (gates, beginning, blocking) = ([Gate(), Gate()], Gate(), Gate())
        let need = TaskOperation {}
        let elsewhere = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let awaited = gates.map { gate in elsewhere.addOperation(dependencies: [need]) { await gate.pass() } }
        let firstIsBack = Gate()
        let body = queue.addOperation {
            async let first: Void = awaited[0].value
            async let second: Void = {
                await beginning.pass(); try await awaited[1].value
            }()
            try await first
            firstIsBack.open()
            try await second
        }
        try queue.addOperation(need)
        try await need.value
        queue.addOperation { await blocking.pass() }
        await blocking.waitForArrivals(1)
        gates[0].open()
        try await awaited[0].value
        await untilOthersWait()
        #expect(!firstIsBack.isOpen)
        beginning.open()
        await until { firstIsBack.isOpen }
        #expect(!blocking.isOpen)
        for gate in gates + [blocking] { gate.open() }
        try await body.value
    }

    @Test("A wait that begins just as the permit is lent for another one counts once")
    func beginsAsThePermitIsLent() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (gate, blocking) = (Gate(), Gate())
        let need = TaskOperation {}
        let elsewhere = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let first = elsewhere.addOperation(dependencies: [need]) { await gate.pass() }
        // The second wait is registered and passes on its priority. That calls the escalation handler, which makes the
        // body lend its permit.
        let second = elsewhere.addOperation(priority: .low) {
            await withEscalationHandler {
                await gate.pass()
            } onEscalated: { _ in
                _ = try? queue.addOperation(need)
            }
        }
        await gate.waitForArrivals(1)
        let order = Recorder<String>()
        let body = queue.addOperation(priority: .high) {
            try await withThrowingTaskGroup { group in
                group.addTask { try await first.value }
                await until { AnyTaskOperation.current!.keepsPermit }
                group.addTask { try await second.value }
                try await group.waitForAll()
            }
            order.record("goes on")
        }
        try await need.value
        let meanwhile = queue.addOperation { await blocking.pass() }
        await blocking.waitForArrivals(1)
        gate.open()
        for operation in [first, second] { try await operation.value }
        await until { queue.returningCount == 1 }
        #expect(order.events == [])
        blocking.open()
        try await meanwhile.value
        try await body.value
    }

    @Test("With the width lowered to 0, a body continues after its wait")
    func widthLoweredToZero() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let body = try await LentBody(on: queue, until: gate).body
        queue.maxConcurrentOperationCount = 0
        gate.open()
        let ended = await eventually { body.isFinished }
        #expect(ended)
        queue.maxConcurrentOperationCount = 1
        try await body.value
    }

    @Test(
        "Random trees of waits over queues of small width end, keep to the width, and conserve the permits",
        arguments: 1...10)
    func randomTrees(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let queues = (0..<3).map { _ in
            TaskOperationQueue(maxConcurrentOperationCount: Int.random(in: 1...2, using: &random))
        }
        let meters = queues.map { _ in ConcurrencyMeter() }
        @Sendable func grow(_ depth: Int, _ seed: UInt64) -> TaskOperation<Int> {
            var random = SeededGenerator(seed: seed)
            let branches = depth == 0 ? [] : (0..<Int.random(in: 0...3, using: &random)).map { _ in random.next() }
            let inParallel = Bool.random(using: &random)
            let number = queues.indices.randomElement(using: &random)!
            return queues[number].addOperation {
                var sum = 1
                if inParallel {
                    sum = try await withThrowingTaskGroup(of: Int.self) { group in
                        for branch in branches { group.addTask { try await grow(depth - 1, branch).value } }
                        return try await group.reduce(1, +)
                    }
                } else {
                    for branch in branches { sum += try await grow(depth - 1, branch).value }
                }
                await meters[number].measure { await Task.yield() }
                return sum
            }
        }
        for _ in 0..<10 { #expect(try await grow(5, random.next()).value >= 1) }
        for (queue, meter) in zip(queues, meters) {
            try await queue.waitUntilAllOperationsAreFinished()
            #expect(meter.most <= queue.maxConcurrentOperationCount)
            let gate = Gate()
            let width = queue.maxConcurrentOperationCount
            for _ in 0...width { queue.addOperation { await gate.pass() } }
            await gate.waitForArrivals(width)
            #expect(queue.scheduler.withCore { $0.state.width.taken } == width)
            gate.open()
        }
    }
}
