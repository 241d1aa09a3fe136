import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 11: waiting for all", .inTurns, .endsInTime)
struct WaitForAllRuleTests {
    @Test("It returns when all operations have finished, with any outcome, and the count is 0")
    func returnsWhenEmpty() async throws {
        for width in [1, 4] {
            let queue = TaskOperationQueue(maxConcurrentOperationCount: width)
            let operations = (0..<300).map { number in
                queue.addOperation {
                    await Task.yield()
                    if number.isMultiple(of: 3) { throw WorkFailed() }
                }
            }
            operations[299].cancel()
            try await queue.waitUntilAllOperationsAreFinished()
            #expect(queue.operationCount == 0)
            #expect(queue.operations == [])
            #expect(operations.allSatisfy { $0.isFinished })
        }
    }

    /// The wait ends within the call that ends the last operation.
    @Test(
        "What depends on the operations on other queues is ready when it returns",
        arguments: [false, true], [false, true])
    func dependentsAreReady(isCancelled: Bool, hasHandler: Bool) async throws {
        let (queue, other) = (TaskOperationQueue(), TaskOperationQueue(.init(isSuspended: true)))
        let gate = Gate()
        let last = queue.addOperation(dependencies: isCancelled ? [TaskOperation {}] : []) { await gate.pass() }
        if hasHandler, !isCancelled { last.addCompletionHandler {} }
        let dependent = other.addOperation(dependencies: [last]) {}
        let wait = Task(executorPreference: InlineExecutor()) {
            try await queue.waitUntilAllOperationsAreFinished()
            return dependent.waitingReasons
        }
        if isCancelled { last.cancel() } else { gate.open() }
        let reasons = try await wait.value
        #expect(reasons.count == 1 && reasons.allSatisfy { if case .suspended = $0 { true } else { false } })
        other.cancelAllOperations()
    }

    @Test("It does not return while one is unfinished: executing, pending, or suspended", .schedules(20))
    func doesNotReturnEarly() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let gate = Gate()
        let dependency = TaskOperation {}
        let executing = queue.addOperation { await gate.pass() }
        let pending = queue.addOperation(dependencies: [dependency]) {}
        let returned = Recorder<Bool>()
        async let waiting: Void = {
            try await queue.waitUntilAllOperationsAreFinished()
            returned.record(true)
        }()
        await gate.waitForArrivals(1)
        gate.open()
        try await executing.value
        await untilOthersWait()
        #expect(returned.events == [])
        queue.isSuspended = true
        let end = Task.immediate { try await dependency.value }
        try dependency.start()
        // A task that began to wait before the start continues after the dependent operations are ready.
        try await end.value
        await untilOthersWait()
        #expect(returned.events == [])
        #expect(pending.state == .ready)
        queue.isSuspended = false
        try await waiting
        #expect(pending.isFinished)
    }

    @Test("It waits for operations that bodies add meanwhile")
    func whatIsAddedMeanwhile() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let runs = ConcurrencyMeter()
        @Sendable func add(_ depth: Int) {
            queue.addOperation {
                await runs.measure { await Task.yield() }
                if depth > 0 { for _ in 0..<2 { add(depth - 1) } }
            }
        }
        add(8)
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(runs.total == 511)
        #expect(queue.operationCount == 0)
    }

    @Test("Many tasks can wait at once, and a wait for an empty queue returns at once")
    func manyWait() async throws {
        let queue = TaskOperationQueue()
        try await queue.waitUntilAllOperationsAreFinished()
        let gate = Gate()
        let operation = queue.addOperation { await gate.pass() }
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 {
                group.addTask {
                    try await queue.waitUntilAllOperationsAreFinished()
                    #expect(operation.isFinished)
                }
            }
            await gate.waitForArrivals(1)
            gate.open()
            try await group.waitForAll()
        }
    }

    @Test("The count is the number of unfinished operations, and decreases before an end is visible")
    func operationCount() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let first = queue.addOperation {}
        let second = queue.addOperation { await gate.pass() }
        try await first.value
        #expect(queue.operationCount == 1)
        #expect(queue.operations == [second])
        gate.open()
        try await second.value
        #expect(queue.operationCount == 0)
    }
}
