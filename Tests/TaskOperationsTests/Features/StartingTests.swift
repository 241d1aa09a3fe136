import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Starting by hand, and running in one call", .inTurns, .endsInTime)
struct StartingTests {
    @Test("One that is started by hand runs at once in a task of its own priority, beside any number of others")
    func startsAtOnce() async throws {
        let gate = Gate()
        let operations = (0..<100).map { _ in
            TaskOperation(priority: .high) {
                await gate.pass()
                return Task.currentPriority
            }
        }
        for operation in operations { try operation.start() }
        await gate.waitForArrivals(100)
        gate.open()
        for operation in operations { #expect(try await operation.value == .high) }
    }

    @Test("One that was cancelled before is started without effect", .schedules(20))
    func startingACancelledOne() async throws {
        let runs = Recorder<Bool>()
        let operation = TaskOperation { runs.record(true) }
        operation.cancel()
        try operation.start()
        await untilOthersWait()
        #expect(operation.failure is CancellationError)
        #expect(runs.events == [])
    }

    @Test("An operation that was started without a queue can be cancelled and awaited, and its dependents start")
    func isAnOperationAsEver() async throws {
        let gate = Gate()
        let operation = TaskOperation {
            await gate.pass()
            return Task.isCancelled
        }
        let dependent = TaskOperationQueue().addOperation(after: operation) { @concurrent in !$0 }
        try operation.start()
        await gate.waitForArrivals(1)
        #expect(operation.isExecuting)
        operation.cancel()
        gate.open()
        #expect(try await operation.value)
        #expect(try await dependent.value == false)
    }

    @Test("run returns the value, or throws the error of the body")
    func runReturnsTheValue() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let dependency = queue.addOperation { throw WorkFailed() }
        #expect(
            try await queue.run(name: "a", dependencies: [dependency]) { AnyTaskOperation.current?.name } == "a")
        await #expect(throws: WorkFailed(number: 1)) { try await queue.run { throw WorkFailed(number: 1) } }
    }

    @Test("run passes the cancellation of its caller on to an executing body")
    func runPassesCancellationOn() async throws {
        let queue = TaskOperationQueue()
        let started = Gate()
        let task = Task {
            try await queue.run {
                started.open()
                // The caller may not have begun to wait yet. Then the body is cancelled a moment later.
                while !Task.isCancelled { await Task.yield() }
                return true
            }
        }
        await started.pass()
        task.cancel()
        #expect(try await task.value)
    }

    @Test("run ends at once where its caller is cancelled before the start")
    func runIsCancelledBeforeTheStart() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let task = Task { try await queue.run { true } }
        await until { queue.operationCount != 0 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(queue.operationCount == 0)
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await queue.run { true }
        }
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test("run takes the priority of its caller, where none is given")
    func runTakesThePriorityOfItsCaller() async throws {
        let queue = TaskOperationQueue()
        let seen = try await Task(priority: .low) {
            let own = try await queue.run { AnyTaskOperation.current!.priority }
            let given = try await queue.run(.priority(.background)) { AnyTaskOperation.current!.priority }
            return [own, given]
        }.value
        #expect(seen[1] == .background)
        // Awaiting the caller's task raises its priority, possibly before the caller adds the operation.
        #expect(seen[0] == .low || seen[0] == .medium)
    }

    @Test("Cancelling the task that awaits a value ends the wait, and not the operation")
    func cancellingAWait() async throws {
        let gate = Gate()
        let operation = TaskOperationQueue().addOperation {
            await gate.pass()
            return Task.isCancelled
        }
        let task = Task { try await operation.value }
        let patient = Task { try await operation.result.get() }
        await gate.waitForArrivals(1)
        task.cancel()
        patient.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(operation.isExecuting)
        gate.open()
        #expect(try await patient.value == false)
    }
}
