import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Limits of a priority", .inTurns, .endsInTime)
struct PriorityCapTests {
    @Test("No more of a priority execute at once than may, and others find room", .schedules(6))
    func room() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        queue.setMaxConcurrentOperationCount(1, for: .background)
        let (background, all) = (ConcurrencyMeter(), ConcurrencyMeter())
        for number in 0..<60 {
            let isBackground = number < 40
            queue.addOperation(priority: isBackground ? .background : .high) {
                await all.measure {
                    await (isBackground ? background : ConcurrencyMeter()).measure {
                        for _ in 0..<3 { await Task.yield() }
                    }
                }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(background.most == 1 && all.most <= 3 && all.total == 60)
    }

    @Test("Lower priorities start while a priority is at its limit, and it continues when the limit is raised")
    func live() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        queue.setMaxConcurrentOperationCount(0, for: .high)
        #expect(queue.maxConcurrentOperationCount(for: .high) == 0)
        #expect(queue.maxConcurrentOperationCount(for: .low) == .max)
        let high = queue.addOperation(priority: .high) { 1 }
        #expect(try await queue.addOperation(priority: .low) { 2 }.value == 2)
        #expect(high.isReady)
        queue.setMaxConcurrentOperationCount(1, for: .high)
        #expect(try await high.value == 1)
    }

    @Test("An operation that becomes urgent counts for its new priority")
    func changedPriority() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        queue.setMaxConcurrentOperationCount(1, for: .background)
        let gate = Gate()
        let first = queue.addOperation(priority: .background) { await gate.pass() }
        await gate.waitForArrivals(1)
        let second = queue.addOperation(priority: .background) { await gate.pass() }
        let third = queue.addOperation(priority: .background) { await gate.pass() }
        first.priority = .high
        await gate.waitForArrivals(2)
        #expect(second.isExecuting && third.isReady)
        third.priority = .medium
        await gate.waitForArrivals(3)
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("A body that awaits an operation of its priority lends the permit of the priority, too")
    func lending() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        queue.setMaxConcurrentOperationCount(1, for: .medium)
        let outer = queue.addOperation {
            try await queue.addOperation { try await queue.addOperation { 5 }.value }.value
        }
        #expect(try await outer.value == 5)
    }

    @Test("A released queue finishes operations whose priority has a limit of 0")
    func released() async throws {
        var queue: TaskOperationQueue? = TaskOperationQueue()
        queue!.setMaxConcurrentOperationCount(0, for: .medium)
        let held = queue!.addOperation { 3 }
        queue = nil
        #expect(try await held.value == 3)
    }

    @Test("A negative number stops the process with a message", .prompt)
    func badValue() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            TaskOperationQueue().setMaxConcurrentOperationCount(-1, for: .low)
        }
        #expect(result.errorText.contains("maxConcurrentOperationCount is -1 for a priority; it must not be negative"))
    }
}
