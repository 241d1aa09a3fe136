import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Faults of other libraries: the ends of operations", .inTurns, .endsInTime)
struct FailureTestsEndings {
    @Test("Elsewhere an end before the start, or a second one, crashed")
    func endingBeforeTheStart() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let runs = Recorder<Bool>()
        let operations = (0..<100).map { _ in TaskOperation { runs.record(true) } }
        for operation in operations[..<50] { operation.cancel() }
        try queue.addOperations(operations)
        for operation in operations[50...] { operation.cancel() }
        for operation in operations { operation.cancel() }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy { $0.state == .finished && $0.failure is CancellationError })
        #expect(runs.events == [])
    }

    @Test("Elsewhere states were seen in another order than pending, ready, executing, finished")
    func statesComeInOrder() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        for _ in 0..<50 {
            let dependency = TaskOperation { await Task.yield() }
            let operation = TaskOperation(dependencies: [dependency]) { await Task.yield() }
            // The task reads no state from before the addition, which may be ready although the next one is waiting.
            try queue.addOperations([operation, dependency])
            let watching = Task {
                var seen = [operation.state]
                while seen.last != .finished {
                    let state = operation.state
                    if state != seen.last { seen.append(state) }
                    await Task.yield()
                }
                return seen
            }
            let seen = await watching.value
            let order: [TaskOperationState] = [.waiting, .ready, .executing, .finished]
            #expect(seen == order.filter(seen.contains))
        }
    }

    @Test("A handler that was added during the end was never called")
    func attachingWhileEnding() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        for _ in 0..<300 {
            let calls = ConcurrencyMeter()
            let operation = queue.addOperation {}
            await withTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        operation.addCompletionHandler { calls.enter() }
                        _ = await operation.result
                    }
                }
            }
            let dependent = queue.addOperation(dependencies: [operation]) {}
            try await dependent.value
            await until { calls.total == 4 }
        }
    }

    @Test("Elsewhere cancellation did not reach the wrapped work, from an operation, a queue or a caller")
    func cancellationReachesTheWork() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let reached = Recorder<Int>()
        let started = Gate()
        @Sendable func work(_ number: Int) async {
            let cancelled = Gate()
            await withTaskCancellationHandler {
                await started.pass()
                await cancelled.pass()
                reached.record(number)
            } onCancel: {
                cancelled.open()
            }
        }
        let operation = queue.addOperation { await work(1) }
        let caller = Task { try await queue.run { await work(2) } }
        queue.addOperation { await work(3) }
        started.open()
        await started.waitForArrivals(3)
        operation.cancel()
        try await operation.value
        caller.cancel()
        try await caller.value
        queue.cancelAllOperations()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(reached.events == [1, 2, 3])
    }
}
