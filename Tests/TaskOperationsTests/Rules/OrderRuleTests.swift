import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Rule 3: priority, then arrival", .inTurns, .endsInTime)
struct OrderRuleTests {
    private static let levels: [TaskPriority] = [.background, .low, .medium, .high, TaskPriority(rawValue: 33)]

    @Test("The higher priority starts first, and equal ones in the order of adding")
    func priorityThenArrival() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let starts = Recorder<Int>()
        for number in 0..<500 {
            queue.addOperation(priority: Self.levels[number * 7 % 5]) { starts.record(number) }
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        let expected = (0..<5).reversed().flatMap { level in (0..<500).filter { $0 * 7 % 5 == level } }
        #expect(starts.events == expected)
    }

    @Test("An operation that is added while others execute is ordered by priority")
    func laterButMoreUrgent() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let starts = Recorder<String>()
        queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        queue.addOperation(priority: .low) { starts.record("low") }
        queue.addOperation { starts.record("medium") }
        queue.addOperation(priority: .high) { starts.record("high") }
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == ["high", "medium", "low"])
    }

    @Test("Operations from many threads start in the order in which they were added")
    func manyThreads() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let starts = Recorder<AnyTaskOperation>()
        await withTaskGroup { group in
            for thread in 0..<8 {
                group.addTask {
                    for number in 0..<100 {
                        queue.addOperation(name: "\(thread) \(number)") { starts.record(AnyTaskOperation.current!) }
                    }
                }
            }
        }
        let added = queue.operations
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == added)
        for thread in 0..<8 {
            let own = added.compactMap(\.name).filter { $0.hasPrefix("\(thread) ") }
            #expect(own == (0..<100).map { "\(thread) \($0)" })
        }
    }

    @Test("Operations that become ready late start in the order of adding")
    func arrivalIsTheTimeOfAdding() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, isSuspended: true))
        let starts = Recorder<Int>()
        let held = (0..<4).map { _ in TaskOperation {} }
        for number in 0..<8 {
            queue.addOperation(dependencies: number.isMultiple(of: 2) ? [held[number / 2]] : []) {
                starts.record(number)
            }
        }
        for operation in held.reversed() {
            let end = Task.immediate { try await operation.value }
            try operation.start()
            // A task that began to wait before the start continues after the dependent operations are ready.
            try await end.value
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(starts.events == Array(0..<8))
    }

    @Test("A width above 1 starts by the same order")
    func orderAtAnyWidth() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: true))
        let gates = (0..<6).map { _ in Gate() }
        for (number, gate) in gates.enumerated() {
            queue.addOperation(priority: number < 3 ? .low : .high) { await gate.pass() }
        }
        queue.isSuspended = false
        for (ended, begun) in [(nil, [3, 4]), (3, [4, 5]), (5, [0, 4]), (0, [1, 4]), (4, [1, 2])] as [(Int?, [Int])] {
            if let ended { gates[ended].open() }
            for number in begun { await gates[number].waitForArrivals(1) }
            #expect(gates.indices.filter { gates[$0].arrivals == 1 && !gates[$0].isOpen } == begun)
        }
        for gate in gates { gate.open() }
        try await queue.waitUntilAllOperationsAreFinished()
    }
}
