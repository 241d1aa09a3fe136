import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("An operation leaves its limits to the next operation of its queue", .inTurns, .endsInTime)
struct PassedPermitTests {
    @Test(
        "Another queue that waits for the limit comes first, unless its claim arrived later",
        arguments: [(1, [1, 0, 0, 0]), (3, [0, 1, 0, 0])])
    func otherQueue(width: Int, expected: [Int]) async throws {
        let limit = AsyncSemaphore(capacity: 1)
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: width) }
        let (order, gate) = (Recorder<Int>(), Gate())
        queues[0].addOperation(.limit(limit)) { await gate.pass() }
        await gate.waitForArrivals(1)
        for queue in [0, 0, 1, 0] { queues[queue].addOperation(.limit(limit)) { order.record(queue) } }
        gate.open()
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(order.events == expected && limit.available == 1)
    }

    @Test(
        "Parked operations start in the order of their levels, also after the last one of a level",
        arguments: [
            (3, TaskPriority.medium, [TaskPriority.low, .medium, .high, .medium], [2, 1, 3, 0]),
            (5, .high, [.low, .low, .high, .low], [2, 0, 1, 3]),
        ])
    func parkedOperations(width: Int, first: TaskPriority, others: [TaskPriority], expected: [Int]) async throws {
        let limit = AsyncSemaphore(capacity: 1)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: width)
        let (order, gate) = (Recorder<Int>(), Gate())
        queue.addOperation(priority: first, .limit(limit)) { await gate.pass() }
        await gate.waitForArrivals(1)
        for (number, priority) in others.enumerated() {
            queue.addOperation(priority: priority, .limit(limit)) { order.record(number) }
        }
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(order.events == expected && limit.available == 1)
    }

    @Test(
        "The operations of a key count for its share, so that other operations do not wait for them again",
        arguments: ["b", nil])
    func keys(other: String?) async throws {
        let limit = AsyncSemaphore(capacity: 50)
        let option: OperationOptions = other.map { .limit(limit, key: $0) } ?? .limit(limit)
        let heavyOption: OperationOptions =
            other.map { .limit(limit, key: $0, weight: 50) } ?? .limit(limit, weight: 50)
        // Keeps both keys in use.
        let suspended = TaskOperationQueue(.init(isSuspended: true))
        for option in [option, .limit(limit, key: "a")] { suspended.addOperation(option) {} }
        let (serial, wide) = (TaskOperationQueue(maxConcurrentOperationCount: 1), TaskOperationQueue())
        wide.maxConcurrentOperationCount = .max
        try await serial.addOperation(heavyOption) {}.value
        for _ in 0..<500 { serial.addOperation(.limit(limit, key: "a")) {} }
        let (order, gate) = (Recorder<String>(), Gate())
        serial.addOperation(.limit(limit, key: "a")) { await gate.pass() }
        await gate.waitForArrivals(1)
        limit.capacity = 1
        for _ in 0..<60 { wide.addOperation(.limit(limit, key: "a")) { order.record("a") } }
        wide.addOperation(option) { order.record("other") }
        gate.open()
        try await wide.waitUntilAllOperationsAreFinished()
        #expect(order.events.prefix(2).contains("other") && order.events.count == 61)
        suspended.cancelAllOperations()
    }

    @Test("Two keys take turns, however often one of them had the permit to itself before")
    func keysTakeTurns() async throws {
        let limit = AsyncSemaphore(capacity: 2)
        let (serial, wide) = (TaskOperationQueue(maxConcurrentOperationCount: 1), TaskOperationQueue())
        wide.maxConcurrentOperationCount = .max
        // Keeps the key, and therefore its tag.
        limit.setCapacity(1, for: "a")
        for _ in 0..<3 {
            for _ in 0..<100 { serial.addOperation(.limit(limit, key: "a")) {} }
            try await serial.waitUntilAllOperationsAreFinished()
        }
        let (order, gate) = (Recorder<String>(), Gate())
        serial.addOperation(.limit(limit, key: "c", weight: 2)) { await gate.pass() }
        await gate.waitForArrivals(1)
        limit.capacity = 1
        for key in ["a", "b"] {
            for _ in 0..<20 { wide.addOperation(.limit(limit, key: key)) { order.record(key) } }
        }
        gate.open()
        try await wide.waitUntilAllOperationsAreFinished()
        let first = order.events.prefix(20)
        #expect((9...11).contains(first.count { $0 == "a" }) && order.events.count == 40)
    }

    @Test("A more urgent operation without limits comes before a parked one")
    func urgentOperation() async throws {
        let limit = AsyncSemaphore(capacity: 1)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let (order, gates) = (Recorder<String>(), [Gate(), Gate()])
        queue.addOperation(priority: .low, .limit(limit)) { await gates[0].pass() }
        await gates[0].waitForArrivals(1)
        // While the queue has a free permit, a claim waits for this operation.
        queue.addOperation(priority: .low, .limit(limit)) { order.record("low") }
        for _ in 0..<2 { queue.addOperation(priority: .low) { await gates[1].pass() } }
        await gates[1].waitForArrivals(2)
        queue.addOperation(priority: .high) { order.record("high") }
        gates[0].open()
        await until { order.events.count == 2 }
        #expect(order.events == ["high", "low"])
        gates[1].open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("A task that waits for the limit comes first")
    func task() async throws {
        let limit = AsyncSemaphore(capacity: 1)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (order, gate) = (Recorder<Int>(), Gate())
        queue.addOperation(.limit(limit)) { await gate.pass() }
        await gate.waitForArrivals(1)
        let task = Task { try await limit.withPermit { order.record(1) } }
        #expect(await eventually { limit.waitingCount == 1 })
        for _ in 0..<3 { queue.addOperation(.limit(limit)) { order.record(0) } }
        gate.open()
        try await task.value
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(order.events == [1, 0, 0, 0] && limit.available == 1)
    }

    enum Reduction {
        case inTotal, perKey, ofKey

        func perform(on limit: AsyncSemaphore) {
            switch self {
            case .inTotal: limit.capacity = 1
            case .perKey: limit.capacityPerKey = 1
            case .ofKey: limit.setCapacity(1, for: "key")
            }
        }
    }

    @Test(
        "A permit above a reduced capacity is given back",
        arguments: [(Reduction.inTotal, false), (.inTotal, true), (.perKey, true), (.ofKey, true)])
    func reducedCapacity(_ reduction: Reduction, hasKey: Bool) async throws {
        let limit = AsyncSemaphore(capacity: 3, perKey: 2)
        if reduction == .inTotal { limit.capacity = 2 }
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let option: OperationOptions = hasKey ? .limit(limit, key: "key") : .limit(limit)
        let (meter, gates) = (ConcurrencyMeter(), [Gate(), Gate()])
        let executing = gates.map { gate in queue.addOperation(option) { await gate.pass() } }
        for gate in gates { await gate.waitForArrivals(1) }
        for _ in 0..<4 {
            queue.addOperation(option) { await meter.measure { await Task.yield() } }
        }
        reduction.perform(on: limit)
        gates[0].open()
        try await executing[0].value
        try await queue.addOperation {}.value
        #expect(meter.total == 0 && limit.capacity - limit.available == 1)
        gates[1].open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(meter.total == 4 && meter.most == 1)
    }

    @Test("Each operation uses a token of the rate, in total and of its key", arguments: [false, true])
    func rate(isOfKey: Bool) async throws {
        let clock = ManualClock()
        let rate = OperationRate.one(per: .seconds(1), burst: 2)
        let limit = AsyncSemaphore(
            capacity: 1, rate: isOfKey ? nil : rate, ratePerKey: isOfKey ? rate : nil, clock: clock)
        let option: OperationOptions = isOfKey ? .limit(limit, key: "key") : .limit(limit)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (order, gate) = (Recorder<Int>(), Gate())
        queue.addOperation(option) { await gate.pass() }
        await gate.waitForArrivals(1)
        let operations = (0..<3).map { number in
            queue.addOperation(option) { order.record(number) }
        }
        gate.open()
        for number in 0..<3 {
            try await operations[number].value
            try await queue.addOperation {}.value
            #expect(order.events == Array(0...number))
            clock.advance(by: .seconds(1))
        }
    }

    @Test("The next operation takes its limits itself if it has others, or another weight or level")
    func otherLimits() async throws {
        let (one, other) = (AsyncSemaphore(capacity: 2), AsyncSemaphore(capacity: 2))
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let options: [OperationOptions] = [
            .limit(one), .limit(other), .limits([one, other]), .limit(one, weight: 2), .limit(one, key: 1),
            [.limit(one), .priority(.high)], .limit(one), OperationOptions(), .limit(one),
        ]
        let total = ConcurrencyMeter()
        for round in 0..<200 {
            queue.addOperation(options[round * 7 % options.count]) { await total.measure { await Task.yield() } }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(total.total == 200 && total.most <= 2 && one.available == 2 && other.available == 2)
    }
}
