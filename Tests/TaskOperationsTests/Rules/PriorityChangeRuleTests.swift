import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 21: priorities change at any time", .inTurns, .endsInTime)
struct PriorityChangeRuleTests {
    @Test("A pending operation moves up or down, and keeps its arrival")
    func pendingOperationsMove() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let starts = Recorder<Int>()
        let operations = (0..<6).map { number in queue.addOperation { starts.record(number) } }
        operations[4].priority = .high
        operations[2].priority = .high
        operations[0].priority = .low
        operations[3].priority = .low
        operations[3].priority = .medium
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == [2, 4, 1, 3, 5, 0])
    }

    @Test("One that is not ready, or not added, moves too")
    func beforeItIsReady() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let starts = Recorder<String>()
        let dependency = TaskOperation {}
        queue.addOperation { starts.record("medium") }
        let waiting = queue.addOperation(dependencies: [dependency]) { starts.record("waiting") }
        let notAdded = TaskOperation { starts.record("not added") }
        waiting.priority = .high
        notAdded.priority = TaskPriority(rawValue: 33)
        try queue.addOperation(notAdded)
        let end = Task.immediate { try await dependency.value }
        try dependency.start()
        // A task that began to wait before the start continues after the dependent operations are ready.
        try await end.value
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == ["not added", "waiting", "medium"])
    }

    @Test("A body runs in a task of the priority that its operation had when it started")
    func taskPriority() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operation = queue.addOperation(priority: .low) { Task.currentPriority }
        operation.priority = .high
        queue.isSuspended = false
        await until { operation.isFinished }
        #expect(try await operation.value == .high)
    }

    @Test("Raising an executing operation raises its task, and no other that runs after it")
    func executingOperation() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let operation = queue.addOperation(priority: .low) {
            await gate.pass()
            return Task.currentPriority
        }
        let next = queue.addOperation(priority: .low) { Task.currentPriority }
        await gate.waitForArrivals(1)
        operation.priority = .high
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(try await operation.value == .high)
        #expect(try await next.value == .low)
    }

    @Test("The priority of its dependencies increases with that of an operation")
    func dependenciesRise() throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let first = queue.addOperation(priority: .low) {}
        let second = queue.addOperation(priority: .low, dependencies: [first]) {}
        second.priority = .high
        #expect((first.priority, first.effectivePriority) == (.low, .high))
        second.priority = .background
        #expect(second.priority == .background)
        queue.cancelAllOperations()
    }

    @Test("After the end a change changes nothing, and every level can be set and read")
    func afterTheEnd() async throws {
        let operation = TaskOperation(priority: .low) {}
        for level in [.background, .low, .medium, .high, TaskPriority(rawValue: 33)] as [TaskPriority] {
            operation.priority = level
            #expect(operation.priority == level)
        }
        operation.priority = TaskPriority(rawValue: 24)
        #expect(operation.priority == .medium)
        try operation.start()
        try await operation.value
        operation.priority = .high
        #expect(operation.priority == .medium)
    }

    @Test("Thousands of changes at random end in the order of the last ones", arguments: 1...5)
    func manyChanges(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let levels: [TaskPriority] = [.background, .low, .medium, .high]
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let starts = Recorder<Int>()
        let operations = (0..<200).map { number in queue.addOperation { starts.record(number) } }
        for _ in 0..<5000 {
            operations.randomElement(using: &random)!.priority = levels.randomElement(using: &random)!
        }
        let expected = levels.reversed().flatMap { level in
            operations.indices.filter { operations[$0].priority == level }
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == expected)
    }
}
