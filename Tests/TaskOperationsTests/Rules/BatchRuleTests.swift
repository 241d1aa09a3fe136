import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 4: a batch is one step", .inTurns, .endsInTime)
struct BatchRuleTests {
    @Test("The most urgent operation of a batch starts first, even as its last element on an idle queue")
    func prioritiesAreWeighedOverTheBatch() async throws {
        for _ in 0..<20 {
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
            let starts = Recorder<Int>()
            // If the queue added the operations one by one, the first one would start long before the last one is
            // added.
            let batch = (0..<2000).map { number in
                TaskOperation(priority: number == 1999 ? .high : .low) { starts.record(number) }
            }
            try queue.addOperations(batch)
            try await queue.waitUntilAllOperationsAreFinished()
            #expect(starts.events == [1999] + Array(0..<1999))
        }
    }

    @Test("A batch accepts an operation before its dependencies")
    func dependenciesInAnyOrder() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let starts = Recorder<Int>()
        let batch = (0..<100).map { number in TaskOperation { starts.record(number) } }
        for (number, operation) in batch.enumerated().dropLast() { try operation.addDependency(batch[number + 1]) }
        try queue.addOperations(batch)
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == Array((0..<100).reversed()))
    }

    @Test("Where one of a batch is refused, none is added, and the others can be added again", .schedules(20))
    func refusalIsOfTheWholeBatch() async throws {
        let queue = TaskOperationQueue()
        let runs = Recorder<String>()
        let input = TaskOperation { runs.record("input") }
        let first = TaskOperation(name: "first", dependencies: [input]) { runs.record("first") }
        let twice = queue.addOperation(name: "twice") { runs.record("twice") }
        let last = TaskOperation(name: "last") { runs.record("last") }
        try await twice.value
        let error = refusal { try queue.addOperations([first, twice, last]) }
        #expect(error?.alreadyAdded == "twice")
        #expect(queue.operationCount == 0)
        try input.start()
        try await input.value
        await untilOthersWait()
        #expect(runs.events == ["twice", "input"])
        try queue.addOperations([first])
        try queue.addOperations([last])
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(Set(runs.events) == ["twice", "input", "first", "last"])
        #expect(runs.events.count == 4)
    }

    @Test("A batch that contains an operation twice is refused")
    func twiceInOneBatch() async throws {
        let queue = TaskOperationQueue()
        let operation = TaskOperation(name: "twice") {}
        let error = refusal { try queue.addOperations([operation, operation]) }
        #expect(error?.alreadyAdded == "twice")
        #expect(queue.operationCount == 0)
        try queue.addOperation(operation)
        try await operation.value
    }

    @Test("An empty batch changes nothing")
    func emptyBatch() async throws {
        let queue = TaskOperationQueue()
        try queue.addOperations([AnyTaskOperation]())
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(queue.operationCount == 0)
    }
}
