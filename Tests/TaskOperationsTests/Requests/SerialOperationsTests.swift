import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Operations that execute in order for each key", .endsInTime)
struct SerialOperationsTests {
    private let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 4, isSuspended: true))
    private let order = Recorder<String>()

    @Test("Pauses between attempts, delays and priorities do not change the order of a key", .schedules(200))
    func kept() async throws {
        let serial = SerialOperations<String>(queue: queue)
        let retry = RetryPolicy.exponential(initial: .seconds(1), attempts: 3)
        let first = serial.addOperation(for: "a", name: "1", .retry(retry)) {
            order.record("1.\(RetryPolicy.attempt!)")
            if RetryPolicy.attempt! < 3 { throw WorkFailed() }
        }
        serial.addOperation(for: "a", priority: .low, .delay(.seconds(9))) { order.record("2") }
        let last = serial.addOperation(for: "a", name: "3", priority: .high) { order.record("3") }
        #expect(first.effectivePriority == .high)
        queue.isSuspended = false
        try await last.value
        #expect(order.events == ["1.1", "1.2", "1.3", "2", "3"])
        await untilOthersWait()
        #expect(serial.isEmpty)
    }

    @Test("A cancellation in the middle neither starts a later operation early nor holds it back", .schedules(200))
    func cancelled() async throws {
        let (serial, gate, meter) = (SerialOperations<Int>(queue: queue), Gate(), ConcurrencyMeter())
        let operations = (0..<6).map { number in
            serial.addOperation(for: 1) {
                await meter.measure {
                    order.record("\(number)")
                    if number == 0 { await gate.pass() }
                }
            }
        }
        queue.isSuspended = false
        await gate.waitForArrivals(1)
        for number in [1, 3, 4] { operations[number].cancel() }
        async let end: Void = operations[5].value
        await untilOthersWait()
        #expect(order.events == ["0"])
        gate.open()
        try await end
        #expect(order.events == ["0", "2", "5"])
        #expect(meter.most == 1)
    }

    @Test("Operations of different keys execute at the same time", .schedules(100))
    func parallel() async throws {
        let (serial, gate) = (SerialOperations<Int>(queue: queue), Gate())
        let operations = (0..<12).map { number in
            serial.addOperation(for: number % 4) { await gate.pass() }
        }
        queue.isSuspended = false
        await gate.waitForArrivals(4)
        #expect(operations.filter(\.isExecuting).count == 4)
        gate.open()
        for operation in operations { try await operation.value }
    }

    @Test("A failure, an expired timeout and a refusal let the next operation start", .schedules(100))
    func ends() async throws {
        let serial = SerialOperations<Int>(queue: queue)
        let failing = serial.addOperation(for: 1) { throw WorkFailed() }
        let late = serial.addOperation(for: 1, .timeout(untilStart: .zero)) {}
        let last = serial.addOperation(for: 1, dependencies: [failing]) { 3 }
        queue.isSuspended = false
        #expect(try await last.value == 3)
        #expect(late.failure != nil && failing.failure is WorkFailed)
        queue.shutDown()
        let refused = serial.addOperation(for: 1) {}
        await #expect(throws: TaskOperationError.self) { try await refused.value }
        await untilOthersWait()
        #expect(serial.isEmpty)
    }

    @Test("A body that awaits a later operation of its key is refused by name", .schedules(50))
    func cycle() async throws {
        let serial = SerialOperations<Int>(queue: queue)
        let first = serial.addOperation(for: 1, name: "first") { () async throws -> Int in
            let later = serial.addOperation(for: 1, name: "later") { 2 }
            return try await later.value
        }
        queue.isSuspended = false
        let error = await #expect(throws: TaskOperationError.self) { try await first.value }
        guard case .waitCycle(let cycle)? = error else {
            Issue.record("the outcome differs")
            return
        }
        #expect(cycle.map(\.name) == ["first", "later", "turn", "first"])
    }

    @Test("A barrier between two additions of a key does not refuse the later one", .schedules(500))
    func barrier() async throws {
        let serial = SerialOperations<Int>(queue: queue)
        async let one = Task { serial.addOperation(for: 1) { order.record("a") } }.value
        async let two = Task {
            defer { queue.addBarrier { order.record("barrier") } }
            return serial.addOperation(for: 1) { order.record("b") }
        }.value
        queue.isSuspended = false
        _ = try await (one.value, two.value)
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(Set(order.events) == ["a", "b", "barrier"])
    }

    @Test("A queue that is released with operations for keys follows its rule", arguments: [true, false])
    func releasedQueue(cancels: Bool) async throws {
        let gate = Gate()
        let (first, rest) = await {
            let queue = TaskOperationQueue(
                .init(maxConcurrentOperationCount: 1, whenReleased: cancels ? .cancel : .finish))
            let (serial, keyed) = (SerialOperations<Int>(queue: queue), KeyedOperations<Int, Int>(queue: queue))
            let first = serial.addOperation(for: 0) { await gate.pass() }
            await gate.waitForArrivals(1)
            queue.isSuspended = true
            return (first, (1...4).map { serial.addOperation(for: $0 % 2) {} } + [keyed.request(0) { 0 }.operation])
        }()
        #expect(first.isCancelled == cancels)
        gate.open()
        #expect(await eventually { rest.allSatisfy(\.isFinished) })
        for operation in rest { #expect(operation.isCancelled == cancels) }
    }

    @Test("Threads that add at once with barriers between lose no operation")
    func threads() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let serial = SerialOperations<Int>(queue: queue)
        let (meters, operations) = ((0..<3).map { _ in ConcurrencyMeter() }, Recorder<AnyTaskOperation>())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for number in 0..<500 {
                        let operation = serial.addOperation(for: number % 3) {
                            await meters[number % 3].measure {}
                        }
                        if number % 5 == 0 { queue.addBarrier {} }
                        if number % 11 == 0 { operation.cancel() }
                        operations.record(operation)
                    }
                }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(meters.map(\.most) == [1, 1, 1])
        #expect(await eventually { serial.isEmpty })
        let failures = operations.events.compactMap(\.failure).filter { !($0 is CancellationError) }
        #expect(failures.isEmpty, "\(failures)")
    }

    @Test("20,000 operations of a key that end behind the first one need no deep recursion")
    func many() async throws {
        let (queue, gate) = (TaskOperationQueue(), Gate())
        let serial = SerialOperations<Int>(queue: queue)
        let first = serial.addOperation(for: 1) { await gate.pass() }
        for _ in 0..<20_000 { serial.addOperation(for: 1) {}.cancel() }
        let last = serial.addOperation(for: 1) { 2 }
        gate.open()
        #expect(try await last.value == 2)
        try await first.value
        #expect(await eventually { serial.isEmpty })
    }

    @Test("The object and its keys are freed when all operations have ended")
    func freed() async throws {
        final class Token: Hashable, Sendable {
            static func == (left: Token, right: Token) -> Bool { left === right }
            func hash(into hasher: inout Hasher) {}
        }
        let queue = TaskOperationQueue()
        weak var (token, object): (Token?, SerialOperations<Token>?)
        do {
            let (key, serial) = (Token(), SerialOperations<Token>(queue: queue))
            (token, object) = (key, serial)
            serial.addOperation(for: key) {}
            serial.addOperation(for: Token()) {}
            #expect(try await serial.run(for: key) { 5 } == 5)
        }
        #expect(await eventually { object == nil && token == nil })
    }
}

@Suite("The order of entries with keys")
struct KeyedOrderTests {
    @Test("Entries pass as in a list of entries for each key", arguments: 0..<200)
    func model(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        var (order, lines, lastNumber) = (KeyedOrder<Int, Int>(), [Int: [(number: Int, hasEnded: Bool)]](), 0)
        for _ in 0..<200 {
            let key = Int.random(in: 0..<3, using: &random)
            if Bool.random(using: &random) {
                lastNumber += 1
                let former = order.append(lastNumber, lastNumber, of: key)
                #expect(former == lines[key]?.last { !$0.hasEnded }?.number)
                lines[key, default: []].append((lastNumber, false))
                continue
            }
            let line = lines[key, default: []]
            guard let index = line.indices.filter({ !line[$0].hasEnded }).randomElement(using: &random) else {
                continue
            }
            lines[key]![index].hasEnded = true
            let passed = lines[key]!.prefix { $0.hasEnded }.map(\.number)
            lines[key]!.removeFirst(passed.count)
            #expect(order.ended(line[index].number) == passed)
            #expect(order.ended(line[index].number) == [])
            #expect(order.isEmpty == lines.values.allSatisfy(\.isEmpty))
        }
    }
}
