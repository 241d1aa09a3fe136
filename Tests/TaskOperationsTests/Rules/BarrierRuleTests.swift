import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 9: barriers", .inTurns, .endsInTime)
struct BarrierRuleTests {
    @Test("A barrier starts after all operations before it, also those that wait for a dependency", .schedules(20))
    func startsAfterAllBefore() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let dependency = TaskOperation {}
        let before = [queue.addOperation {}, queue.addOperation(dependencies: [dependency]) {}]
        let barrier = queue.addBarrier { before.allSatisfy(\.isFinished) }
        try await before[0].value
        await untilOthersWait()
        #expect(!barrier.isExecuting && !barrier.isFinished)
        try dependency.start()
        #expect(try await barrier.value)
    }

    @Test("Operations that are added after a barrier wait for it, with any priority", .schedules(20))
    func holdsBackWhatFollows() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let gate = Gate()
        let barrier = queue.addBarrier(.priority(.low)) { await gate.pass() }
        await gate.waitForArrivals(1)
        let after = (0..<4).map { _ in queue.addOperation(priority: .high) { barrier.isFinished } }
        await untilOthersWait()
        #expect(after.allSatisfy { !$0.isExecuting && !$0.isFinished })
        gate.open()
        for operation in after { #expect(try await operation.value) }
    }

    @Test("A barrier runs alone, in the middle of much else")
    func runsAlone() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let everything = ConcurrencyMeter()
        let (alone, meeting) = (Recorder<Int>(), Gate())
        for _ in 0..<2 { queue.addOperation { await everything.measure { await meeting.pass() } } }
        await meeting.waitForArrivals(2)
        meeting.open()
        for number in 0..<500 {
            if number.isMultiple(of: 20) {
                queue.addBarrier {
                    await everything.measure {
                        alone.record(everything.now)
                        await Task.yield()
                        alone.record(everything.now)
                    }
                }
            } else {
                queue.addOperation { await everything.measure { await Task.yield() } }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(alone.events == Array(repeating: 1, count: 50))
        #expect(everything.most > 1)
    }

    @Test("Barriers cut the order, so that priorities count only between two of them")
    func barriersCutTheOrder() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let starts = Recorder<String>()
        for stretch in 0..<3 {
            queue.addOperation(priority: .low) { starts.record("low \(stretch)") }
            queue.addOperation(priority: .high) { starts.record("high \(stretch)") }
            queue.addBarrier(.priority(.background)) { starts.record("barrier \(stretch)") }
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == (0..<3).flatMap { ["high \($0)", "low \($0)", "barrier \($0)"] })
    }

    @Test("A barrier on an empty queue starts at once, and the rest starts after a barrier that fails")
    func failingBarrier() async throws {
        let queue = TaskOperationQueue()
        let barrier = queue.addBarrier { throw WorkFailed() }
        let after = queue.addOperation { barrier.isFinished }
        #expect(try await after.value)
        #expect(barrier.failure is WorkFailed)
    }
}
