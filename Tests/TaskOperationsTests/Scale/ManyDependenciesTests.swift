import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Very many dependencies", .computing, .serialized, .endsInTime)
struct ManyDependenciesTests {
    @Test("Very many dependents of one operation")
    func dependents() async throws {
        let queue = TaskOperationQueue()
        let runs = ConcurrencyMeter()
        let first = TaskOperation { runs.enter() }
        for _ in 0..<tensOfThousands { queue.addOperation(dependencies: [first]) { runs.enter() } }
        try first.start()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(runs.total == tensOfThousands + 1)
    }

    @Test("Very many dependencies of one operation, added one by one, some removed again")
    func dependencies() async throws {
        let queue = TaskOperationQueue()
        let last = TaskOperation { true }
        let removed = TaskOperation {}
        for number in 0..<tensOfThousands {
            try last.addDependency(queue.addOperation {})
            if number.isMultiple(of: 10) {
                try last.addDependency(removed)
                try last.removeDependency(removed)
            }
        }
        #expect(last.dependencies.count == tensOfThousands)
        try queue.addOperation(last)
        #expect(try await last.value)
    }

    @Test("A very long chain, added from its beginning")
    func chain() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let runs = ConcurrencyMeter()
        var last = queue.addOperation { runs.enter() }
        for _ in 1..<many { last = queue.addOperation(dependencies: [last]) { runs.enter() } }
        queue.isSuspended = false
        try await last.value
        #expect(runs.total == many)
    }

    @Test("A very long chain, added from its end in one step")
    func chainFromItsEnd() async throws {
        let queue = TaskOperationQueue()
        let runs = ConcurrencyMeter()
        let operations = (0..<tensOfThousands).map { _ in TaskOperation { runs.enter() } }
        for (operation, next) in zip(operations, operations.dropFirst()) { try operation.addDependency(next) }
        try queue.addOperations(operations)
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(runs.total == tensOfThousands)
    }

    @Test("A very long chain of values, each made from the one before")
    func chainOfValues() async throws {
        let queue = TaskOperationQueue()
        var last = queue.addOperation { 1 }
        for _ in 1..<tensOfThousands { last = queue.addOperation(after: last) { @concurrent in $0 + 1 } }
        #expect(try await last.value == tensOfThousands)
    }

    @Test("A very long chain whose first operation fails: the failure reaches the end as it was")
    func failureDownAChain() async throws {
        let queue = TaskOperationQueue()
        var last = queue.addOperation(name: "first") { () -> Int in throw WorkFailed(number: 8) }
        for _ in 1..<tensOfThousands { last = queue.addOperation(after: last) { @concurrent in $0 + 1 } }
        _ = await last.result
        #expect(last.refusal?.failedDependency?.origin == "first")
        #expect(last.refusal?.failedDependency?.error as? WorkFailed == WorkFailed(number: 8))
    }

    @Test("A very long chain over two queues of width 1")
    func chainOverQueues() async throws {
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 1) }
        var last = queues[0].addOperation {}
        for number in 1..<tensOfThousands { last = queues[number % 2].addOperation(dependencies: [last]) {} }
        try await last.value
    }

    @Test("A very long chain that is cancelled from its beginning, its end, or all at once", arguments: 0..<3)
    func cancelledChain(manner: Int) {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        var chain = [queue.addOperation {}]
        for _ in 1..<tensOfThousands { chain.append(queue.addOperation(dependencies: [chain.last!]) {}) }
        switch manner {
        case 0: for operation in chain { operation.cancel() }
        case 1: for operation in chain.reversed() { operation.cancel() }
        default: queue.cancelAllOperations()
        }
        #expect(queue.operationCount == 0)
        #expect(chain.allSatisfy { $0.failure is CancellationError })
    }

    @Test("The priorities of a very long chain increase with that of its end")
    func escalatedChain() throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let first = queue.addOperation(priority: .background) {}
        var last = first
        for _ in 1..<tensOfThousands { last = queue.addOperation(priority: .background, dependencies: [last]) {} }
        for priority in [.low, .medium, .high] as [TaskPriority] {
            last.priority = priority
            #expect(first.effectivePriority == priority)
        }
        queue.cancelAllOperations()
    }

    @Test("A long chain whose dependencies are added in random order, and the closing one refused")
    func randomOrderOfEdges() async throws {
        var random = SeededGenerator(seed: 1)
        let operations = (0..<tensOfThousands / 5).map { _ in TaskOperation {} }
        let edges = Array(zip(operations, operations.dropFirst())).shuffled(using: &random)
        for (operation, next) in edges { try next.addDependency(operation) }
        let error = refusal { try operations[0].addDependency(operations.last!) }
        #expect(error?.dependencyCycle?.count == operations.count + 1)
        let queue = TaskOperationQueue()
        try queue.addOperations(operations)
        try await queue.waitUntilAllOperationsAreFinished()
    }
}
