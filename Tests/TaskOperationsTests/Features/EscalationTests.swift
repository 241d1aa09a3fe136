import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Escalation along every kind of wait", .inTurns, .endsInTime)
struct EscalationTests {
    @Test("Awaiting the end of a chain over many queues raises all of it")
    func longChain() async throws {
        let queues = (0..<5).map { _ in TaskOperationQueue(.init(isSuspended: true)) }
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
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let dependencies = (0..<20).map { _ in queue.addOperation(priority: .low) {} }
        let operation = queue.addOperation(priority: .low, dependencies: dependencies) {}
        let waiting = Task(priority: .high) { try await operation.value }
        await until { dependencies.allSatisfy { $0.effectivePriority == .high } }
        queue.isSuspended = false
        try await waiting.value
    }

    @Test("Awaiting an operation behind a barrier raises the barrier and all operations before it")
    func throughABarrier() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let before = (0..<3).map { _ in queue.addOperation(priority: .low) {} }
        let barrier = queue.addBarrier(.priority(.low)) {}
        let between = queue.addOperation(priority: .low) {}
        let second = queue.addBarrier(.priority(.low)) {}
        let behind = queue.addOperation(priority: .low) {}
        let beside = queue.addOperation(priority: .low) {}
        let waiting = Task(priority: .high) { try await behind.value }
        await until { (before + [barrier, between, second]).allSatisfy { $0.effectivePriority == .high } }
        #expect(beside.effectivePriority == .low)
        queue.isSuspended = false
        try await waiting.value
    }

    @Test("Adding an urgent barrier raises the operations before it, and no others")
    func byABarrier() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let elsewhere = TaskOperationQueue(.init(isSuspended: true))
        let dependency = elsewhere.addOperation(priority: .background) {}
        let before = [
            queue.addOperation(priority: .low) {},
            queue.addOperation(priority: .background, dependencies: [dependency]) {},
        ]
        let barrier = queue.addBarrier(.priority(.high)) {}
        let behind = queue.addOperation(priority: .low) {}
        #expect((before + [dependency, barrier]).allSatisfy { $0.effectivePriority == .high })
        #expect(behind.effectivePriority == .low)
        barrier.cancel()
        #expect(before.map(\.effectivePriority) == [.low, .background])
        #expect(dependency.effectivePriority == .background)
        queue.isSuspended = false
        elsewhere.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test(
        "An urgent operation behind barriers raises them and what stands before, until it is cancelled or less urgent")
    func behindBarriers() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        var before: [AnyTaskOperation] = []
        for _ in 0..<3 {
            before.append(queue.addOperation(priority: .low) {})
            before.append(queue.addBarrier(.priority(.background)) {})
        }
        let levels = before.map(\.effectivePriority)
        let first = queue.addOperation(priority: .high) {}
        #expect(before.allSatisfy { $0.effectivePriority == .high })
        let second = queue.addOperation(priority: .medium) {}
        first.cancel()
        #expect(before.allSatisfy { $0.effectivePriority == .medium })
        second.priority = .background
        #expect(before.map(\.effectivePriority) == levels)
        second.priority = .high
        #expect(before.allSatisfy { $0.effectivePriority == .high })
        second.cancel()
        #expect(before.map(\.effectivePriority) == levels)
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("After a barrier is cancelled, the operations before it inherit only from the next one")
    func cancelledBarrierBetween() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let before = queue.addOperation(priority: .background) {}
        let barrier = queue.addBarrier(.priority(.background)) {}
        let between = queue.addOperation(priority: .high) {}
        let last = queue.addBarrier(.priority(.low)) {}
        #expect([before, barrier].allSatisfy { $0.effectivePriority == .high })
        barrier.cancel()
        #expect(before.effectivePriority == .low)
        last.cancel()
        #expect(before.effectivePriority == .background)
        queue.isSuspended = false
        try await between.value
    }

    @Test("An urgent barrier raises executing operations before it, and ready ones keep their order")
    func whatExecutesBeforeABarrier() async throws {
        let recorder = Recorder<Int>()
        let gate = Gate()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let executing = queue.addOperation(priority: .background) {
            await gate.pass()
            recorder.record(Int(Task.currentPriority.rawValue))
        }
        await gate.waitForArrivals(1)
        for (number, priority) in [TaskPriority.background, .medium, .low].enumerated() {
            queue.addOperation(priority: priority) {
                recorder.record(number)
                recorder.record(Int(Task.currentPriority.rawValue))
            }
        }
        let barrier = queue.addBarrier(.priority(.high)) {}
        #expect(executing.effectivePriority == .high)
        gate.open()
        try await barrier.value
        let high = Int(TaskPriority.high.rawValue)
        #expect(recorder.events == [high, 1, high, 2, high, 0, high])
    }

    @Test("Operations that are added to a scope after the escalation of its body are as urgent")
    func addedToAnEscalatedScope() async throws {
        let gates = [Gate(), Gate()]
        let body = TaskOperationQueue().addOperation(priority: .background) {
            try await withTaskOperationQueue { queue in
                let first = queue.addOperation(priority: .background) { await gates[1].pass() }
                await gates[0].pass()
                let second = queue.addOperation(priority: .background) { await gates[1].pass() }
                #expect([first, second].map(\.effectivePriority) == [.high, .high])
            }
        }
        await gates[0].waitForArrivals(1)
        let urgent = TaskOperationQueue().addOperation(priority: .high, dependencies: [body]) {}
        for gate in gates { gate.open() }
        try await urgent.value
        try await body.value
    }

    @Test("A queue that a body awaits loses an inherited priority with the body")
    func queueFalls() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let awaited = queue.addOperation(priority: .background) {}
        let body = TaskOperationQueue().addOperation(priority: .low) {
            try await queue.waitUntilAllOperationsAreFinished()
        }
        await until { body.debugDescription.contains("awaits") }
        let urgent = TaskOperationQueue().addOperation(priority: .high, dependencies: [body]) {}
        #expect(awaited.effectivePriority == .high)
        body.cancel()
        await #expect(throws: CancellationError.self) { try await body.value }
        #expect(awaited.effectivePriority == .background)
        queue.isSuspended = false
        try await urgent.value
    }

    @Test("The operation that an executing body awaits inherits its priority")
    func whatABodyAwaits() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let awaited = queue.addOperation(priority: .background) {}
        let body = TaskOperationQueue().addOperation(priority: .low) { try await awaited.value }
        await until { awaited.effectivePriority == .low }
        let waiting = Task(priority: .high) { try await body.value }
        await until { awaited.effectivePriority == .high }
        queue.isSuspended = false
        try await waiting.value
    }

    @Test("An awaited operation of another queue, or of a scope, inherits the body's priority")
    func whatABodyWaitsForInAQueue() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
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

    @Test("A task that is escalated during its wait raises the awaited operation")
    func escalatedDuringTheWait() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
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

    @Test("A task that is escalated at the beginning of its wait raises the awaited operation")
    func escalatedAsTheWaitBegins() async throws {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        for _ in 0..<40 {
            let queue = TaskOperationQueue(.init(isSuspended: true))
            let operations = (0..<100).map { _ in queue.addOperation(priority: .background) {} }
            // When these tasks are escalated, some have not begun, some wait, and some are about to wait.
            let tasks = operations.map { operation in Task(priority: .low) { try await operation.value } }
            for task in tasks { task.escalatePriority(to: .high) }
            let areRaised = await eventually { operations.allSatisfy { $0.effectivePriority == .high } }
            queue.isSuspended = false
            for task in tasks { try await task.value }
            #expect(areRaised)
            if !areRaised { return }
        }
    }

    @Test("An operation that is awaited before it is added is raised by the addition, with its dependencies")
    func beforeItIsAdded() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
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

    @Test("A dependency that is added to a raised operation is raised, too")
    func dependencyOfTheRaised() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operation = queue.addOperation(priority: .low) {}
        let urgent = queue.addOperation(priority: .high, dependencies: [operation]) {}
        let late = queue.addOperation(priority: .low) {}
        try operation.addDependency(late)
        #expect(late.effectivePriority == .high)
        queue.isSuspended = false
        try await urgent.value
    }

    @Test("New dependents raise the task of an executing body, also through waiting operations")
    func executingBodyByDependency() async throws {
        let gate = Gate()
        let executing = TaskOperationQueue().addOperation(priority: .background) {
            await gate.pass()
            return Task.currentPriority
        }
        await gate.waitForArrivals(1)
        let queue = TaskOperationQueue(.init(isSuspended: true))
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

    @Test("The next operation of a worker does not keep the priority of the one before")
    func raisingDoesNotLast() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
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
