import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 13: a wait that could never end is refused", .inTurns, .endsInTime)
struct WaitCycleRuleTests {
    @Test("A dependency on itself is refused")
    func selfDependency() throws {
        let operation = TaskOperation(name: "a") {}
        let error = refusal { try operation.addDependency(operation) }
        #expect(error?.dependencyCycle == ["a", "a"])
        #expect(operation.dependencies == [])
    }

    @Test("A cycle is refused where it would be closed, with every operation on it, and nothing changes")
    func cycleIsNamed() async throws {
        let operations = ["a", "b", "c", "d"].map { TaskOperation(name: $0) {} }
        let aside = TaskOperation(name: "aside") {}
        for number in 1..<4 {
            try operations[number].addDependency(aside)
            try operations[number].addDependency(operations[number - 1])
        }
        let error = refusal { try operations[0].addDependency(operations[3]) }
        #expect(error?.dependencyCycle == ["a", "d", "c", "b", "a"])
        #expect(operations[0].dependencies == [])
        let queue = TaskOperationQueue()
        try queue.addOperations(operations + [aside])
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("The same among operations that are added, on several queues")
    func cycleOverQueues() async throws {
        let queues = (0..<3).map { _ in TaskOperationQueue(.init(isSuspended: true)) }
        let operations = queues.enumerated().map { number, queue in queue.addOperation(name: "\(number)") {} }
        try operations[1].addDependency(operations[0])
        try operations[2].addDependency(operations[1])
        let error = refusal { try operations[0].addDependency(operations[2]) }
        #expect(error?.dependencyCycle == ["0", "2", "1", "0"])
        for queue in queues { queue.isSuspended = false }
        for operation in operations { try await operation.value }
    }

    @Test("Diamonds, removed edges and finished dependencies are not refused")
    func whatIsNoCycle() async throws {
        let operations = ["a", "b", "c", "d"].map { TaskOperation(name: $0) {} }
        let (a, b, c, d) = (operations[0], operations[1], operations[2], operations[3])
        for middle in [b, c] {
            try middle.addDependency(a)
            try d.addDependency(middle)
        }
        try d.addDependency(a)
        try b.removeDependency(a)
        try a.addDependency(b)
        let queue = TaskOperationQueue()
        try queue.addOperations([a, b])
        try await a.value
        try queue.addOperations([c, d])
        try await d.value
    }

    @Test("Of two threads that close a cycle together, one is refused", arguments: 0..<50)
    func closingTogether(_: Int) async throws {
        let (a, b) = (TaskOperation(name: "a") {}, TaskOperation(name: "b") {})
        async let first = Result { () throws(TaskOperationError) in try a.addDependency(b) }
        async let second = Result { () throws(TaskOperationError) in try b.addDependency(a) }
        let refusals = await [first, second].count { (try? $0.get()) == nil }
        #expect(refusals == 1)
    }

    @Test("A body that awaits its dependent is refused with the names of the operations")
    func awaitingADependent() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let end = TaskOperation(name: "end") {}
        let waiter = TaskOperation(name: "waiter") { try await end.value }
        let middle = TaskOperation(name: "middle", dependencies: [waiter]) {}
        try end.addDependency(middle)
        try queue.addOperations([waiter, middle, end])
        queue.isSuspended = false
        _ = await waiter.result
        #expect(waiter.refusal?.waitCycle == ["waiter", "end", "middle", "waiter"])
        try await end.value
    }

    @Test("A dependency on a body that awaits the dependent is refused, in either order")
    func dependingOnAWaiter() async throws {
        let gate = Gate()
        let awaited = TaskOperation(name: "awaited") { 1 }
        let waiter = TaskOperationQueue().addOperation(name: "waiter") {
            await gate.pass()
            return try await awaited.value
        }
        await gate.waitForArrivals(1)
        gate.open()
        await until { waiter.debugDescription.contains("awaits \"awaited\"") }
        let error = refusal { try awaited.addDependency(waiter) }
        #expect(error?.dependencyCycle == ["awaited", "waiter", "awaited"])
        try TaskOperationQueue().addOperation(awaited)
        #expect(try await waiter.value == 1)
    }
}
