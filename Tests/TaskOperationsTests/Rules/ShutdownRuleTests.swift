import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 19: shutdown", .inTurns, .endsInTime)
struct ShutdownRuleTests {
    @Test("Operations that are added afterwards fail at once, in each way of adding, and do not run", .schedules(20))
    func whatIsAddedAfterwards() async throws {
        let queue = TaskOperationQueue(name: "closed")
        queue.shutDown()
        let runs = Recorder<String>()
        let (single, barrier) = (TaskOperation(name: "b") {}, TaskOperation(name: "c") {})
        let batch = ["d", "e"].map { name in TaskOperation(name: name) { runs.record(name) } }
        let made = queue.addOperation(name: "a") { runs.record("a") }
        try queue.addOperation(single)
        try queue.addBarrier(barrier)
        try queue.addOperations(batch)
        for (operation, name) in zip([made, single, barrier] + batch, ["a", "b", "c", "d", "e"]) {
            #expect(operation.isFinished && !operation.isCancelled)
            #expect(operation.refusal?.queueShutDown == name)
        }
        #expect(made.refusal?.description == "\"a\" was added to queue \"closed\" after its shutdown.")
        #expect(queue.operationCount == 0)
        await untilOthersWait()
        #expect(runs.events == [])
    }

    @Test("Operations that were added before are drained, also suspended ones and those behind barriers")
    func draining() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let dependency = TaskOperation {}
        let operations = [
            queue.addOperation { 0 }, queue.addOperation(dependencies: [dependency]) { 1 }, queue.addBarrier { 2 },
            queue.addOperation { 3 },
        ]
        queue.shutDown(.drain)
        #expect(queue.operationCount == 4)
        queue.isSuspended = false
        try dependency.start()
        for (number, operation) in operations.enumerated() { #expect(try await operation.value == number) }
    }

    @Test("With .cancel, operations that were added before are cancelled, also on a suspended queue")
    func cancelling() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let executing = queue.addOperation {
            await gate.pass()
            return Task.isCancelled
        }
        await gate.waitForArrivals(1)
        queue.isSuspended = true
        let pending = [queue.addOperation {}, queue.addBarrier {}]
        queue.shutDown(.cancel)
        #expect(pending.allSatisfy { $0.isFinished && $0.failure is CancellationError })
        #expect(queue.operationCount == 1)
        gate.open()
        #expect(try await executing.value)
        #expect(queue.operationCount == 0)
    }

    @Test("Dependents of a refused operation start, and its handlers are called")
    func dependentsOfTheRefused() async throws {
        let queue = TaskOperationQueue()
        queue.shutDown()
        let called = Gate()
        let refused = TaskOperation(name: "refused") { 1 }
        refused.addCompletionHandler { called.open() }
        let other = TaskOperationQueue()
        let ordered = other.addOperation(dependencies: [refused]) { true }
        let needing = other.addOperation(after: refused) { @concurrent in $0 }
        try queue.addOperation(refused)
        await called.pass()
        #expect(try await ordered.value)
        _ = await needing.result
        let cause = needing.refusal?.failedDependency?.error as? TaskOperationError
        #expect(cause?.queueShutDown == "refused")
    }

    @Test("A body that adds to its queue after the shutdown is told so by the operation")
    func addingFromABody() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let outer = queue.addOperation {
            await gate.pass()
            return try await queue.addOperation(name: "inner") { 1 }.value
        }
        await gate.waitForArrivals(1)
        queue.shutDown()
        gate.open()
        _ = await outer.result
        #expect(outer.refusal?.queueShutDown == "inner")
    }

    @Test("The shutdown waits for operations that were added before, within its time")
    func waitingForTheEnd() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let operations = (0..<3).map { _ in queue.addOperation { await gate.pass() } }
        let ended = Task { try await queue.shutDown(cancellingAfter: .seconds(5), clock: clock) }
        await until { clock.sleeperCount == 1 }
        let late = queue.addOperation {}
        clock.advance(by: .seconds(4))
        gate.open()
        try await ended.value
        for operation in operations { try await operation.value }
        #expect(late.isFinished && late.failure is TaskOperationError)
        #expect(queue.operationCount == 0)
    }

    @Test(
        "The shutdown cancels the remaining operations at the end of its time, and waits for them",
        .endsInTime, arguments: [false, true])
    func timeIsOver(isSuspended: Bool) async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (gate, cancelled) = (Gate(), Gate())
        let executing = queue.addOperation {
            await withTaskCancellationHandler {
                await gate.pass()
            } onCancel: {
                cancelled.open()
            }
        }
        await gate.waitForArrivals(1)
        queue.isSuspended = isSuspended
        let pending = queue.addOperation {}
        let ended = Task { try await queue.shutDown(cancellingAfter: .seconds(5), clock: clock) }
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(5))
        await #expect(throws: CancellationError.self) { try await pending.value }
        // The queue cancels its operations one after the other.
        await cancelled.pass()
        #expect(!executing.isFinished)
        gate.open()
        try await executing.value
        try await ended.value
    }

    @Test("Cancelling the task of the shutdown cancels the remaining operations at once")
    func cancelledWait() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operation = queue.addOperation {}
        let ended = Task { try await queue.shutDown(cancellingAfter: .seconds(1000), clock: ManualClock()) }
        ended.cancel()
        try await ended.value
        #expect(operation.isCancelled && operation.isFinished)
    }

    @Test("A body that shuts its own queue down does not wait for itself, and nothing is cancelled")
    func fromWithin() async throws {
        let queue = TaskOperationQueue(name: "own", maxConcurrentOperationCount: 1)
        let operation = queue.addOperation(name: "closing") { () -> [String?]? in
            do throws(TaskOperationError) {
                try await queue.shutDown(cancellingAfter: .zero)
                return nil
            } catch {
                return error.waitCycle
            }
        }
        let other = queue.addOperation {}
        #expect(try await operation.value != nil)
        try? await other.value
        #expect(!operation.isCancelled && !other.isCancelled)
    }

    @Test("An empty queue is shut down at once")
    func emptyQueue() async throws {
        let queue = TaskOperationQueue()
        try await queue.shutDown(cancellingAfter: .seconds(1000), clock: ManualClock())
        let late = queue.addOperation {}
        #expect(late.failure is TaskOperationError)
    }
}
