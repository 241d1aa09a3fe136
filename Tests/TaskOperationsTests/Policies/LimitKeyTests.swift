import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Limits of operations with keys and weights", .inTurns, .endsInTime)
struct LimitKeyTests {
    @Test("No key and no total exceeds its capacity, across queues and with tasks", .schedules(20))
    func capacities() async throws {
        let hosts = AsyncSemaphore(capacity: 5, perKey: 2)
        let all = ConcurrencyMeter()
        let perHost = (0..<4).map { _ in ConcurrencyMeter() }
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 6) }
        @Sendable func load(_ host: Int) async {
            await all.measure { await perHost[host].measure { for _ in 0..<3 { await Task.yield() } } }
        }
        for number in 0..<80 {
            queues[number / 4 % 2].addOperation(.limit(hosts, key: "host \(number % 4)")) {
                await load(number % 4)
            }
        }
        for number in 0..<8 { try await hosts.withPermit(key: "host \(number % 4)") { await load(number % 4) } }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(all.total == 88 && all.most <= 5)
        #expect(perHost.allSatisfy { $0.total == 22 && $0.most <= 2 })
        #expect(hosts.available == 5 && queues.allSatisfy { $0.claimCount == 0 })
    }

    @Test("Each key and the total are used up to their capacities", .schedules(20))
    func capacitiesInUse() async throws {
        let hosts = AsyncSemaphore(capacity: 5, perKey: 2)
        let (queue, gate) = (TaskOperationQueue(maxConcurrentOperationCount: 12), Gate())
        let operations = (0..<12).map { number in
            queue.addOperation(.limit(hosts, key: number % 3)) { await gate.pass() }
        }
        await gate.waitForArrivals(5)
        #expect(hosts.available == 0)
        #expect((0..<3).map { hosts.takenCount(for: $0) }.sorted() == [1, 2, 2])
        gate.open()
        for operation in operations { try await operation.value }
    }

    @Test("An optional key is the key that it contains, and nil is no key")
    func optionalKeys() async throws {
        let hosts = AsyncSemaphore(capacity: 8, perKey: 1)
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: .max, isSuspended: true))
        let (host, none) = ("a" as String?, nil as String?)
        let withKey = [queue.addOperation(.limit(hosts, key: host)) {}, queue.addOperation(.limit(hosts, key: "a")) {}]
        let withoutKey = (0..<3).map { _ in queue.addOperation(.limit(hosts, key: none)) {} }
        #expect(withKey.allSatisfy { $0.isLimited(by: hosts, key: "a") && $0.isLimited(by: hosts, key: host) })
        #expect(withoutKey.allSatisfy { !$0.isLimited(by: hosts, key: none) })
        hosts.setCapacity(0, for: host)
        hosts.setCapacity(0, for: none)
        hosts.setShare(7, for: none)
        queue.isSuspended = false
        for operation in withoutKey { try await operation.value }
        #expect(withKey.allSatisfy { $0.state == .ready })
        try await hosts.withPermit(key: none) { #expect(hosts.available == 7) }
        #expect((hosts.takenCount(for: none), hosts.waitingCount(for: none)) == (0, 0))
        hosts.setCapacity(nil, for: "a")
        try await hosts.withPermit(key: host) { #expect(hosts.takenCount(for: "a") == 1) }
        for operation in withKey { try await operation.value }
        await until { hosts.storage.withLock { $0.state.keyCount } == 0 }
    }

    @Test("An optional key in a generic function is the key that it contains, at any depth")
    func optionalKeysOfGenericFunctions() async throws {
        let hosts = AsyncSemaphore(capacity: 8, perKey: 1)
        let queue = TaskOperationQueue(.init(isSuspended: true))
        func add<Key: Hashable & Sendable>(_ key: Key) -> TaskOperation<Void> {
            queue.addOperation(.limit(hosts, key: key)) {}
        }
        func isLimited<Key: Hashable & Sendable>(_ operation: AnyTaskOperation, _ key: Key) -> Bool {
            operation.isLimited(by: hosts, key: key)
        }
        let keys: [String??] = ["a", .some(.some("a"))]
        let withKey =
            [add("a" as String?), add("a" as String??), add("a" as String???)]
            + keys.map { queue.addOperation(.limit(hosts, key: $0)) {} }
        for operation in withKey {
            #expect(operation.isLimited(by: hosts, key: "a") && isLimited(operation, "a" as String??))
        }
        let withoutKey = [add(nil as String?), add(.some(nil) as String??), add(nil as Int???)]
        #expect(withoutKey.allSatisfy { !isLimited($0, nil as String?) })
        try await hosts.withPermit(key: "a" as String??) { #expect(hosts.takenCount(for: "a") == 1) }
        hosts.setCapacity(0, for: .some(nil) as String??)
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test(
        "An operation that waits for a token holds no other limit, in either order of creation", .schedules(20),
        arguments: [false, true])
    func tokensBesideOtherLimits(isRateFirst: Bool) async throws {
        let clock = ManualClock()
        let first = isRateFirst ? nil : AsyncSemaphore(capacity: 2)
        let service = AsyncSemaphore(capacity: 16, ratePerKey: .one(per: .seconds(60)), clock: clock)
        let workers = first ?? AsyncSemaphore(capacity: 2)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: .max)
        let starts = Recorder<String>()
        for name in ["a", "b", "a", "b"] {
            queue.addOperation([.limit(service, key: name), .limit(workers)]) { starts.record(name) }
        }
        await untilOthersWait()
        queue.addOperation(.limit(workers)) { starts.record("other") }
        queue.addOperation([.limit(service, key: "c"), .limit(workers)]) { starts.record("c") }
        await untilOthersWait()
        #expect(starts.events.sorted() == ["a", "b", "c", "other"] && workers.available == 2)
        clock.advance(by: .seconds(60))
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("An operation that waits for another limit has no token, so the rate bounds the starts", .schedules(20))
    func tokensOfSeveralLimits() async throws {
        let clock = ManualClock()
        let service = AsyncSemaphore(capacity: 16, rate: .perSecond(1), clock: clock)
        let memory = AsyncSemaphore(capacity: 100)
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: .max) }
        let (gate, starts) = (Gate(), Recorder<Int>())
        queues[0].addOperation(.limit(memory, weight: 100)) { await gate.pass() }
        await gate.waitForArrivals(1)
        for number in 0..<8 {
            queues[number % 2].addOperation([.limit(service), .limit(memory, weight: number + 1)]) {
                starts.record(number)
            }
        }
        for _ in 0..<10 {
            await untilOthersWait()
            clock.advance(by: .seconds(1))
        }
        gate.open()
        for second in 1...8 {
            await untilOthersWait()
            #expect(starts.events.count == second)
            clock.advance(by: .seconds(1))
        }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
    }

    @Test("Weights of operations are never more than the capacity, and none starves", .schedules(20))
    func weights() async throws {
        let memory = AsyncSemaphore(capacity: 100)
        let (used, most) = (Recorder<Int>(), Recorder<Int>())
        let queues = (0..<2).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 8) }
        for number in 0..<60 {
            let weight = number.isMultiple(of: 10) ? 100 : number % 7 + 1
            queues[number % 2].addOperation(.limit(memory, weight: weight)) {
                most.record(100 - memory.available)
                await Task.yield()
                used.record(weight)
            }
        }
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(used.events.count == 60 && most.events.max()! <= 100)
        #expect(memory.available == 100)
    }

    @Test("An operation that is heavier than each capacity so far fails, one that fits runs", arguments: [false, true])
    func excessiveWeight(isAddedInArray: Bool) async throws {
        let (memory, hosts) = (AsyncSemaphore(capacity: 3, name: "memory"), AsyncSemaphore(capacity: 9, perKey: 2))
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let operations = [3, 4, 2, 3].enumerated().map { number, weight in
            TaskOperation(
                number < 2 ? .limit(memory, weight: weight) : .limit(hosts, key: "a", weight: weight)
            ) { weight }
        }
        if isAddedInArray {
            try queue.addOperations(operations)
        } else {
            for operation in operations { try queue.addOperation(operation) }
        }
        #expect(try await operations[0].value == 3)
        #expect(try await operations[2].value == 2)
        for (number, capacity) in [(1, 3), (3, 2)] {
            let error = await #expect(throws: TaskOperationError.self) { try await operations[number].value }
            #expect(error?.description.contains("never had more than \(capacity)") == true)
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(memory.available == 3 && hosts.available == 9)
    }

    @Test("An operation whose weight is above a lowered capacity runs alone", .schedules(20))
    func loweredCapacity() async throws {
        let memory = AsyncSemaphore(capacity: 5)
        memory.capacity = 3
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        let meter = ConcurrencyMeter()
        for weight in [1, 5, 2] {
            queue.addOperation(.limit(memory, weight: weight)) {
                await meter.measure {
                    await Task.yield()
                    if weight == 5 { #expect(meter.now == 1) }
                }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(memory.available == 3 && meter.total == 3)
    }

    @Test("An operation whose key has no free permit delays no operation of another key", .schedules(20))
    func blockedKey() async throws {
        let hosts = AsyncSemaphore(capacity: 4, perKey: 1)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let gate = Gate()
        let holder = queue.addOperation(.limit(hosts, key: "a")) { await gate.pass() }
        let waiting = (0..<20).map { _ in queue.addOperation(.limit(hosts, key: "a")) {} }
        #expect(try await queue.addOperation(.limit(hosts, key: "b")) { 1 }.value == 1)
        #expect(!waiting[0].isFinished)
        gate.open()
        try await holder.value
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("Queues that share a limit take turns of one operation", .schedules(5))
    func turns() async throws {
        let limit = AsyncSemaphore(capacity: 1)
        let queues = (0..<3).map { _ in TaskOperationQueue(maxConcurrentOperationCount: 4) }
        let order = Recorder<Int>()
        try await limit.acquire()
        for number in 0..<2 {
            for _ in 0..<50 { queues[number].addOperation(.limit(limit)) { order.record(number) } }
        }
        queues[2].addOperation(.limit(limit)) { order.record(2) }
        for _ in 0..<50 { await Task.yield() }
        limit.release()
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(order.events.prefix(3).contains(2))
        var longest = 0
        for (index, number) in order.events.prefix(90).enumerated() where number != 2 {
            let run = order.events[index...].prefix { $0 == number }.count
            longest = max(longest, run)
        }
        #expect(longest <= 2)
    }

    @Test(
        "Tenants of one queue share a limit fairly if the queue is as wide as the limit, or wider", .schedules(20),
        arguments: [2, 3, 4, 100])
    func tenants(width: Int) async throws {
        let tenants = AsyncSemaphore(capacity: 2)
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: width, isSuspended: true))
        let journal = EventJournal()
        queue.addObserver(journal)
        for name in ["noisy", "quiet"] {
            for _ in 0..<(name == "noisy" ? 200 : 10) {
                queue.addOperation(name: name, .limit(tenants, key: name)) { await Task.yield() }
            }
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        let starts = journal.events.filter { if case .started = $0.kind { true } else { false } }
        #expect(starts.prefix(30).count { $0.operation.name == "quiet" } == 10)
    }

    @Test(
        "Each of many keys starts early, in the order in which the limit serves them", .schedules(10),
        arguments: [(1, 1), (2, 2), (3, 2), (100, 2)], [false, true])
    func manyKeys(of numbers: (width: Int, capacity: Int), areBodiesEmpty: Bool) async throws {
        let limit = AsyncSemaphore(capacity: numbers.capacity)
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: numbers.width, isSuspended: true))
        let starts = Recorder<Int>()
        for key in 0..<20 {
            for _ in 0..<10 {
                queue.addOperation(.limit(limit, key: key)) {
                    starts.record(key)
                    if !areBodiesEmpty { await Task.yield() }
                }
            }
        }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        let latest = (0..<20).map { starts.events.firstIndex(of: $0)! }.max()!
        #expect(latest < 80, "The first operation of a key was start \(latest) of 200.")
    }

    @Test("Tenants of one queue share several permits fairly", .schedules(5))
    func tenantsWithSeveralPermits() async throws {
        let clock = ManualClock()
        let tenants = AsyncSemaphore(capacity: 8)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 100)
        let order = Recorder<String>()
        for name in ["early", "late"] {
            for number in 0..<100 {
                queue.addOperation(.limit(tenants, key: name)) {
                    order.record(name)
                    try await clock.sleep(for: .seconds(8 + number % 8))
                }
            }
        }
        async let all: Void = queue.waitUntilAllOperationsAreFinished()
        while queue.operationCount > 0 {
            await untilOthersWait()
            clock.advance(by: .seconds(1))
        }
        try await all
        let late = order.events.prefix(100).count { $0 == "late" }
        #expect(late >= 40, "The late tenant had \(late) of the first 100 starts.")
    }

    @Test("A claim keeps a limit while the first operation is too heavy for the width")
    func heavyFirst() async throws {
        let (free, full) = (AsyncSemaphore(capacity: 1), AsyncSemaphore(capacity: 0))
        let (queue, gate) = (TaskOperationQueue(maxConcurrentOperationCount: 2), Gate())
        queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        let light = queue.addOperation(.limits([free, full])) {}
        let heavy = queue.addOperation(.weight(2)) {}
        #expect(!light.isFinished && !heavy.isFinished)
        full.capacity = 1
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(free.available == 1 && full.available == 1)
    }

    @Test("A claim that must not keep permits takes free ones before less urgent tasks", arguments: [false, true])
    func urgentWithoutKeeping(isTimed: Bool) async throws {
        let rate = isTimed ? OperationRate.perSecond(1000, burst: 1000) : nil
        let limits = (0..<2).map { _ in AsyncSemaphore(capacity: 2, rate: rate) }
        try await limits[0].acquire(weight: 1)
        try await limits[1].acquire(weight: 2)
        let urgent = TaskOperationQueue().addOperation([.limits(limits), .priority(.high)]) { 1 }
        let tasks = limits.map { limit in
            Task { try await limit.withPermit(weight: 2, priority: .low) {} }
        }
        await until { limits[0].available == 1 && limits.allSatisfy { $0.waitingCount == 1 } }
        limits[1].release(weight: 1)
        #expect(try await urgent.value == 1)
        for limit in limits { limit.release(weight: 1) }
        for task in tasks { try await task.value }
        #expect(await eventually { limits.allSatisfy { $0.available == 2 } })
    }

    @Test("A key that is removed after each use does not starve keys that stay")
    func removedKeys() {
        var state = LimitState<Int>(capacity: 1)
        let steady = state.addKey()
        var (served, arrivals, current) = ([Int: Int](), 0, -1)
        func wait(_ key: Int, _ waiter: Int) {
            arrivals += 1
            _ = state.wait(waiter, weight: 1, for: key, level: .medium, arrival: LineArrival(arrivals))
        }
        // Two keys return after each use. The steady key always has entries.
        var keys = [0: state.addKey(), 1: state.addKey()]
        for waiter in 0..<2 { wait(keys[waiter]!, waiter) }
        for _ in 0..<3 { wait(steady, 2) }
        for _ in 0..<300 {
            current = state.next() ?? -1
            served[current, default: 0] += 1
            state.release(1, for: keys[current] ?? steady)
            if let key = keys[current] {
                state.removeKey(key)
                keys[current] = state.addKey()
            }
            wait(keys[current] ?? steady, current)
        }
        #expect(served[2]! > 90, "The steady key had \(served[2]!) of 300.")
    }

    @Test("If a semaphore is given several times, its last option applies", .schedules(5))
    func lastOption() async throws {
        let (limit, other) = (AsyncSemaphore(capacity: 9, perKey: 4), AsyncSemaphore(capacity: 1))
        let queue = TaskOperationQueue()
        let options: OperationOptions = [
            .limit(limit, key: "a"), .limit(other), .limit(limit, key: "b", weight: 3),
        ]
        let operation = queue.addOperation(options) { (limit.takenCount(for: "a"), limit.takenCount(for: "b")) }
        #expect(operation.limits.count == 2)
        #expect(try await operation.value == (0, 3))
        #expect(await eventually { limit.available == 9 })
    }

    @Test("A waiting reason names the limit, the key and the use of its permits", .schedules(5))
    func reasons() async throws {
        let hosts = AsyncSemaphore(capacity: 16, perKey: 2, name: "hosts")
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 8)
        let gate = Gate()
        for _ in 0..<2 { queue.addOperation(.limit(hosts, key: "example.com")) { await gate.pass() } }
        await gate.waitForArrivals(2)
        let waiting = queue.addOperation(.limit(hosts, key: "example.com")) {}
        for _ in 0..<20 { await Task.yield() }
        let texts = waiting.waitingReasons.map(\.description)
        #expect(texts == ["waits for semaphore \"hosts\", key example.com, 2 of 2 permits taken"])
        hosts.capacity = 2
        let other = queue.addOperation(.limit(hosts, key: "example.org")) {}
        await until { !other.waitingReasons.isEmpty && other.state == .ready }
        let total = other.waitingReasons.map(\.description)
        #expect(total == ["waits for semaphore \"hosts\", key example.org, 2 of 2 permits taken in total"])
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("A retry lends the permits of its key in a pause", .schedules(5))
    func retry() async throws {
        struct Failure: Error {}
        let clock = ManualClock()
        let hosts = AsyncSemaphore(capacity: 4, perKey: 1)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let failing = queue.addOperation([
            .limit(hosts, key: "a"), .clock(clock), .retry(.exponential(initial: .seconds(1), attempts: 2)),
        ]) {
            if RetryPolicy.attempt == 1 { throw Failure() }
            return hosts.takenCount(for: "a")
        }
        await clock.waitForSleepers(1)
        #expect(hosts.takenCount(for: "a") == 0)
        try await queue.addOperation(.limit(hosts, key: "a")) {}.value
        clock.advance(by: .seconds(10))
        #expect(try await failing.value == 1)
        #expect(await eventually { hosts.available == 4 })
    }

    @Test("Cancellation storms lose no permit of any key", arguments: 0..<4)
    func storm(seed: UInt64) async throws {
        let hosts = AsyncSemaphore(capacity: 4, perKey: 2)
        let memory = AsyncSemaphore(capacity: 10)
        let queues = (0..<3).map { TaskOperationQueue(maxConcurrentOperationCount: $0 + 1) }
        var random = SeededGenerator(seed: seed)
        var operations: [AnyTaskOperation] = []
        for number in 0..<1000 {
            let key = random.number(below: 5)
            let operation = queues[number % 3].addOperation([
                .priority(number.isMultiple(of: 7) ? .high : .medium), .limit(hosts, key: key),
                .limit(memory, weight: random.number(below: 6) + 1),
            ]) {
                try Task.checkCancellation()
                await Task.yield()
            }
            operations.append(operation)
            if random.happens(percent: 30) { operations.randomElement(using: &random)!.cancel() }
            if number == 300 { queues[2].isSuspended = true }
            if number == 400 { hosts.capacityPerKey = 1 }
            if number == 500 { memory.capacity = 3 }
            if number == 600 { hosts.setShare(3, for: 2) }
            if number == 700 { hosts.capacity = 2 }
        }
        queues[2].isSuspended = false
        for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        #expect(await eventually { hosts.available == 2 && memory.available == 3 })
        #expect((0..<5).allSatisfy { hosts.takenCount(for: $0) == 0 } && queues.allSatisfy { $0.claimCount == 0 })
    }

    @Test("A key with a capacity of 0 is suspended, and continues when its capacity is changed", .schedules(10))
    func suspendedKey() async throws {
        let hosts = AsyncSemaphore(capacity: 9, perKey: 2)
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        hosts.setCapacity(0, for: "a")
        let (meter, gate) = (ConcurrencyMeter(), Gate())
        let suspended = (0..<6).map { _ in
            queue.addOperation(.limit(hosts, key: "a")) { await meter.measure { await gate.pass() } }
        }
        try await queue.addOperation(.limit(hosts, key: "b")) {}.value
        await untilOthersWait()
        #expect(meter.total == 0)
        hosts.setCapacity(3, for: "a")
        await gate.waitForArrivals(3)
        await untilOthersWait()
        #expect(meter.now == 3)
        hosts.setCapacity(nil, for: "a")
        gate.open()
        for operation in suspended { try await operation.value }
        #expect(await eventually { hosts.storage.withLock { $0.state.keyCount } == 0 })
    }

    @Test("The operations of one key can be cancelled")
    func cancelledKey() async throws {
        let hosts = AsyncSemaphore(capacity: 2)
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let operations = (0..<6).map { queue.addOperation(.limit(hosts, key: $0 % 2)) {} }
        for operation in queue.operations where operation.isLimited(by: hosts, key: 1) { operation.cancel() }
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(operations.map(\.isCancelled) == [false, true, false, true, false, true])
        #expect(!operations[0].isLimited(by: hosts, key: 0))
    }

    @Test("Options that are combined in a loop keep the last values only, each once")
    func replacedOptions() throws {
        let (limit, other) = (AsyncSemaphore(capacity: 9), AsyncSemaphore(capacity: 9))
        let operation = TaskOperation {}
        var options: OperationOptions = .limit(other)
        for number in 1...9 {
            let added: OperationOptions = [
                .timeout(.seconds(number)), .weight(number), .limit(limit, key: number, weight: number),
            ]
            options = [options, added]
            try operation.addOptions(added)
        }
        #expect(options.settings.count == 3 && options.limits.map(\.weight) == [1, 9])
        #expect(options.values.weight == 9 && options.values.body.timeout == .seconds(9))
        try operation.addOptions(.limit(other))
        #expect(operation.limits.map(\.number) == [limit.number, other.number] && operation.weight == 9)
        #expect(operation.isLimited(by: limit, key: 9) && !operation.isLimited(by: limit, key: 8))
        #expect(limit.storage.withLock { $0.state.keyCount } == 1, "Replaced keys are released.")
    }

    @Test("A key of an operation is released after its end")
    func memory() async throws {
        final class Host: Hashable, Sendable {
            static func == (one: Host, other: Host) -> Bool { one === other }
            func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
        }
        let hosts = AsyncSemaphore(capacity: 4, perKey: 1)
        let queue = TaskOperationQueue()
        weak var released: Host?
        do {
            let host = Host()
            released = host
            try await queue.addOperation(.limit(hosts, key: host)) {}.value
        }
        #expect(await eventually { released == nil })
    }
}
