import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Results of operations that are added while others run", .inTurns, .endsInTime)
struct TaskOperationResultsTests {
    @Test("each operation is yielded once with its result, in order of completion", .schedules(100))
    func allResults() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let results = TaskOperationResults<Int>(on: queue)
        let operations = (0..<20).map { number in
            results.addOperation(name: "\(number)") {
                for _ in 0..<(number % 4) { await Task.yield() }
                if number % 5 == 0 { throw WorkFailed(number: number) }
                return number
            }
        }
        var found: [AnyTaskOperation] = []
        for try await (operation, result) in results {
            let number = Int(operation.name!)!
            #expect((try? result.get()) == (number % 5 == 0 ? nil : number))
            #expect(operation.isFinished)
            found.append(operation)
        }
        #expect(Set(found) == Set(operations))
        #expect(found.count == 20)
        #expect(results.untakenOperationCount == 0)
    }

    @Test("operations are added from the loop and from bodies, until nothing is left", .schedules(100))
    func tree() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let results = TaskOperationResults<Int>(on: queue)
        results.addOperation { 1 }
        var found: [Int] = []
        for try await (_, result) in results {
            let number = try result.get()
            found.append(number)
            if number < 16 {
                results.addOperation { 2 * number }
                results.addOperation {
                    results.addOperation { 2 * number + 1 }
                    return 100 + number
                }
            }
        }
        #expect(found.filter { $0 < 100 }.sorted() == Array(1..<32))
        #expect(found.filter { $0 > 100 }.sorted() == (1..<16).map { $0 + 100 })
        for try await _ in results { Issue.record("a result came twice") }
    }

    @Test("results that were not taken count as room", .schedules(50))
    func room() async throws {
        let queue = TaskOperationQueue()
        let results = TaskOperationResults<Int>(on: queue, maxUntakenOperationCount: 3)
        let added = Recorder<Int>()
        let producer = Task {
            for number in 0..<10 {
                try await results.addOperationWaitingForRoom { number }
                added.record(number)
            }
        }
        var iterator = results.makeAsyncIterator()
        for count in 0..<7 {
            await untilOthersWait()
            #expect(added.events.count == count + 3)
            #expect(try await iterator.next() != nil)
        }
        try await producer.value
        // These two exceed the limit, because `addOperation` does not wait for room.
        results.addOperation { 10 }
        results.addOperation { 11 }
        #expect(results.untakenOperationCount == 5)
        let late = Task { try await results.addOperationWaitingForRoom { 12 } }
        let given = Task { try await results.addOperationWaitingForRoom { 13 } }
        for _ in 0..<2 {
            await untilOthersWait()
            #expect(try await iterator.next() != nil)
            #expect(results.untakenOperationCount < 5)
        }
        await untilOthersWait()
        #expect(results.untakenOperationCount == 3)
        given.cancel()
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
        await #expect(throws: CancellationError.self) { try await given.value }
        var rest: [Int] = []
        while let (_, result) = try await iterator.next() { rest.append(try result.get()) }
        #expect(rest.count == 3)
        // The results have room for three operations again.
        for number in 0..<3 { try await results.addOperationWaitingForRoom { number } }
    }

    @Test("a cancelled consumer cancels the operations, and gets all of their results", .schedules(100))
    func cancellation() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let results = TaskOperationResults<Void>(on: queue)
        let meter = ConcurrencyMeter()
        for _ in 0..<10 {
            results.addOperation {
                await meter.measure { for _ in 0..<3 { await Task.yield() } }
                try Task.checkCancellation()
            }
        }
        var generator = Schedules.generator()
        let consumer = Task {
            var count = 0
            for try await _ in results { count += 1 }
            return count
        }
        for _ in 0..<generator.number(below: 60) { await Task.yield() }
        consumer.cancel()
        #expect(try await consumer.value == 10)
        #expect(meter.now == 0)
    }

    @Test("leaving the loop cancels nothing, and a later loop gets the rest", .schedules(50))
    func earlyBreak() async throws {
        let results = TaskOperationResults<Int>(on: TaskOperationQueue())
        for number in 0..<10 { results.addOperation { number } }
        var found: [Int] = []
        for try await (_, result) in results {
            found.append(try result.get())
            if found.count == 4 { break }
        }
        for try await (_, result) in results { found.append(try result.get()) }
        #expect(found.sorted() == Array(0..<10))
    }

    @Test("releasing the results cancels running operations, and leaves none", .schedules(50))
    func released() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let (freed, cancelled) = (Gate(), Recorder<Bool>())
        do {
            let (results, witness) = (TaskOperationResults<Witness>(on: queue), Witness(freed))
            for _ in 0..<5 {
                results.addOperation {
                    await untilCancelled()
                    cancelled.record(Task.isCancelled)
                    return witness
                }
            }
            await untilOthersWait()
        }
        await until { freed.isOpen && queue.operationCount == 0 }
        #expect(cancelled.events.count <= 2)
    }

    @Test("cancelAllOperations cancels added operations, and none that is added later", .schedules(20))
    func cancelAll() async throws {
        let results = TaskOperationResults<Int>(on: TaskOperationQueue(maxConcurrentOperationCount: 1))
        for _ in 0..<4 { results.addOperation { 0 } }
        results.cancelAllOperations()
        results.addOperation { 1 }
        var sum = 0
        for try await (operation, result) in results {
            sum += (try? result.get()) ?? 0
            if operation.isCancelled, let error = operation.failure { #expect(error is CancellationError) }
        }
        #expect(sum == 1)
    }

    @Test("several consumers share the results", .schedules(50))
    func severalConsumers() async throws {
        let results = TaskOperationResults<Int>(on: TaskOperationQueue(maxConcurrentOperationCount: 2))
        for number in 0..<20 {
            results.addOperation {
                await Task.yield()
                return number
            }
        }
        let found = try await withThrowingTaskGroup { group in
            for _ in 0..<3 {
                group.addTask {
                    var found: [Int] = []
                    for try await (_, result) in results { found.append(try result.get()) }
                    return found
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(found.sorted() == Array(0..<20))
    }

    @Test("a body takes results of its own queue of width 1", .schedules(50))
    func ownQueue() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let operation = queue.addOperation {
            let results = TaskOperationResults<Int>(on: queue)
            for number in 0..<4 { results.addOperation { number } }
            var sum = 0
            for try await (_, result) in results { sum += try result.get() }
            return sum
        }
        #expect(try await operation.value == 6)
    }

    @Test("a body that takes results of an operation that waits for the body is refused by name", .schedules(20))
    func cycle() async throws {
        let queue = TaskOperationQueue()
        let gate = Gate()
        let results = TaskOperationResults<Void>(on: queue)
        let body = queue.addOperation(name: "body") {
            await gate.pass()
            for try await _ in results {}
        }
        results.addOperation(name: "dependent", dependencies: [body]) {}
        gate.open()
        await #expect(throws: TaskOperationError.self) { try await body.value }
        for try await (_, result) in results { try result.get() }
    }

    @Test("A body at width 1 lends its permit while it waits for room for operations of its own queue", .schedules(20))
    func roomOnOwnQueue() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let results = TaskOperationResults<Int>(on: queue, maxUntakenOperationCount: 1)
        let added = Gate()
        let body = queue.addOperation {
            for number in 0..<3 {
                try await results.addOperationWaitingForRoom { number }
                added.open()
            }
        }
        await added.pass()
        var taken: [Int] = []
        // An iteration ends when no operation is left, even if the body adds others later.
        for _ in 0..<100 where taken.count < 3 {
            for try await (_, result) in results { taken.append(try result.get()) }
            await untilOthersWait()
        }
        #expect(taken == [0, 1, 2])
        try await body.value
        queue.cancelAllOperations()
    }

    @Test("operations rise with the task that waits for a result", .schedules(20))
    func escalation() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (results, gate) = (TaskOperationResults<Void>(on: queue), Gate())
        for _ in 0..<3 { results.addOperation(.priority(.low)) { await gate.pass() } }
        let consumer = Task(priority: .high) { for try await _ in results {} }
        await until { queue.operations.allSatisfy { $0.effectivePriority == .high } }
        results.addOperation(.priority(.low)) {}
        #expect(queue.operations.allSatisfy { $0.effectivePriority == .high })
        gate.open()
        try await consumer.value
    }
}
