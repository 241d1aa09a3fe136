import TaskOperations
import TaskOperationsExpectations
import TaskOperationsTesting
import Testing

@Suite("Escalation along every kind of wait", .timeLimit(.minutes(10)))
struct EscalationTests {
    @Test("Awaiting the end of a chain over many queues raises all of it")
    func longChain() async throws {
        let queues = (0..<5).map { _ in TaskOperationQueue(isSuspended: true) }
        var chain: [TaskOperation<Void>] = []
        for number in 0..<1000 {
            let dependencies = chain.last.map { [$0] } ?? []
            chain.append(queues[number % 5].addOperation(priority: .background, dependencies: dependencies) {})
        }
        let waiting = Task(priority: .high) { [last = chain[999]] in try await last.value }
        await until { chain[0].effectivePriority == .high }
        #expect(chain.allSatisfy { $0.effectivePriority == .high && $0.priority == .background })
        for queue in queues { queue.isSuspended = false }
        try await waiting.value
    }

    @Test("All of several dependencies rise at once, not only the first")
    func allDependencies() async throws {
        let queue = TaskOperationQueue(isSuspended: true)
        let dependencies = (0..<20).map { _ in queue.addOperation(priority: .low) {} }
        let operation = queue.addOperation(priority: .low, dependencies: dependencies) {}
        let waiting = Task(priority: .high) { try await operation.value }
        await until { dependencies.allSatisfy { $0.effectivePriority == .high } }
        queue.isSuspended = false
        try await waiting.value
    }

    @Test("Awaiting what stands behind a barrier raises the barrier and all before it")
    func throughABarrier() async throws {
        let queue = TaskOperationQueue(isSuspended: true)
        let before = (0..<3).map { _ in queue.addOperation(priority: .low) {} }
        let barrier = queue.addBarrier(priority: .low) {}
        let between = queue.addOperation(priority: .low) {}
        let second = queue.addBarrier(priority: .low) {}
        let behind = queue.addOperation(priority: .low) {}
        let beside = queue.addOperation(priority: .low) {}
        let waiting = Task(priority: .high) { try await behind.value }
        await until { (before + [barrier, between, second]).allSatisfy { $0.effectivePriority == .high } }
        #expect(beside.effectivePriority == .low)
        queue.isSuspended = false
        try await waiting.value
    }

    @Test("What an executing body awaits rises with it")
    func whatABodyAwaits() async throws {
        let queue = TaskOperationQueue(isSuspended: true)
        let awaited = queue.addOperation(priority: .background) {}
        let body = TaskOperationQueue().addOperation(priority: .low) { try await awaited.value }
        await until { awaited.effectivePriority == .low }
        let waiting = Task(priority: .high) { try await body.value }
        await until { awaited.effectivePriority == .high }
        queue.isSuspended = false
        try await waiting.value
    }

    @Test("What a body waits for in another queue, or in a scope, rises with it")
    func whatABodyWaitsForInAQueue() async throws {
        let queue = TaskOperationQueue(isSuspended: true)
        let inQueue = queue.addOperation(priority: .background) {}
        let gate = Gate()
        let inScope = TaskOperation(priority: .background) { await gate.pass() }
        let waitingForQueue = TaskOperationQueue().addOperation(priority: .low) {
            try await queue.waitUntilAllOperationsAreFinished()
        }
        let waitingForScope = TaskOperationQueue().addOperation(priority: .low) {
            try await withTaskOperationQueue { try $0.addOperation(inScope) }
        }
        await gate.waitForArrivals(1)
        await until { waitingForQueue.debugDescription.contains("awaits") }
        let urgent = TaskOperationQueue().addOperation(
            priority: .high, dependencies: [waitingForQueue, waitingForScope]
        ) {}
        #expect([waitingForQueue, waitingForScope].map(\.effectivePriority) == [.high, .high])
        #expect([inQueue, inScope].map(\.effectivePriority) == [.high, .high])
        gate.open()
        queue.isSuspended = false
        try await urgent.value
    }

