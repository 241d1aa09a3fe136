import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import Testing

@Suite("Each form that adds an operation takes a name, inputs, options and a body")
struct GrammarTests {
    private let limit = AsyncSemaphore(capacity: 2, name: "limit")

    @Test("A queue takes labels and options together in each form")
    func queue() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: .max, isSuspended: true))
        let first = queue.addOperation(name: "a", priority: .high, [.weight(2)]) { 1 }
        let second = queue.addOperation(name: "b", dependencies: [first], .limit(limit)) { 2 }
        let sum = queue.addOperation(name: "c", priority: .high, .timeout(.seconds(60)), after: first, second) {
            $0 + $1
        }
        let all = queue.addOperation(priority: .low, after: [first, second]) { $0 }
        let three = queue.addOperation(name: "e", after: first, second, sum) { $0 + $1 + $2 }
        let barrier = queue.addBarrier(name: "f", priority: .low, dependencies: [three]) { 6 }
        let late = TaskOperation(name: "g", [.weight(3)], after: barrier) { $0 + 1 }
        try queue.addOperation(late)
        #expect(
            [first.name, second.name, sum.name, three.name, barrier.name, late.name] == ["a", "b", "c", "e", "f", "g"])
        #expect(first.weight == 2 && second.limits.first === limit && late.weight == 3)
        queue.isSuspended = false
        #expect(try await sum.value == 3)
        #expect(try await all.value == [1, 2])
        #expect(try await three.value == 6)
        #expect(try await late.value == 7)
        #expect(try await queue.run(name: "run", dependencies: [sum], .weight(2)) { 8 } == 8)
        #expect(try await queue.runBarrier(name: "alone") { queue.operationCount } == 1)
    }

    @Test("A group has each form of a queue that adds operations")
    func group() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let events = Recorder<String>()
        let group = queue.addGroup(name: "group", priority: .high, .weight(1), maxConcurrentOperationCount: 3) {
            group in
            let first = group.addOperation(name: "a", .weight(1)) { 1 }
            let second = group.addOperation(name: "b", dependencies: [first]) { 2 }
            let both = group.addOperation(name: "c", after: first, second) { $0 + $1 }
            let all = group.addOperation(priority: .low, after: [first, second, both]) { $0 }
            let barrier = group.addBarrier(name: "d") { events.record("barrier") }
            let after = group.addOperation(name: "e") { events.record("after") }
            try group.addOperations([TaskOperation(name: "f") {}, TaskOperation(name: "g") {}])
            #expect(both.priority == .high && all.priority == .low && after.name == "e" && barrier.name == "d")
            let inner = group.addGroup(name: "inner") { inner in try await inner.run { 5 } }
            return try await all.value.reduce(0, +) + inner.value
        }
        #expect(group.name == "group" && group.priority == .high)
        #expect(try await group.value == 11)
        #expect(events.events == ["barrier", "after"])
    }

    @Test("Requests of keys and the latest operation take labels and options together", .schedules(20))
    func keys() async throws {
        let queue = TaskOperationQueue()
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let first = queue.addOperation { 1 }
        let request = keyed.request(1, name: "a", priority: .high, dependencies: [first], .limit(limit)) { 2 }
        #expect(request.operation.name == "a" && request.operation.priority == .high)
        #expect(request.operation.limits.first === limit)
        #expect(try await request.value == 2 && first.isFinished)
        #expect(try await keyed.value(for: 2, name: "b", .weight(2)) { 3 } == 3)
        let latest = await LatestOperation(queue: queue)
            .start(name: "c", priority: .low, dependencies: [first], .weight(2)) {
                4
            } deliver: { _ in
            }
        #expect(latest.name == "c" && latest.priority == .low && latest.weight == 2)
    }

    @Test("The option of the priority replaces the argument")
    func precedence() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operation = queue.addOperation(priority: .low, .priority(.high)) {}
        #expect(operation.priority == .high)
        queue.cancelAllOperations()
    }

    @Test("Results come from several queues, and from operations that exist")
    func results() async throws {
        let (one, two) = (TaskOperationQueue(), TaskOperationQueue(maxConcurrentOperationCount: 1))
        let results = TaskOperationResults<Int>(on: one)
        results.addOperation(name: "one") { 1 }
        results.addOperation(name: "two", on: two) { 2 }
        let existing = two.addOperation(name: "three") { 3 }
        try results.include(existing)
        let later = TaskOperation(name: "four") { 4 }
        try results.include(later)
        try two.addOperation(later)
        var sum = 0
        for try await (_, result) in results { sum += try result.get() }
        #expect(sum == 10 && results.untakenOperationCount == 0)
    }
}
