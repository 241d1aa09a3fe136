import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Rule 6: cancelling", .inTurns, .endsInTime)
struct CancellationRuleTests {
    @Test("Cancelled before the start, the body never runs", .schedules(20))
    func beforeTheStart() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let runs = Recorder<String>()
        let added = queue.addOperation { runs.record("added") }
        let notAdded = TaskOperation { runs.record("not added") }
        added.cancel()
        notAdded.cancel()
        try queue.addOperation(notAdded)
        queue.isSuspended = false
        await #expect(throws: CancellationError.self) { try await added.value }
        await #expect(throws: CancellationError.self) { try await notAdded.value }
        #expect(added.isCancelled && notAdded.isCancelled)
        await untilOthersWait()
        #expect(runs.events == [])
    }

    @Test("On the main queue, cancelled by the main actor before the body begins, the body never runs", .prompt)
    @MainActor
    func onTheMainQueue() async throws {
        let runs = Recorder<String>()
        for _ in 0..<20 {
            let input = TaskOperationQueue().addOperation { 1 }
            try await input.waitUntilFinished()
            let operations: [AnyTaskOperation] = [
                TaskOperationQueue.main.addOperation { runs.record("closure") },
                TaskOperationQueue.main.addOperation { @MainActor in runs.record("isolated closure") },
                TaskOperationQueue.main.addOperation(after: input) { _ in runs.record("with input") },
            ]
            // Gives a worker time to wait for the main actor, which this test occupies.
            for _ in 0..<200 { yieldThread() }
            #expect(operations.map(\.state) == [.ready, .ready, .ready])
            for operation in operations { operation.cancel() }
            #expect(operations.map(\.state) == [.finished, .finished, .finished])
            try await TaskOperationQueue.main.waitUntilAllOperationsAreFinished()
        }
        #expect(runs.events == [])
    }

    @Test("Cancelled while it executes, the body is told and decides")
    func whileExecuting() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let gate = Gate()
        let obeys = queue.addOperation {
            await gate.pass()
            try Task.checkCancellation()
        }
        let ignores = queue.addOperation {
            await gate.pass()
            return Task.isCancelled
        }
        let fails = queue.addOperation {
            await gate.pass()
            throw WorkFailed()
        }
        await gate.waitForArrivals(3)
        for operation in [obeys, ignores, fails] as [AnyTaskOperation] {
            operation.cancel()
            #expect(operation.isCancelled && operation.isExecuting)
        }
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(obeys.failure is CancellationError)
        #expect(try await ignores.value)
        #expect(ignores.isCancelled)
        #expect(fails.failure is WorkFailed)
    }

    @Test("Cancellation reaches the child tasks and the handlers of an executing body")
    func reachesWhatTheBodyDoes() async throws {
        let gate = Gate()
        let heard = Recorder<String>()
        let operation = TaskOperationQueue().addOperation {
            await withTaskCancellationHandler {
                async let child: Bool = {
                    await gate.pass()
                    return Task.isCancelled
                }()
                return await child
            } onCancel: {
                heard.record("cancelled")
            }
        }
        await gate.waitForArrivals(1)
        operation.cancel()
        operation.cancel()
        #expect(heard.events == ["cancelled"])
        gate.open()
        #expect(try await operation.value)
    }

    @Test("Cancelling twice, or after the end, changes nothing", .schedules(20))
    func twiceOrTooLate() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let calls = Recorder<String>()
        let pending = queue.addOperation {}
        pending.addCompletionHandler { calls.record("pending") }
        pending.cancel()
        pending.cancel()
        queue.isSuspended = false
        let ended = queue.addOperation { 1 }
        ended.addCompletionHandler { calls.record("ended") }
        #expect(try await ended.value == 1)
        ended.cancel()
        #expect(!ended.isCancelled)
        #expect(try await ended.value == 1)
        _ = await pending.result
        await until { calls.events.count >= 2 }
        await untilOthersWait()
        #expect(calls.events.sorted() == ["ended", "pending"])
    }

    @Test("Cancelling one leaves those alone that run before and after it")
    func leavesOthersAlone() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let cancelled = Recorder<Int>()
        for number in 0..<300 {
            queue.addOperation {
                if Task.isCancelled { cancelled.record(-number) }
                if number.isMultiple(of: 2) { AnyTaskOperation.current?.cancel() }
                if Task.isCancelled { cancelled.record(number) }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(cancelled.events == Array(stride(from: 0, to: 300, by: 2)))
    }

    @Test("CancelAllOperations cancels all queued and executing operations, and none that is added later")
    func cancelAll() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let executing = queue.addOperation {
            await gate.pass()
            return Task.isCancelled
        }
        await gate.waitForArrivals(1)
        let pending = (0..<10).map { _ in queue.addOperation {} }
        queue.cancelAllOperations()
        let later = queue.addOperation { Task.isCancelled }
        #expect(pending.allSatisfy { $0.isFinished && $0.isCancelled })
        gate.open()
        #expect(try await executing.value)
        #expect(try await !later.value)
        #expect(!later.isCancelled)
    }

    @Test("No operation starts because a dependency was cancelled before it by the same call")
    func cancelAllOfGraph() async throws {
        let runs = ConcurrencyMeter()
        for _ in 0..<200 {
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
            let neverStarted = TaskOperation {}
            let first = queue.addOperation(dependencies: [neverStarted]) { runs.enter() }
            let barrier = queue.addBarrier(dependencies: [first]) { runs.enter() }
            for _ in 0..<20 { queue.addOperation(dependencies: [first, barrier]) { runs.enter() } }
            queue.cancelAllOperations()
            #expect(queue.operationCount == 0)
            #expect(try await queue.run { "the queue goes on" } == "the queue goes on")
        }
        #expect(runs.total == 0)
    }
}
