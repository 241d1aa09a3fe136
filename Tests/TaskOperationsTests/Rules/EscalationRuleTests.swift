import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 15: escalation", .inTurns, .endsInTime)
struct EscalationRuleTests {
    @Test("Awaiting from higher priority escalates a pending operation, which then starts first")
    func awaitingEscalatesPending() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let starts = Recorder<String>()
        queue.addOperation { starts.record("first") }
        let awaited = queue.addOperation(priority: .low) { starts.record("awaited") }
        // When the wait has begun, the queue knows of the higher priority.
        let waiting = Task.immediate(priority: .high) { try await awaited.value }
        #expect(awaited.effectivePriority == .high)
        #expect(awaited.priority == .low)
        queue.isSuspended = false
        try await waiting.value
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == ["awaited", "first"])
    }

    @Test("Awaiting from higher priority escalates the task of an executing body, while it runs")
    func awaitingEscalatesExecuting() async throws {
        let gate = Gate()
        let operation = TaskOperationQueue().addOperation(priority: .low) {
            let before = Task.currentPriority
            await gate.pass()
            // The priority of the task increases a moment after the priority of the operation.
            await until { Task.currentPriority == .high }
            return before
        }
        await gate.waitForArrivals(1)
        let waiting = Task(priority: .high) { try await operation.value }
        await until { operation.effectivePriority == .high }
        gate.open()
        #expect(try await waiting.value == .low)
    }

    @Test("The priority of all operations for which the awaited one waits increases, over chains and queues")
    func escalationIsTransitive() async throws {
        let queues = (0..<3).map { TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: $0 > 0)) }
        let gate = Gate()
        let first = queues[0].addOperation(priority: .background) {
            await gate.pass()
            // The priority of the task increases a moment after the priority of the operation.
            await until { Task.currentPriority == .high }
        }
        await gate.waitForArrivals(1)
        let second = queues[1].addOperation(priority: .low, dependencies: [first]) {}
        let beside = queues[0].addOperation(priority: .low) {}
        let third = queues[2].addOperation(priority: .low, dependencies: [second, beside]) {}
        let aside = queues[2].addOperation(priority: .low) {}
        let waiting = Task(priority: .high) { try await third.value }
        await until { third.effectivePriority == .high }
        await until { first.effectivePriority == .high && beside.effectivePriority == .high }
        #expect(second.effectivePriority == .high)
        #expect(aside.effectivePriority == .low)
        gate.open()
        for queue in queues { queue.isSuspended = false }
        try await first.value
        try await waiting.value
    }

    @Test("Depending on it from higher priority escalates it and all it depends on")
    func dependingEscalates() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let first = queue.addOperation(priority: .background) {}
        let second = queue.addOperation(priority: .low, dependencies: [first]) {}
        #expect(first.effectivePriority == .low)
        let urgent = queue.addOperation(priority: .high, dependencies: [second]) {}
        #expect([first, second].map(\.effectivePriority) == [.high, .high])
        let another = queue.addOperation(priority: .low) {}
        try urgent.addDependency(another)
        #expect(another.effectivePriority == .high)
        queue.isSuspended = false
        try await urgent.value
    }

    @Test("An operation with a lowered priority is still as urgent as its waiters")
    func loweringKeepsWhatWaits() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let first = queue.addOperation {}
        let second = queue.addOperation(dependencies: [first]) {}
        first.priority = .low
        #expect(first.effectivePriority == .medium)
        queue.isSuspended = false
        try await second.value
    }

    @Test("Escalation never lowers")
    func neverLowers() async throws {
        let gate = Gate()
        let operation = TaskOperationQueue().addOperation(priority: .high) {
            await gate.pass()
            return Task.currentPriority
        }
        let waiting = Task(priority: .low) { try await operation.value }
        let dependent = TaskOperationQueue().addOperation(priority: .background, dependencies: [operation]) {}
        await gate.waitForArrivals(1)
        gate.open()
        #expect(try await waiting.value == .high)
        try await dependent.value
    }
}