    @Test("A task that is escalated during its wait raises what it awaits")
    func escalatedDuringTheWait() async throws {
        let queue = TaskOperationQueue(isSuspended: true)
        let first = queue.addOperation(priority: .background) {}
        let second = queue.addOperation(priority: .background, dependencies: [first]) {}
        let task = Task(priority: .low) { try await second.value }
        await until { first.effectivePriority == .low }
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return task.cancel() }
        task.escalatePriority(to: .high)
        await until { first.effectivePriority == .high }
        #expect(second.effectivePriority == .high)
        queue.isSuspended = false
        try await task.value
    }

    @Test("A task that is escalated just as its wait begins raises what it awaits")
    func escalatedAsTheWaitBegins() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        for _ in 0..<40 {
            let queue = TaskOperationQueue(isSuspended: true)
            let operations = (0..<100).map { _ in queue.addOperation(priority: .background) {} }
            // Some of these have not begun when they are escalated, some wait, and some are just on their way.
            let tasks = operations.map { operation in Task(priority: .low) { try await operation.value } }
            for task in tasks { task.escalatePriority(to: .high) }
            let areRaised = await eventually { operations.allSatisfy { $0.effectivePriority == .high } }
            queue.isSuspended = false
            for task in tasks { try await task.value }
            #expect(areRaised)
            if !areRaised { return }
        }
    }

    @Test("What is waited for before it is added is raised when it is, with what it depends on")
    func beforeItIsAdded() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1, isSuspended: true)
        let dependency = TaskOperation(priority: .background) {}
        let operation = TaskOperation(priority: .background, dependencies: [dependency]) {}
        let waiting = Task(priority: .high) { try await operation.value }
        await until { dependency.effectivePriority == .high }
        let late = TaskOperation(priority: .background) {}
        try operation.addDependency(late)
        try queue.addOperations([operation, dependency, late])
        #expect([operation, dependency, late].map(\.effectivePriority) == [.high, .high, .high])
        queue.isSuspended = false
        try await waiting.value
    }

    @Test("A dependency that is added to what was raised is raised too")
    func dependencyOfTheRaised() async throws {
        let queue = TaskOperationQueue(isSuspended: true)
        let operation = queue.addOperation(priority: .low) {}
        let urgent = queue.addOperation(priority: .high, dependencies: [operation]) {}
        let late = queue.addOperation(priority: .low) {}
        try operation.addDependency(late)
        #expect(late.effectivePriority == .high)
        queue.isSuspended = false
        try await urgent.value
    }

    @Test("The task of an executing body is raised by what comes to depend on it, through others that wait")
    func executingBodyByDependency() async throws {
        let gate = Gate()
        let executing = TaskOperationQueue().addOperation(priority: .background) {
            await gate.pass()
            return Task.currentPriority
        }
        await gate.waitForArrivals(1)
        let queue = TaskOperationQueue(isSuspended: true)
        let between = queue.addOperation(priority: .background, dependencies: [executing]) {}
        let urgent = queue.addOperation(priority: .high, dependencies: [between]) { Task.currentPriority }
        #expect(executing.effectivePriority == .high)
        gate.open()
        #expect(try await executing.value == .high)
        queue.isSuspended = false
        #expect(try await urgent.value == .high)
        try await between.value
    }

    @Test("Child tasks of an executing body are raised with it")
    func childTasks() async throws {
        let gate = Gate()
        let executing = TaskOperationQueue().addOperation(priority: .low) {
            await withTaskGroup(of: TaskPriority.self) { group in
                group.addTask {
                    await gate.pass()
                    return Task.currentPriority
                }
                return await group.next()!
            }
        }
        await gate.waitForArrivals(1)
        let urgent = TaskOperationQueue().addOperation(priority: .high, dependencies: [executing]) {}
        gate.open()
        #expect(try await executing.value == .high)
        try await urgent.value
    }

    @Test("What was raised for one operation does not last for the next that runs")
    func raisingDoesNotLast() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1, isSuspended: true)
        let priorities = Recorder<TaskPriority>()
        let operations = (0..<50).map { _ in
            queue.addOperation(priority: .low) { priorities.record(Task.currentPriority) }
        }
        let urgent = TaskOperationQueue().addOperation(priority: .high, dependencies: [operations[10]]) {}
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        try await urgent.value
        #expect(priorities.events == [.high] + Array(repeating: .low, count: 49))
    }

    @Test("Escalation while operations start and end loses none of it")
    func escalationRacesWithStarting() async throws {
        for _ in 0..<200 {
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
            let gate = Gate()
            let operation = queue.addOperation(priority: .background) {
                await gate.pass()
                return Task.currentPriority
            }
            let urgent = TaskOperationQueue().addOperation(priority: .high, dependencies: [operation]) {}
            await gate.waitForArrivals(1)
            gate.open()
            #expect(try await operation.value == .high)
            try await urgent.value
        }
    }
}
