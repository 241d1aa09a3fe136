import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Statistics of keys", .inTurns, .endsInTime)
struct KeyStatisticsTests {
    private let hosts = AsyncSemaphore(capacity: 1000, name: "hosts")

    @Test("operations are counted by the key of one semaphore, whatever their queue and their outcome", .schedules(10))
    func counts() async throws {
        let (statistics, gate) = (OperationStatistics(keysOf: hosts), Gate())
        let first = TaskOperationQueue(.init(defaults: .limit(hosts, key: "default")))
        let second = TaskOperationQueue(
            .init(maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1, overflow: .dropOldest))
        for queue in [first, second] { queue.addObserver(statistics) }
        // The operations of both queues have the same numbers.
        first.addOperation(.limit(hosts, key: "a")) { await gate.pass() }
        second.addOperation(.limit(hosts, key: "b")) { await gate.pass() }
        await gate.waitForArrivals(2)
        #expect(statistics.snapshot.map(\.executing) == [1, 1])
        second.addOperation(.limit(hosts, key: "a")) {}
        #expect(statistics.snapshot.map(\.queued) == [1, 0])
        second.addOperation([.limit(hosts), .limit(AsyncSemaphore(capacity: 1), key: "a")]) {}
        second.addOperation(.limit(hosts, key: "b")) {}.cancel()
        first.addOperation {}
        first.addOperation([.limit(hosts, key: "b"), .retry(.immediately(attempts: 2))]) { throw WorkFailed() }
        gate.open()
        for queue in [first, second] { try? await queue.waitUntilAllOperationsAreFinished() }
        await until { statistics.snapshot.allSatisfy { $0.queued == 0 && $0.executing == 0 } }
        let groups = statistics.snapshot
        #expect(groups.map(\.name) == ["a", "b", "default"])
        #expect(groups.map(\.added) == [2, 3, 1] && groups.map(\.succeeded) == [1, 1, 1])
        #expect(groups.map(\.dropped) == [1, 0, 0] && groups.map(\.cancelled) == [0, 1, 0])
        #expect(groups.map(\.failed) == [0, 1, 0] && groups.map(\.retries) == [0, 1, 0])
        #expect(groups.map(\.executed.count) == [1, 2, 1] && groups.map(\.waited.count) == [1, 2, 1])
    }

    @Test(
        "operations that were added before the observer are counted once, even if it is added again",
        arguments: [false, true])
    func replayed(isByKey: Bool) async throws {
        let (statistics, gate) = (isByKey ? OperationStatistics(keysOf: hosts) : OperationStatistics(), Gate())
        let holder = QueueHolder(TaskOperationQueue(maxConcurrentOperationCount: 1))
        let executing = holder.queue!.addOperation(.limit(hosts, key: "a")) { await gate.pass() }
        await gate.waitForArrivals(1)
        let queued = holder.queue!.addOperation(.limit(hosts, key: "a")) {}
        for _ in 0..<2 {
            holder.queue!.addObserver(statistics)
            let group = try #require(statistics.snapshot.first)
            #expect(group.added == 2 && group.queued == 1 && group.executing == 1)
            holder.queue!.removeObserver(statistics)
        }
        // The ends of both operations are not observed.
        gate.open()
        try await executing.value
        try await queued.value
        try await holder.queue!.waitUntilAllOperationsAreFinished()
        holder.queue!.addObserver(statistics)
        holder.drop()
        await until { statistics.snapshot[0].queued == 0 && statistics.snapshot[0].executing == 0 }
        #expect(statistics.snapshot.map(\.added) == [2])
    }

    @Test("an operation that ended before its first event was delivered is counted")
    func lateEvents() throws {
        let (statistics, hosts) = (OperationStatistics(keysOf: hosts), hosts)
        let queue = TaskOperationQueue(.init(isSuspended: true))
        let journal = EventJournal { [weak queue] event in
            if event.number == 1 { queue?.addOperation(.limit(hosts, key: "a")) {}.cancel() }
        }
        queue.addObserver(journal)
        queue.addObserver(statistics)
        queue.addOperation {}.cancel()
        #expect(statistics.snapshot.map(\.name) == ["a"] && statistics.snapshot.map(\.cancelled) == [1])
    }

