import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Task locals that a queue carries", .inTurns, .endsInTime)
struct TaskLocalTests {
    @Test("A body sees the values as they were where its operation was added")
    func carriesValues() async throws {
        let queue = TaskOperationQueue(
            .init(
                maxConcurrentOperationCount: 1, isSuspended: true,
                taskLocals: [InheritedTaskLocal($request), InheritedTaskLocal($depth)]))
        let operations = (0..<20).map { number in
            $request.withValue("\(number)") {
                $depth.withValue(number) { queue.addOperation { [request, "\(depth)"] } }
            }
        }
        let outside = queue.addOperation { [request, "\(depth)"] }
        queue.isSuspended = false
        for (number, operation) in operations.enumerated() {
            #expect(try await operation.value == ["\(number)", "\(number)"])
        }
        #expect(try await outside.value == ["none", "0"])
    }

    @Test("It is the place of adding that counts, not the place of making, for each way of adding")
    func placeOfAdding() async throws {
        let queue = TaskOperationQueue(.init(taskLocals: [InheritedTaskLocal($request)]))
        let operations = $request.withValue("making") {
            (0..<4).map { _ in TaskOperation { request } }
        }
        try $request.withValue("adding") {
            try queue.addOperation(operations[0])
            try queue.addBarrier(operations[1])
            try queue.addOperations([operations[2], operations[3]])
        }
        for operation in operations { #expect(try await operation.value == "adding") }
    }

    @Test("Child tasks and later parts of a body see them, and the next body does not")
    func withinABody() async throws {
        let queue = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 1, taskLocals: [InheritedTaskLocal($request)]))
        let operation = $request.withValue("a") {
            queue.addOperation {
                await Task.yield()
                async let child = request
                return await [request, child]
            }
        }
        let next = queue.addOperation { request }
        #expect(try await operation.value == ["a", "a"])
        #expect(try await next.value == "none")
    }

    @Test("Bodies do not have task locals that the queue does not inherit")
    func withoutCarrying() async throws {
        let operation = $request.withValue("a") { TaskOperationQueue().addOperation { request } }
        #expect(try await operation.value == "none")
    }

    @Test("An operation that a body adds has the task locals of that body")
    func nested() async throws {
        let queue = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 1, taskLocals: [InheritedTaskLocal($request)]))
        let operation = $request.withValue("outer") {
            queue.addOperation { try await queue.run { try await queue.run { request } } }
        }
        #expect(try await operation.value == "outer")
    }

    @Test("The values are released when the operation has ended")
    func valuesAreReleased() async throws {
        let freed = Gate()
        let queue = TaskOperationQueue(.init(taskLocals: [InheritedTaskLocal($witness)]))
        let operation = $witness.withValue(Witness(freed)) { queue.addOperation { witness != nil } }
        #expect(try await operation.value)
        await freed.pass()
    }
}

@TaskLocal private var request = "none"
@TaskLocal private var depth = 0
@TaskLocal private var witness: Witness?
