import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Waits that end with the task, or when their time is up", .inTurns, .endsInTime)
struct WaitLimitTests {
    @Test("Cancelling the task before or during a wait for a queue ends the wait, and the operations continue")
    func cancelledWaitForAQueue() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operation = queue.addOperation { 1 }
        for isLate in [false, true] {
            let isWaiting = Gate()
            let task = Task {
                if isLate { isWaiting.open() } else { await isWaiting.pass() }
                try await queue.waitUntilAllOperationsAreFinished()
            }
            if isLate { await isWaiting.pass() }
            task.cancel()
            isWaiting.open()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(queue.operationCount == 1)
        queue.isSuspended = false
        #expect(try await operation.value == 1)
    }

    @Test("Waits end at the end of their time on any clock, and the awaited operations continue")
    func timeIsUp() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operation = queue.addOperation(name: "slow") { 1 }
        let waits: [@Sendable () async throws -> Void] = [
            { try await operation.waitUntilFinished() },
            { _ = try await operation.value },
            { try await queue.waitUntilAllOperationsAreFinished() },
        ]
        let tasks = waits.map { wait in Task { try await withTimeout(.seconds(5), clock: clock) { try await wait() } } }
        let time = Task {
            while !Task.isCancelled {
                clock.advance(by: .seconds(1))
                await Task.yield()
            }
        }
        defer { time.cancel() }
        for task in tasks { await waitTimeout { try await task.value } }
        #expect(queue.operationCount == 1)
        queue.isSuspended = false
        #expect(try await withTimeout(.seconds(600)) { try await operation.value } == 1)
    }

    @Test("After very many cancelled waits for a queue, the remaining one ends with the queue")
    func manyWaits() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        queue.addOperation {}
        let staying = Task { try await queue.waitUntilAllOperationsAreFinished() }
        let tasks = (0..<2000).map { _ in Task { try await queue.waitUntilAllOperationsAreFinished() } }
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        queue.isSuspended = false
        try await staying.value
    }
}

@Suite("Queues that never lend a permit", .inTurns, .endsInTime)
struct StrictlySerialQueueTests {
    @Test("No operation starts in place of a body that awaits, for any kind of wait")
    func keepsItsPlace() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, lending: .never))
        let elsewhere = TaskOperationQueue()
        let recorder = Recorder<String>()
        let gate = Gate()
        let slow = elsewhere.addOperation { await gate.pass() }
        let first = queue.addOperation {
            recorder.record("first begins")
            try await slow.value
            recorder.record("first ends")
        }
        let second = queue.addOperation { recorder.record("second") }
        await gate.waitForArrivals(1)
        gate.open()
        try await first.value
        try await second.value
        #expect(recorder.events == ["first begins", "first ends", "second"])
    }

    @Test("A wait that needs the permit, directly or through others, is refused by name")
    func refusesByName() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, lending: .never))
        let elsewhere = TaskOperationQueue()
        let gate = Gate()
        let body = queue.addOperation(name: "body") { [gate] in
            await gate.pass()
            let direct = queue.addOperation(name: "direct") {}
            do { try await direct.value } catch let error as TaskOperationError { return error.waitCycle ?? [] }
            return []
        }
        gate.open()
        let direct = try await body.value
        #expect(direct.first == "body" && direct.last == "body" && direct.contains("direct"))
        let through = queue.addOperation(name: "outer") {
            let inner = queue.addOperation(name: "inner") {}
            let between = elsewhere.addOperation(name: "between", dependencies: [inner]) {}
            do { try await between.value } catch let error as TaskOperationError { return error.waitCycle ?? [] }
            return []
        }
        #expect(try await Set(through.value) == ["outer", "between", "inner"])
    }

    @Test("An operation that would hang a body that awaits already is refused as it is added", .schedules(10))
    func refusesTheAddition() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, lending: .never))
        let gate = Gate()
        let awaited = TaskOperation(name: "awaited") {}
        let body = queue.addOperation(name: "body") {
            gate.open()
            try await awaited.value
        }
        // All tasks share one thread, so the body reaches its wait before anything else runs.
        await gate.pass()
        #expect(throws: TaskOperationError.self) { try queue.addOperation(awaited) }
        try TaskOperationQueue().addOperation(awaited)
        try await body.value
    }
}
