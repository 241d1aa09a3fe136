import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 8: suspension", .inTurns, .endsInTime)
struct SuspensionRuleTests {
    @Test("A suspended queue starts nothing, and when resumed starts in order", .schedules(20))
    func startsNothing() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let starts = Recorder<Int>()
        for number in 0..<100 {
            queue.addOperation(priority: number < 50 ? .low : .high) { starts.record(number) }
        }
        queue.maxConcurrentOperationCount = 2
        queue.maxConcurrentOperationCount = 1
        await untilOthersWait()
        #expect(starts.events == [])
        #expect(queue.operations.allSatisfy { $0.isReady })
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == Array(50..<100) + Array(0..<50))
    }

    @Test("Executing operations end, and ready ones wait", .schedules(20))
    func executingGoesOn() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let executing = queue.addOperation {
            await gate.pass()
            return Task.isCancelled
        }
        let waiting = queue.addOperation {}
        await gate.waitForArrivals(1)
        queue.isSuspended = true
        gate.open()
        #expect(try await executing.value == false)
        await untilOthersWait()
        #expect(waiting.state == .ready)
        queue.isSuspended = false
        try await waiting.value
    }

    @Test("On a suspended queue, a body that awaited an operation continues")
    func lentPermitComesBack() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let executing = try await LentBody(on: queue, until: gate)
        let waiting = queue.addOperation(dependencies: [executing.awaited]) {}
        queue.isSuspended = true
        // A task that began to wait before the end continues after the dependent operations are ready.
        let end = Task.immediate { [awaited = executing.awaited] in try await awaited.value }
        gate.open()
        try await executing.body.value
        try await end.value
        #expect(waiting.state == .ready)
        queue.isSuspended = false
        try await waiting.value
    }

    @Test("Operations that become ready on a suspended queue wait, too", .schedules(20))
    func becomingReady() async throws {
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let dependency = TaskOperation {}
        let dependent = queue.addOperation(dependencies: [dependency]) {}
        let barrier = queue.addBarrier {}
        let behind = queue.addOperation {}
        let end = Task.immediate { try await dependency.value }
        try dependency.start()
        // A task that began to wait before the start continues after the dependent operations are ready.
        try await end.value
        #expect(dependent.state == .ready)
        dependent.cancel()
        await untilOthersWait()
        #expect(!barrier.isExecuting && !barrier.isFinished)
        barrier.cancel()
        await untilOthersWait()
        #expect(behind.state == .ready)
        queue.isSuspended = false
        try await behind.value
    }

    @Test("No operation is lost if a busy queue is suspended and resumed")
    func switchingToAndFro() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let (meter, meeting) = (ConcurrencyMeter(), Gate())
        for _ in 0..<2 { queue.addOperation { await meter.measure { await meeting.pass() } } }
        await meeting.waitForArrivals(2)
        meeting.open()
        for number in 0..<1000 {
            queue.addOperation { await meter.measure { await Task.yield() } }
            if number.isMultiple(of: 10) {
                queue.isSuspended.toggle()
                await Task.yield()
            }
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(meter.total == 1002)
        #expect(meter.most == 2)
    }
}
