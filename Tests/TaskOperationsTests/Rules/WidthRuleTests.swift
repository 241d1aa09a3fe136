import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 2: the width", .inTurns, .endsInTime)
struct WidthRuleTests {
    @Test("As many bodies execute as the width says, and never more", .schedules(20), arguments: [1, 2, 3, 50])
    func widthIsUsedAndNeverExceeded(width: Int) async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: width)
        let meter = ConcurrencyMeter()
        let gate = Gate()
        for _ in 0..<300 {
            queue.addOperation {
                await meter.measure {
                    await gate.pass()
                    await Task.yield()
                }
            }
        }
        await gate.waitForArrivals(width)
        await untilOthersWait()
        #expect(meter.now == width)
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(meter.most == width)
        #expect(meter.total == 300)
    }

    @Test("An unlimited queue has none wait for another")
    func unlimitedWidth() async throws {
        let queue = TaskOperationQueue(
            maxConcurrentOperationCount: .max)
        let gate = Gate()
        for _ in 0..<500 { queue.addOperation { await gate.pass() } }
        await gate.waitForArrivals(500)
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("Raising the width starts work at once", .schedules(20))
    func raisingStartsWork() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        for _ in 0..<5 { queue.addOperation { await gate.pass() } }
        await gate.waitForArrivals(1)
        await untilOthersWait()
        #expect(gate.arrivals == 1)
        queue.maxConcurrentOperationCount = 4
        await gate.waitForArrivals(4)
        await untilOthersWait()
        #expect(gate.arrivals == 4)
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("A lower width stops no executing operation, and holds back the next ones", .schedules(20))
    func loweringStopsNone() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let gate = Gate()
        let executing = (0..<3).map { _ in
            queue.addOperation {
                await gate.pass()
                return Task.isCancelled
            }
        }
        await gate.waitForArrivals(3)
        queue.maxConcurrentOperationCount = 1
        let meter = ConcurrencyMeter()
        for _ in 0..<50 { queue.addOperation { await meter.measure { await Task.yield() } } }
        await untilOthersWait()
        #expect(meter.total == 0)
        gate.open()
        for operation in executing { #expect(try await operation.value == false) }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(meter.most == 1)
    }

    @Test("A body that suspends keeps its permit", .schedules(20))
    func suspendingKeepsThePermit() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        queue.addOperation { await gate.pass() }
        let second = queue.addOperation {}
        await gate.waitForArrivals(1)
        await untilOthersWait()
        #expect(second.state == .ready)
        gate.open()
        try await second.value
    }

    @Test("With a width of 0 nothing starts, until it is raised", .schedules(20))
    func widthZero() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 0)
        let operations = [queue.addOperation { 0 }, queue.addBarrier { 1 }, queue.addOperation(priority: .high) { 2 }]
        await untilOthersWait()
        #expect(operations.allSatisfy { $0.isReady })
        queue.maxConcurrentOperationCount = 1
        for (number, operation) in operations.enumerated() { #expect(try await operation.value == number) }
    }
}
