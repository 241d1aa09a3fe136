import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Where bodies run", .inTurns, .endsInTime)
struct ExecutorTests {
    @Test("On a queue with an executor every body runs there, before and after it suspends")
    func executorOfTheQueue() async throws {
        let executor = SingleThreadExecutor()
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 4, executor: executor))
        let operations = (0..<100).map { number in
            queue.addOperation(priority: number.isMultiple(of: 2) ? .low : .high) {
                let before = executor.isCurrent
                await Task.yield()
                async let child = executor.isCurrent
                return await [before, executor.isCurrent, child]
            }
        }
        for operation in operations { #expect(try await operation.value == [true, true, true]) }
    }

    @Test("A body that awaited an operation of another queue continues on the executor of its own queue")
    func afterAWait() async throws {
        let (first, second) = (SingleThreadExecutor(), SingleThreadExecutor())
        let other = TaskOperationQueue(.init(executor: second))
        let operation = TaskOperationQueue(.init(executor: first)).addOperation {
            let there = try await other.run { second.isCurrent && !first.isCurrent }
            return there && first.isCurrent
        }
        #expect(try await operation.value)
    }

    @Test("Types and operations with inputs run on the executor too")
    func everyKindOfBody() async throws {
        let executor = SingleThreadExecutor()
        let queue = TaskOperationQueue(.init(executor: executor))
        let typed = queue.addOperation(AskingExecutor(executor: executor))
        let dependent = queue.addOperation(after: typed) { @concurrent in $0 && executor.isCurrent }
        #expect(try await dependent.value)
        let barrier = queue.addBarrier { executor.isCurrent }
        #expect(try await barrier.value)
    }

    @Test("The main queue runs its bodies on the main actor, also after they suspended")
    func mainQueue() async throws {
        let operation = TaskOperationQueue.main.addOperation {
            let before = MainThread.isCurrent
            await Task.yield()
            return [before, MainThread.isCurrent]
        }
        #expect(try await operation.value == [true, true])
        #expect(!MainThread.isCurrent)
    }

    @Test("The main queue runs one body at a time, and is one queue with a name")
    func mainQueueIsOneQueue() async throws {
        let queue = TaskOperationQueue.main
        let meter = ConcurrencyMeter()
        let operations = (0..<50).map { _ in
            queue.addOperation { await meter.measure { await Task.yield() } }
        }
        for operation in operations { try await operation.value }
        #expect((meter.total, meter.most) == (50, 1))
        #expect(TaskOperationQueue.main === queue)
        #expect((queue.name, queue.maxConcurrentOperationCount) == ("main", 1))
    }

    @Test("The main queue runs operations with inputs on the main actor as well")
    func mainQueueWithInputs() async throws {
        let queue = TaskOperationQueue.main
        let input = queue.addOperation { 1 }
        let operation = queue.addOperation(after: input, body: placesOfABody)
        #expect(try await operation.value == [true, true])
    }

    @Test("A body with a place of its own runs there, before and after it suspends, and one without does not")
    func executorsOfBodies() async throws {
        let executors = [SingleThreadExecutor(), SingleThreadExecutor()]
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let operations = try (0..<60).map { number in
            let operation = TaskOperation {
                let before = executors.map(\.isCurrent)
                await Task.yield()
                return [before, executors.map(\.isCurrent)]
            }
            // The executor changes after every second operation, so a body may follow one on the same executor or on
            // another.
            let place = number / 2 % 3
            if place < 2 { operation.runBody(on: executors[place]) }
            try queue.addOperation(operation)
            return (operation, executors.indices.map { $0 == place })
        }
        queue.isSuspended = false
        for (operation, expected) in operations { #expect(try await operation.value == [expected, expected]) }
    }

    @Test("Bodies with the same place follow each other there without a job for each")
    func noJobForEach() async throws {
        let executor = JobCounter()
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        for _ in 0..<1000 {
            let operation = TaskOperation {}
            operation.runBody(on: executor)
            try queue.addOperation(operation)
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect((1..<500).contains(executor.count))
    }

    @Test("On a queue that has a place, so has no body one of its own")
    func placeOfTheQueue() async throws {
        let executors = [SingleThreadExecutor(), SingleThreadExecutor()]
        let operation = TaskOperation { executors.map(\.isCurrent) }
        operation.runBody(on: executors[0])
        try TaskOperationQueue(.init(executor: executors[1])).addOperation(operation)
        #expect(try await operation.value == [false, true])
        let onMain = TaskOperation { MainThread.isCurrent }
        onMain.runBody(on: executors[0])
        try TaskOperationQueue.main.addOperation(onMain)
        #expect(try await onMain.value)
    }
}

private func placesOfABody(_: Int) async -> [Bool] {
    let before = MainThread.isCurrent
    await Task.yield()
    return [before, MainThread.isCurrent]
}

private struct AskingExecutor: TaskOperationBody {
    let executor: SingleThreadExecutor
    func main() async -> Bool { executor.isCurrent }
}
