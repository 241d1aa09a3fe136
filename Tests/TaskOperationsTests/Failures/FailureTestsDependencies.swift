import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Faults of other libraries: dependencies", .inTurns, .endsInTime)
struct FailureTestsDependencies {
    @Test("Elsewhere a chain of 30,000 dependencies took 16 s: its cost was the square of its length")
    func longChain() async throws {
        let queue = TaskOperationQueue()
        var last = queue.addOperation {}
        for _ in 1..<30_000 { last = queue.addOperation(dependencies: [last]) {} }
        try await last.value
    }

    @Test("Elsewhere freeing a chain of 50,000 operations overflowed the stack")
    func freeingALongChain() {
        let freed = Gate()
        var last = TaskOperation { [witness = Witness(freed)] in withExtendedLifetime(witness) {} }
        for _ in 0..<50_000 { last = TaskOperation(dependencies: [last]) {} }
        last = TaskOperation {}
        #expect(freed.isOpen)
        #expect(last.isReady)
    }

    @Test("Elsewhere removing a dependency that was not finished left the operation waiting for ever", .schedules(20))
    func removingAnUnfinishedDependency() async throws {
        let queue = TaskOperationQueue()
        let never = TaskOperation {}
        let beforeAdding = TaskOperation(dependencies: [never]) { 1 }
        try beforeAdding.removeDependency(never)
        try queue.addOperation(beforeAdding)
        #expect(try await beforeAdding.value == 1)
        let afterAdding = queue.addOperation(dependencies: [never]) { 2 }
        await untilOthersWait()
        #expect(afterAdding.state == .waiting)
        try afterAdding.removeDependency(never)
        #expect(try await afterAdding.value == 2)
    }

    @Test(
        "Elsewhere it did too where the removed dependency ended later, or came back, or was one of many",
        .schedules(20))
    func removingAndAddingAgain() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let dependencies = (0..<20).map { _ in TaskOperation {} }
        let operation = queue.addOperation(dependencies: dependencies) { dependencies.count { $0.isFinished } }
        for dependency in dependencies.dropFirst(10) { try operation.removeDependency(dependency) }
        try operation.addDependency(dependencies[15])
        try operation.removeDependency(dependencies[0])
        try operation.addDependency(dependencies[0])
        #expect(Set(operation.dependencies) == Set(dependencies[..<10] + [dependencies[15]]))
        queue.isSuspended = false
        for dependency in dependencies[..<10] {
            await untilOthersWait()
            #expect(operation.state == .waiting)
            try dependency.start()
            try await dependency.value
        }
        try dependencies[12].start()
        await untilOthersWait()
        #expect(operation.state == .waiting)
        try dependencies[15].start()
        #expect(try await operation.value >= 11)
    }

    @Test("Elsewhere a first operation that depended on a later one crashed or hung")
    func dependingOnALaterOne() async throws {
        for width in [1, 2] {
            let queue = TaskOperationQueue(maxConcurrentOperationCount: width)
            let later = TaskOperation { true }
            let first = queue.addOperation(dependencies: [later]) { later.isFinished }
            let unrelated = queue.addOperation { !first.isFinished }
            #expect(try await unrelated.value)
            try queue.addOperation(later)
            #expect(try await first.value)
        }
    }

    @Test("Elsewhere a dependent never started at width 1: its readiness was cached and the change missed")
    func readinessIsNotMissed() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        for _ in 0..<300 {
            let (first, second) = (TaskOperation {}, TaskOperation {})
            let dependent = TaskOperation(dependencies: [first]) { first.isFinished && second.isFinished }
            try queue.addOperation(dependent)
            try dependent.addDependency(second)
            try queue.addOperations([first, second])
            #expect(try await dependent.value)
        }
    }

    @Test("Elsewhere readiness was missed where an end races with adding, and with adding and removing edges")
    func readinessRaces() async throws {
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 1) }
        for _ in 0..<500 {
            let dependency = queues[0].addOperation {}
            let other = queues[0].addOperation {}
            let dependent = TaskOperation(dependencies: [dependency]) { dependency.isFinished }
            try queues[1].addOperation(dependent)
            // If the operation has already started, the dependency is refused.
            try? dependent.addDependency(other)
            try? dependent.removeDependency(other)
            #expect(try await dependent.value)
        }
    }
}
