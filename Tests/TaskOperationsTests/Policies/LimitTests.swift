import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Limits that operations share", .inTurns, .endsInTime)
struct LimitTests {
    @Test(
        "An operation with a limit that is cancelled before or during its addition ends", arguments: [true, false])
    func cancelledAtAddition(hasDefaults: Bool) async throws {
        let defaults: OperationOptions = hasDefaults ? .timeout(.seconds(600)) : OperationOptions()
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, defaults: defaults))
        let limit = AsyncSemaphore(capacity: 1)
        for _ in 0..<300 {
            let operations = (0..<10).map { _ in TaskOperation(.limit(limit)) {} }
            operations[0].cancel()
            async let cancellation: Void = Task { for operation in operations { operation.cancel() } }.value
            try queue.addOperations(operations)
            await cancellation
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(limit.available == 1)
    }

    @Test("A claim that waits keeps its first limit while the queue is full, but not while the queue is stopped")
    func keptLimit() async throws {
        let (first, second) = (AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 0))
        let (queue, gate) = (TaskOperationQueue(maxConcurrentOperationCount: 1), Gate())
        let operation = queue.addOperation([.limit(first), .limit(second)]) {}
        #expect(first.available == 0)
        queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        #expect(first.available == 0)
        queue.maxConcurrentOperationCount = 0
        #expect(first.available == 1)
        queue.maxConcurrentOperationCount = 2
        #expect(first.available == 0)
        queue.isSuspended = true
        #expect(first.available == 1)
        queue.isSuspended = false
        #expect(first.available == 0)
        gate.open()
        second.capacity = 1
        try await operation.value
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(first.available == 1 && second.available == 1)
    }

    @Test("A limit with one permit is mutual exclusion, across queues and with tasks", .schedules(8))
    func exclusion() async throws {
        let limit = AsyncSemaphore(capacity: 1)
        let meter = ConcurrencyMeter()
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 3) }
        for number in 0..<40 {
            queues[number % 2].addOperation(.limit(limit)) {
                await meter.measure { for _ in 0..<3 { await Task.yield() } }
            }
        }
        try await withThrowingTaskGroup { group in
            for _ in 0..<10 {
                group.addTask { try await limit.withPermit { await meter.measure { await Task.yield() } } }
            }
            try await group.waitForAll()
        }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(limit.available == 1 && limit.waitingCount == 0)
        #expect(meter.most == 1 && meter.total == 50)
    }

    @Test("Two queues whose operations name two limits in opposite orders do not deadlock", .schedules(8))
    func oppositeOrders() async throws {
        let (one, other) = (AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 1))
        let meter = ConcurrencyMeter()
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 2) }
        for number in 0..<60 {
            let limits = [[one, other], [other, one], [one], [other]][number % 4]
            queues[number / 4 % 2].addOperation(.limits(limits)) {
                if limits.count == 2 { await meter.measure { await Task.yield() } } else { await Task.yield() }
            }
        }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(meter.most == 1 && meter.total == 30)
        #expect(one.available == 1 && other.available == 1)
    }

    @Test("An operation that waits for one limit holds none: others use the other limit, and the queue continues")
    func holdsNothing() async throws {
        let (busy, free) = (AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 1))
        try await busy.acquire()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let both = queue.addOperation(.limits([busy, free])) { 1 }
        #expect(try await queue.addOperation { 2 }.value == 2)
        #expect(try await queue.addOperation(.limit(free)) { 3 }.value == 3)
        #expect(try await free.withPermit { 4 } == 4)
        #expect(await eventually { free.available == 1 } && both.isReady)
        busy.release()
        #expect(try await both.value == 1)
        #expect(await eventually { free.available == 1 && busy.available == 1 })
    }

    @Test("Operations that need fewer limits do not overtake one that needs more for ever", arguments: [false, true])
    func overtaking(isOneQueue: Bool) async throws {
        let limits = [AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 1)]
        let queues = (0..<3).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 3) }
        let (isDone, endless) = (Recorder<Bool>(), Recorder<Int>())
        let gates = [Gate(), Gate()]
        @Sendable func keepBusy(_ number: Int, _ count: Int) {
            let queue = queues[isOneQueue ? 0 : number]
            queue.addOperation(.limit(limits[number])) {
                if count == 0 { await gates[number].pass() }
                if isDone.events.isEmpty {
                    if count < 20_000 { keepBusy(number, count + 1) } else { endless.record(number) }
                }
                await Task.yield()
            }
        }
        for number in 0...1 {
            keepBusy(number, 0)
            await gates[number].waitForArrivals(1)
        }
        let needsBoth = queues[isOneQueue ? 0 : 2].addOperation(.limits(limits)) { isDone.record(true) }
        for gate in gates { gate.open() }
        try await needsBoth.value
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(endless.events.isEmpty && limits.allSatisfy { $0.available == 1 })
    }

    @Test("A body that holds one limit and takes a permit of the next finishes, though an operation waits for both")
    func nesting() async throws {
        let (first, second) = (AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 1))
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let gate = Gate()
        let holder = queue.addOperation(.limit(first)) {
            await gate.pass()
            return try await second.withPermit { 1 }
        }
        await gate.waitForArrivals(1)
        let both = queue.addOperation(.limits([first, second])) { 2 }
        gate.open()
        #expect(try await holder.value == 1)
        #expect(try await both.value == 2)
    }

    @Test(
        "A task that takes two limits against the order of a body does not deadlock with a claim",
        arguments: [true, false])
    func nestedTask(isTaskFirst: Bool) async throws {
        let (one, two, three) = (AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 1))
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 8)
        let (holder, body) = (Gate(), Gate())
        // Holds the second limit until a claim for the first two is in its line.
        if isTaskFirst {
            try await two.acquire()
        } else {
            queue.addOperation(.limit(two)) { await holder.pass() }
        }
        let waiting = queue.addOperation(.limit(three)) {
            await body.pass()
            return try await queue.addOperation(.limit(one)) { 1 }.value
        }
        await body.waitForArrivals(1)
        if !isTaskFirst { await holder.waitForArrivals(1) }
        let both = queue.addOperation(.limits([one, two])) { 2 }
        await until { one.available == 0 || two.waitingCount > 0 || both.isReady }
        let task = Task {
            if !isTaskFirst { try await two.acquire() }
            try await three.withPermit {}
            two.release()
        }
        await until { (isTaskFirst ? three : two).waitingCount == 1 }
        holder.open()
        await until { three.waitingCount == 1 || both.isFinished }
        body.open()
        #expect(try await waiting.value == 1)
        #expect(try await both.value == 2)
        try await task.value
        #expect(await eventually { [one, two, three].allSatisfy { $0.available == 1 } })
    }

    @Test("Priority, then arrival, orders operations and tasks")
    func order() async throws {
        let limit = AsyncSemaphore(capacity: 1)
        let queues = (0..<3).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 1) }
        let recorder = Recorder<String>()
        try await limit.acquire()
        queues[0].addOperation([.priority(.low), .limit(limit)]) { recorder.record("low") }
        queues[1].addOperation(.limit(limit)) { recorder.record("first") }
        #expect(await eventually { queues[1].claimCount == 1 && queues[0].claimCount == 1 })
        let task = Task(priority: .medium) { try await limit.withPermit(priority: .medium) { recorder.record("task") } }
        #expect(await eventually { limit.waitingCount == 1 })
        queues[2].addOperation([.priority(.high), .limit(limit)]) { recorder.record("high") }
        #expect(await eventually { queues[2].claimCount == 1 })
        limit.release()
        try await task.value
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(recorder.events == ["high", "first", "task", "low"])
    }

    @Test("A suspended queue, one without permits, and a cancelled operation delay no other")
    func thoseThatCannotStart() async throws {
        let limit = AsyncSemaphore(capacity: 1)
        try await limit.acquire()
        let queues = (0..<3).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 1) }
        let operations = queues.map { $0.addOperation(.limit(limit)) { 1 } }
        #expect(await eventually { queues.allSatisfy { $0.claimCount == 1 } })
        queues[0].isSuspended = true
        let gate = Gate()
        let blocker = queues[1].addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        operations[2].cancel()
        limit.release()
        #expect(try await limit.withPermit { 5 } == 5)
        #expect(!operations[0].isFinished && !operations[1].isFinished)
        gate.open()
        try await blocker.value
        #expect(try await operations[1].value == 1)
        queues[0].isSuspended = false
        #expect(try await operations[0].value == 1)
        #expect(await eventually { limit.available == 1 })
    }

    @Test("An operation behind a heavier one does not take its limits: no deadlock of two queues", .schedules(60))
    func notTakenBehindHeavy() async throws {
        let (queue, other) = (
            TaskOperationQueue(maxConcurrentOperationCount: 4),
            TaskOperationQueue()
        )
        let limit = AsyncSemaphore(capacity: 1)
        try await limit.acquire()
        let gate = Gate()
        let needed = other.addOperation(.limit(limit)) {}
        queue.addOperation(.weight(2)) {
            await gate.pass()
            try await needed.value
        }
        await gate.waitForArrivals(1)
        queue.addOperation([.priority(.high), .limit(limit)]) {}
        queue.addOperation([.priority(.high), .weight(3)]) {}
        queue.addOperation([.priority(TaskPriority(rawValue: 33)), .weight(3)]) {}
        limit.release()
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        try await needed.value
        #expect(limit.available == 1)
    }

    /// The reason why an operation that is first in line for its limit cannot start.
    enum Obstacle: CaseIterable, Sendable {
        case heavyOperation, permits, cap, rate, suspension
    }

    @Test("A limit is not kept for an operation that cannot start", .schedules(40), arguments: Obstacle.allCases)
    func notKept(for obstacle: Obstacle) async throws {
        let queue = TaskOperationQueue(
            .init(
                maxConcurrentOperationCount: 2, rate: obstacle == .rate ? .one(per: .seconds(60)) : nil,
                clock: ManualClock()))
        let (limit, gate) = (AsyncSemaphore(capacity: 1), Gate())
        try await limit.acquire()
        let executing = queue.addOperation([.priority(.high), .weight(obstacle == .permits ? 2 : 1)]) {
            await gate.pass()
        }
        await gate.waitForArrivals(1)
        let claiming = queue.addOperation([.priority(.high), .limit(limit)]) {}
        for _ in 0..<20 { await Task.yield() }
        switch obstacle {
        case .heavyOperation: queue.addOperation([.priority(TaskPriority(rawValue: 33)), .weight(2)]) {}
        case .permits, .rate: break
        case .cap: queue.setMaxConcurrentOperationCount(1, for: .high)
        case .suspension: queue.isSuspended = true
        }
        limit.release()
        let taken = TaskOperationQueue().addOperation([.priority(.low), .limit(limit)]) {}
        try await taken.value
        #expect(!claiming.isFinished)
        gate.open()
        try await executing.value
        queue.cancelAllOperations()
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(limit.available == 1)
    }

    @Test(
        "A body that awaits an operation which needs its limit is refused by name", .schedules(40),
        arguments: [false, true])
    func waitCycle(isThroughDependency: Bool) async throws {
        let (queue, other) = (TaskOperationQueue(), TaskOperationQueue())
        let limit = AsyncSemaphore(capacity: 1)
        let body = queue.addOperation(name: "body", .limit(limit)) {
            let needed = other.addOperation(name: "needed", .limit(limit)) {}
            if isThroughDependency {
                try await other.addOperation(dependencies: [needed]) {}.value
            } else {
                try await needed.value
            }
        }
        _ = await body.result
        let cycle = body.refusal?.waitCycle
        #expect(cycle?.first == "body" && cycle?.contains("needed") == true)
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(await eventually { limit.available == 1 })
    }

    @Test(
        "An operation that needs a limit of the body is refused where it is added to a scope of the body",
        .schedules(40))
    func scopeOfBody() async throws {
        let queue = TaskOperationQueue()
        let limit = AsyncSemaphore(capacity: 1)
        let body = queue.addOperation(name: "body", .limit(limit)) {
            try await withTaskOperationQueue(failures: .ignore) { scope in
                let needed = scope.addOperation(name: "needed", .limit(limit)) {}
                let other = scope.addOperation { 3 }
                #expect(needed.refusal?.dependencyCycle == ["needed", "body", "needed"])
                return try await other.value
            }
        }
        #expect(try await body.value == 3)
    }

    @Test("A permit passes through thousands of queues that cannot use it, on a small stack")
    func manyQueues() async throws {
        let (limit, other) = (AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 0))
        #expect(limit.tryAcquire() && !other.tryAcquire())
        let queues = (0..<3000).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 1) }
        let operations = queues.enumerated().map { number, queue in
            // A task has used `other`, so a claim to both limits keeps neither.
            queue.addOperation(.limits(number % 2 == 0 ? [limit] : [limit, other])) {}
        }
        for (number, queue) in queues.enumerated() where number % 2 == 0 { queue.isSuspended = true }
        try await ThreadExecutor(stackSize: 128 << 10).run { limit.release() }
        #expect(await eventually { limit.available == 1 })
        try await ThreadExecutor(stackSize: 128 << 10).run { other.capacity = 1 }
        for queue in queues { queue.isSuspended = false }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(operations.allSatisfy { $0.failure == nil } && limit.available == 1 && other.available == 1)
    }

    @Test("Two threads that release two limits do not offer the permits to the waiting queues again and again")
    func twoReleasingThreads() async throws {
        let threads = [ThreadExecutor(), ThreadExecutor()]
        /// The time in which all operations end after two tasks have released the limits.
        func time(onTwoThreads: Bool) async throws -> Duration {
            let limits = [AsyncSemaphore(capacity: 0), AsyncSemaphore(capacity: 0)]
            // Tasks have used both limits, so a claim keeps neither while it waits for the other.
            for limit in limits { #expect(!limit.tryAcquire()) }
            var queues: [TaskOperationQueue] = []
            func add() {
                let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
                queue.addOperation(.limits(limits)) {}
                queues.append(queue)
            }
            for _ in 0..<200 { add() }
            // The claims pass to the line of the second limit. Others wait for the first one.
            limits[0].capacity = 1
            #expect(limits[0].tryAcquire())
            for _ in 0..<200 { add() }
            let (gate, start) = (Gate(), ContinuousClock.now)
            let releases = [
                Task(executorPreference: threads[0]) {
                    if onTwoThreads { await gate.pass() }
                    limits[0].release()
                },
                Task(executorPreference: threads[onTwoThreads ? 1 : 0]) {
                    if onTwoThreads { await gate.pass() }
                    limits[1].capacity = 1
                },
            ]
            if onTwoThreads { await gate.waitForArrivals(2) }
            gate.open()
            for release in releases { await release.value }
            for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
            return ContinuousClock.now - start
        }
        var times = (one: Duration.zero, two: Duration.zero)
        for _ in 0..<20 {
            times.one += try await time(onTwoThreads: false)
            times.two += try await time(onTwoThreads: true)
        }
        // Repeated offers would take a minute.
        #expect(times.two < max(times.one * 10, .seconds(5)))
    }

    @Test("Two bodies that await each other's limits are not both left waiting", .schedules(100))
    func waitCycleOfTwo() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let limits = [AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 1)]
        let gates = [Gate(), Gate()]
        let bodies = (0...1).map { number in
            queue.addOperation(.limit(limits[number])) {
                await gates[number].pass()
                try await queue.addOperation(.limit(limits[1 - number])) {}.value
            }
        }
        for gate in gates { await gate.waitForArrivals(1) }
        for gate in gates { gate.open() }
        for body in bodies { _ = await body.result }
        #expect(bodies.contains { $0.refusal?.waitCycle != nil })
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test(
        "A body with a limit may await an operation that does not need the limit, and lends its queue's permit",
        .schedules(40))
    func waitWithLimit() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let limits = [AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 1)]
        let body = queue.addOperation(.limit(limits[0])) {
            try await queue.addOperation(.limit(limits[1])) { 7 }.value
        }
        let next = queue.addOperation(.limit(limits[0])) { 8 }
        #expect(try await body.value == 7)
        #expect(try await next.value == 8)
    }

    @Test("An operation whose limit is held does not start before an earlier one without limits whose priority rises")
    func heldLimitBesideRaisedOperation() async throws {
        let executor = HoldingExecutor()
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, executor: executor))
        let (limit, starts) = (AsyncSemaphore(capacity: 1), Recorder<Int>())
        let first = queue.addOperation(.priority(.low)) { starts.record(0) }
        queue.addOperation(.limit(limit)) { starts.record(1) }
        #expect(limit.available == 0)
        first.priority = .medium
        executor.letGo()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == [0, 1])
    }

    @Test(
        "Served operations start in the order of service, and not before an earlier one without limits",
        arguments: [false, true])
    func servedOperationBesideEarlierOne(isFirstCancelled: Bool) async throws {
        let executor = HoldingExecutor()
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, executor: executor))
        let (limit, starts) = (AsyncSemaphore(capacity: 0), Recorder<Int>())
        let first = queue.addOperation(.limit(limit)) { starts.record(0) }
        queue.addOperation { starts.record(1) }
        queue.addOperation(.limit(limit)) { starts.record(2) }
        if isFirstCancelled { first.cancel() }
        limit.capacity = 1
        executor.letGo()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == (isFirstCancelled ? [1, 2] : [0, 1, 2]))
    }

    @Test("The cost of an operation does not depend on the number of limits in use", .computing)
    func manyLimits() throws {
        let ratio = try bestRatio(within: 2) { hasMany in
            let limitCount = hasMany ? 1000 : 10
            return try processorTimeOnOneThread { executor in
                let queue = TaskOperationQueue(
                    .init(maxConcurrentOperationCount: 4, isSuspended: true, executor: executor))
                let limits = (0..<limitCount).map { _ in AsyncSemaphore(capacity: 1) }
                let all = AsyncSemaphore(capacity: 3)
                for number in 0..<4000 {
                    let limit = limits[number % limitCount]
                    queue.addOperation(.limits(number.isMultiple(of: 2) ? [limit] : [all, limit])) {
                        await Task.yield()
                    }
                }
                queue.isSuspended = false
                try await queue.waitUntilAllOperationsAreFinished()
            }
        }
        #expect(ratio < 2, "a look at all limits at each event makes it 2.8")
    }

    @Test("Ten times as many keys that are served in one step take about ten times as long", .computing)
    func keysServedInOneStep() throws {
        let ratio = try bestRatio(within: 3) { isLarge in
            // The total work is the same for both sizes.
            let count = isLarge ? 4000 : 400
            return try processorTimeOnOneThread { executor in
                for _ in 0..<(4000 / count) {
                    let limit = AsyncSemaphore(capacity: 0)
                    let queue = TaskOperationQueue(
                        .init(maxConcurrentOperationCount: .max, executor: executor))
                    for key in 0..<count { queue.addOperation(.limit(limit, key: key)) {} }
                    limit.capacity = .max
                    try await queue.waitUntilAllOperationsAreFinished()
                }
            }
        }
        #expect(ratio < 3, "a look at all held limits at each event makes it more")
    }

    @Test("Cancellation storms lose no permit", arguments: [1, 3])
    func storm(capacity: Int) async throws {
        let limits = (0..<3).map { _ in AsyncSemaphore(capacity: capacity) }
        let queues = (0..<3).map { TaskOperationQueue(maxConcurrentOperationCount: $0 + 1) }
        var random = SeededGenerator(seed: 5)
        var operations: [AnyTaskOperation] = []
        for number in 0..<1200 {
            let names = [0, 1, 2].filter { _ in random.happens(percent: 50) }
            let operation = queues[number % 3].addOperation([
                .priority(number.isMultiple(of: 7) ? .high : .medium), .limits(names.map { limits[$0] }),
            ]) {
                try Task.checkCancellation()
                await Task.yield()
            }
            operations.append(operation)
            if random.happens(percent: 30) { operations.randomElement(using: &random)!.cancel() }
            if number == 600 { queues[2].isSuspended = true }
            if number == 900 { limits[0].capacity = capacity + 1 }
        }
        queues[2].isSuspended = false
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(await eventually { limits[0].available == capacity + 1 && limits[1].available == capacity })
        #expect(limits[2].available == capacity && queues.allSatisfy { $0.claimCount == 0 })
    }

    @Test("A limit is given back however a body ends, and one that starts by hand waits for its limits too")
    func endings() async throws {
        struct Failure: Error {}
        let limit = AsyncSemaphore(capacity: 1)
        let queue = TaskOperationQueue()
        let failing = queue.addOperation(.limit(limit)) { throw Failure() }
        await #expect(throws: Failure.self) { try await failing.value }
        #expect(await eventually { limit.available == 1 })
        try await limit.acquire()
        let byHand = TaskOperation { 3 }
        try byHand.addOptions(.limit(limit))
        try byHand.start()
        #expect(byHand.isReady)
        limit.release()
        #expect(try await byHand.value == 3)
        #expect(await eventually { limit.available == 1 })
    }

    @Test("An operation with limits that was cancelled before it is added is accepted, and stays cancelled")
    func cancelledBefore() throws {
        let operation = TaskOperation {}
        try operation.addOptions(.limit(AsyncSemaphore(capacity: 1)))
        operation.cancel()
        try TaskOperationQueue().addOperation(operation)
        #expect(operation.isCancelled && operation.isFinished)
    }

    @Test("Semaphores that were limits are released")
    func memory() async throws {
        let queue = TaskOperationQueue()
        weak var limit: AsyncSemaphore?
        let pending = queue.addOperation(dependencies: [TaskOperation {}]) {}
        do {
            let semaphore = AsyncSemaphore(capacity: 1)
            limit = semaphore
            try await queue.addOperation(.limit(semaphore)) {}.value
        }
        #expect(await eventually { limit == nil })
        pending.cancel()
    }

    @Test("A semaphore that is named twice counts once", .schedules(10))
    func namedTwice() async throws {
        let (limit, queue) = (AsyncSemaphore(capacity: 1), TaskOperationQueue())
        let operation = queue.addOperation([.limits([limit, limit]), .limit(limit)]) { 1 }
        #expect(operation.limits.count == 1)
        #expect(try await operation.value == 1)
        #expect(limit.tryAcquire())
    }
}
