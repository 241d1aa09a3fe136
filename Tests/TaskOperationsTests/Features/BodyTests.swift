import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Bodies that are types", .inTurns, .endsInTime)
struct BodyTests {
    @Test("A body can be a type, with or without a value, that is added or made first")
    func bodyTypes() async throws {
        let queue = TaskOperationQueue()
        let doubling = queue.addOperation(Doubling(number: 21), name: "double", .priority(.high))
        #expect(try await doubling.value == 42)
        #expect((doubling.name, doubling.priority) == ("double", .high))
        let dependent = TaskOperation(Doubling(number: 4), dependencies: [doubling])
        #expect(dependent.dependencies == [doubling])
        try queue.addOperation(dependent)
        #expect(try await dependent.value == 8)
        let failing = queue.addOperation(Failing(number: 5))
        await #expect(throws: WorkFailed(number: 5)) { try await failing.value }
    }

    @Test("A body that is a type is told of cancellation")
    func bodyTypeIsCancelled() async throws {
        let gate = Gate()
        let operation = TaskOperationQueue().addOperation(Asking(gate: gate))
        await gate.waitForArrivals(1)
        operation.cancel()
        gate.open()
        #expect(try await operation.value)
    }
}

private struct Doubling: TaskOperationBody {
    let number: Int
    func main() async throws -> Int { number * 2 }
}

private struct Failing: TaskOperationBody {
    let number: Int
    func main() async throws { throw WorkFailed(number: number) }
}

private struct Asking: TaskOperationBody {
    let gate: Gate
    func main() async -> Bool {
        await gate.pass()
        return Task.isCancelled
    }
}