    @Test("an operation that the limit refused is counted by its key", arguments: [Int.max, 1], [false, true])
    func refused(maxQueued: Int, isBatch: Bool) async throws {
        let hosts = AsyncSemaphore(capacity: 1000, perKey: 1)
        hosts.maxQueuedOperationCountPerKey = 1
        let (statistics, gate) = (OperationStatistics(keysOf: hosts), Gate())
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, maxQueuedOperationCount: maxQueued))
        queue.addObserver(statistics)
        let first = queue.addOperation(.limit(hosts, key: "a")) { await gate.pass() }
        await gate.waitForArrivals(1)
        // A queue with a limit is now full, but the limit of the operation comes first.
        queue.addOperation {}
        let other = TaskOperationQueue(.init(isSuspended: true))
        let held = other.addOperation(.limit(hosts, key: "a")) {}
        let refused = (0..<577).map { _ in TaskOperation(.limit(hosts, key: "a")) {} }
        if isBatch {
            try queue.addOperations(refused)
        } else {
            for operation in refused { try queue.addOperation(operation) }
        }
        for operation in refused {
            _ = await operation.result
            guard case TaskOperationError.limitFull? = operation.failure else {
                Issue.record("the limit has not refused \(operation)")
                return
            }
        }
        await until { statistics.snapshot[0].refused == 577 }
        let group = statistics.snapshot[0]
        #expect(group.name == "a" && group.added == 578 && group.failed == 0 && group.queued == 0)
        held.cancel()
        gate.open()
        try await first.value
        try await queue.waitUntilAllOperationsAreFinished()
        await until { statistics.snapshot[0].succeeded == 1 }
    }

    @Test("an operation that is too heavy for the limit has failed, and is counted by its key")
    func tooHeavy() async throws {
        let statistics = OperationStatistics(keysOf: hosts)
        let queue = TaskOperationQueue()
        queue.addObserver(statistics)
        _ = await queue.addOperation(.limit(hosts, key: "a", weight: 1001)) {}.result
        await until { statistics.snapshot.map(\.failed) == [1] }
        #expect(statistics.snapshot.map(\.name) == ["a"] && statistics.snapshot.map(\.added) == [1])
    }

    @Test("the oldest operation of each key has an age")
    func oldestAge() async throws {
        let statistics = OperationStatistics(keysOf: hosts)
        let queue = TaskOperationQueue(.init(isSuspended: true))
        queue.addObserver(statistics)
        for key in ["a", "b"] {
            for _ in 0..<3 { queue.addOperation(.limit(hosts, key: key)) {} }
            try await Task.sleep(for: .milliseconds(2))
        }
        let ages = statistics.snapshot.compactMap(\.oldestAge)
        #expect(ages.count == 2 && ages[0] >= ages[1] + .milliseconds(1) && ages[1] >= .milliseconds(1))
        queue.cancelAllOperations()
        await until { statistics.snapshot.allSatisfy { $0.oldestAge == nil } }
    }

    @Test("the key that was idle longest is replaced, and a key with unfinished operations never is")
    func replacement() async throws {
        let statistics = OperationStatistics(keysOf: hosts, maxKeyCount: 3)
        let (queue, gate) = (TaskOperationQueue(), Gate())
        queue.addObserver(statistics)
        let busy = queue.addOperation(.limit(hosts, key: "busy")) { await gate.pass() }
        func use(_ keys: String...) async throws {
            for key in keys {
                try await queue.addOperation(.limit(hosts, key: key)) {}.value
                await until { statistics.snapshot.map(\.executing).reduce(0, +) == 1 }
            }
        }
        await gate.waitForArrivals(1)
        try await use("a", "b", "a")
        #expect(statistics.snapshot.map(\.name) == ["busy", "a", "b"])
        try await use("c")
        #expect(statistics.snapshot.map(\.name) == ["other keys", "busy", "a", "c"])
        try await use("b", "d", "busy")
        #expect(statistics.snapshot.map(\.name) == ["other keys", "busy", "b", "d"])
        #expect(statistics.snapshot.map(\.succeeded) == [4, 1, 1, 1])
        #expect(statistics.snapshot[0].executed.count == 4)
        gate.open()
        try await busy.value
    }

    @Test("operations of a new key are counted as others while all keys have unfinished operations")
    func busyKeys() async throws {
        let statistics = OperationStatistics(keysOf: hosts, maxKeyCount: 2)
        let (queue, gate) = (TaskOperationQueue(.init(isSuspended: true)), Gate())
        queue.addObserver(statistics)
        let operations = ["a", "b", "c", "d"].map { key in
            queue.addOperation(.limit(hosts, key: key)) { if key != "b" { await gate.pass() } }
        }
        #expect(statistics.snapshot.map(\.name) == ["other keys", "a", "b"])
        #expect(statistics.snapshot.map(\.queued) == [2, 1, 1])
        queue.maxConcurrentOperationCount = 4
        queue.isSuspended = false
        await gate.waitForArrivals(3)
        try await operations[1].value
        await until { statistics.snapshot.map(\.executing) == [2, 1, 0] }
        // The operations of a key that is no longer one of the others are counted in two groups.
        let last = queue.addOperation(.limit(hosts, key: "c")) {}
        #expect(statistics.snapshot.map(\.name) == ["other keys", "a", "c"])
        gate.open()
        try await last.value
        try await queue.waitUntilAllOperationsAreFinished()
        await until { statistics.snapshot.map(\.succeeded) == [3, 1, 1] }
        #expect(statistics.snapshot.map(\.added) == [3, 1, 1])
    }

    @Test(
        "the number of groups is bounded, and no operation is lost",
        arguments: [(0, 4000), (10, isDeep ? 100_000 : 20_000)])
    func manyKeys(maxKeyCount: Int, keyCount: Int) async throws {
        let statistics = OperationStatistics(keysOf: hosts, maxKeyCount: maxKeyCount)
        let queues = (0..<2).map { _ in TaskOperationQueue() }
        for queue in queues { queue.addObserver(statistics) }
        for start in stride(from: 0, to: keyCount, by: 2000) {
            for number in start..<start + 2000 { queues[number % 2].addOperation(.limit(hosts, key: number)) {} }
            #expect(statistics.snapshot.count <= maxKeyCount + 1)
            for queue in queues { try await queue.waitUntilAllOperationsAreFinished() }
        }
        await until { statistics.snapshot.reduce(0) { $0 + $1.succeeded } == keyCount }
        let groups = statistics.snapshot
        #expect(groups.count == maxKeyCount + 1 && groups[0].name == "other keys")
        #expect(groups.reduce(0) { $0 + $1.added } == keyCount)
        #expect(groups.reduce(0) { $0 + $1.executed.count } == keyCount)
        #expect(groups.allSatisfy { $0.queued == 0 && $0.executing == 0 })
    }

    @Test("the description of a key may call the library")
    func descriptions() async throws {
        struct Host: Hashable, CustomStringConvertible {
            static func == (one: Host, other: Host) -> Bool { true }
            func hash(into hasher: inout Hasher) {}
            let text: @Sendable () -> String
            var description: String { text() }
        }
        let (hosts, statistics) = (hosts, OperationStatistics(keysOf: hosts, maxKeyCount: 0))
        let (queue, calls) = (TaskOperationQueue(), Recorder<Int>())
        queue.addObserver(statistics)
        let host = Host { [weak queue] in
            queue?.addOperation {}
            calls.record(hosts.available + statistics.snapshot.count + (queue?.operationCount ?? 0))
            return "host"
        }
        try await queue.addOperation(.limit(hosts, key: host)) {}.value
        await until { statistics.snapshot.map(\.succeeded) == [1] }
        #expect(calls.events.count == 1)
        _ = queue.snapshot()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    private struct WorkFailed: Error {}
}
