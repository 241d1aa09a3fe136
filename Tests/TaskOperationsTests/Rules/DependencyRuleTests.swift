import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 5: dependencies come first", .inTurns, .endsInTime)
struct DependencyRuleTests {
    @Test("A dependent starts after all its dependencies, not after the first", .schedules(20))
    func allDependencies() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 8)
        let gates = (0..<4).map { _ in Gate() }
        let dependencies = gates.map { gate in queue.addOperation { await gate.pass() } }
        let dependent = queue.addOperation(dependencies: dependencies) { dependencies.allSatisfy(\.isFinished) }
        for (gate, dependency) in zip(gates, dependencies) {
            await untilOthersWait()
            #expect(dependent.state == .waiting)
            gate.open()
            try await dependency.value
        }
        #expect(try await dependent.value)
    }

    @Test("A dependent runs whether the other succeeded, failed or was cancelled")
    func whateverTheOutcome() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let succeeded = queue.addOperation {}
        let failed = queue.addOperation { throw WorkFailed() }
        let cancelled = queue.addOperation {}
        let after = [succeeded, failed, cancelled].map { queue.addOperation(dependencies: [$0]) { true } }
        cancelled.cancel()
        queue.isSuspended = false
        for operation in after { #expect(try await operation.value) }
        #expect(failed.failure is WorkFailed)
        #expect(cancelled.failure is CancellationError)
    }

    @Test("A dependency may be on another queue, or on none", .schedules(20))
    func whateverTheQueue() async throws {
        let (first, second) = (TaskOperationQueue(.init(isSuspended: true)), TaskOperationQueue())
        let elsewhere = first.addOperation {}
        let onNone = TaskOperation {}
        let dependent = second.addOperation(dependencies: [elsewhere, onNone]) {
            elsewhere.isFinished && onNone.isFinished
        }
        try onNone.start()
        try await onNone.value
        await untilOthersWait()
        #expect(dependent.state == .waiting)
        first.isSuspended = false
        #expect(try await dependent.value)
    }

    @Test("A dependency that is finished already holds nothing back")
    func finishedDependency() async throws {
        let queue = TaskOperationQueue()
        let dependency = queue.addOperation {}
        try await dependency.value
        let created = TaskOperation(dependencies: [dependency]) { 1 }
        #expect(created.isReady)
        let pending = TaskOperationQueue(.init(isSuspended: true))
        let submitted = pending.addOperation { 2 }
        try submitted.addDependency(dependency)
        try queue.addOperation(created)
        #expect(submitted.isReady)
        pending.isSuspended = false
        #expect(try await [created.value, submitted.value] == [1, 2])
    }

    @Test("A dependency can be added while the dependent waits for its start, and removed again", .schedules(20))
    func dependenciesOfSubmittedOperations() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let dependency = TaskOperation {}
        let other = TaskOperation {}
        let dependent = queue.addOperation { dependency.isFinished && !other.isFinished }
        #expect(dependent.isReady)
        try dependent.addDependency(dependency)
        try dependent.addDependency(other)
        queue.isSuspended = false
        await untilOthersWait()
        #expect(dependent.state == .waiting)
        try dependency.start()
        try await dependency.value
        #expect(dependent.state == .waiting)
        try dependent.removeDependency(other)
        #expect(try await dependent.value)
    }

    @Test("In graphs over three queues, added in any order, none starts too early", arguments: 1...10)
    func randomGraphs(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let queues = [1, 2, 8].map { TaskOperationQueue(maxConcurrentOperationCount: $0) }
        let tooEarly = Recorder<Int>()
        var operations: [TaskOperation<Void>] = []
        for number in 0..<200 {
            let dependencies = (0..<Int.random(in: 0...3, using: &random)).compactMap { _ in
                operations.randomElement(using: &random)
            }
            operations.append(
                TaskOperation(dependencies: dependencies) {
                    if !dependencies.allSatisfy(\.isFinished) { tooEarly.record(number) }
                    if number.isMultiple(of: 3) { await Task.yield() }
                    if number.isMultiple(of: 5) { throw WorkFailed() }
                })
        }
        for operation in operations.shuffled(using: &random) {
            try queues.randomElement(using: &random)!.addOperation(operation)
        }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(tooEarly.events == [])
        #expect(operations.allSatisfy { $0.isFinished })
    }

    @Test("An operation that is about to start waits for a dependency that is added then")
    func dependencyAtTheStart() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let other = TaskOperationQueue(.init(isSuspended: true))
        let tooEarly = Recorder<Bool>()
        let dependency = other.addOperation(priority: .low) {}
        let operation = queue.addOperation(priority: .high) { tooEarly.record(!dependency.isFinished) }
        // The observer is called while the dependency is added, because the addition raises the dependency's priority.
        // The operation already has the dependency, but its queue does not know of it yet. The loop gives the queue
        // time to start the operation too early.
        _ = other.observer {
            CountsWatcher {
                if dependency.effectivePriority != .high { return }
                queue.isSuspended = false
                for _ in 0..<100_000 where tooEarly.events.isEmpty {}
            }
        }
        try operation.addDependency(dependency)
        other.isSuspended = false
        try await operation.value
        #expect(tooEarly.events == [false])
    }
}

private final class CountsWatcher: OperationCountObserver {
    private let action: @Sendable () -> Void

    init(_ action: @escaping @Sendable () -> Void) {
        self.action = action
    }

    func countsChanged(added: Int, unfinished: Int) { action() }
}
