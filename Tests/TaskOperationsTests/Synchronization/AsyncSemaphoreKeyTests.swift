import Synchronization
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("AsyncSemaphore with keys", .inTurns, .endsInTime)
struct AsyncSemaphoreKeyTests {
    @Test("No key and no total exceeds its capacity, and all permits are used")
    func capacities() async throws {
        let semaphore = AsyncSemaphore(capacity: 5, perKey: 2)
        let (all, gate) = (ConcurrencyMeter(), Gate())
        let perKey = (0..<4).map { _ in ConcurrencyMeter() }
        try await withThrowingTaskGroup { group in
            for number in 0..<80 {
                group.addTask {
                    try await semaphore.withPermit(key: "host \(number % 4)") {
                        await all.measure { await perKey[number % 4].measure { await gate.pass() } }
                    }
                }
            }
            await gate.waitForArrivals(5)
            await until { semaphore.waitingCount == 75 }
            #expect((all.now, semaphore.available) == (5, 0))
            #expect((0..<4).reduce(0) { $0 + semaphore.takenCount(for: "host \($1)") } == 5)
            #expect((0..<4).reduce(0) { $0 + semaphore.waitingCount(for: "host \($1)") } == semaphore.waitingCount)
            gate.open()
            try await group.waitForAll()
        }
        #expect((all.total, all.most) == (80, 5))
        #expect(perKey.allSatisfy { $0.total == 20 && $0.most <= 2 })
        #expect(await eventually { semaphore.available == 5 && semaphore.keyCount == 0 })
    }

    @Test("A key at its capacity delays no task of another key or without a key")
    func capped() async throws {
        let semaphore = AsyncSemaphore(capacity: 4, perKey: 1)
        let gate = Gate()
        let first = Task { try await semaphore.withPermit(key: 1) { await gate.pass() } }
        await gate.waitForArrivals(1)
        let second = Task { try await semaphore.withPermit(key: 1) { await gate.pass() } }
        await until { semaphore.waitingCount == 1 }
        #expect(try await semaphore.withPermit(key: 2) { semaphore.available } == 2)
        #expect(try await semaphore.withPermit { semaphore.available } == 2)
        #expect(semaphore.tryAcquire(weight: 3))
        semaphore.release(weight: 3)
        #expect(semaphore.waitingCount(for: 1) == 1)
        gate.open()
        try await first.value
        try await second.value
    }

    @Test("Raising the capacity for each key resumes waiting tasks, and nil removes it", .schedules(20))
    func changingTheCapacityPerKey() async throws {
        let semaphore = AsyncSemaphore(capacity: 9, perKey: 0)
        #expect(semaphore.capacityPerKey == 0)
        let gate = Gate()
        try await withThrowingTaskGroup { group in
            for _ in 0..<5 { group.addTask { try await semaphore.withPermit(key: "a") { await gate.pass() } } }
            await until { semaphore.waitingCount == 5 }
            semaphore.capacityPerKey = 3
            await gate.waitForArrivals(3)
            await untilOthersWait()
            #expect(semaphore.takenCount(for: "a") == 3)
            semaphore.capacityPerKey = nil
            await gate.waitForArrivals(5)
            gate.open()
            try await group.waitForAll()
        }
        #expect(semaphore.capacityPerKey == nil)
    }

    @Test("Keys of different types are different, and nil is no key")
    func kindsOfKeys() async throws {
        let semaphore = AsyncSemaphore(capacity: 9, perKey: 1)
        try await semaphore.withPermit(key: 1) {
            try await semaphore.withPermit(key: Int8(1)) {
                try await semaphore.withPermit(key: Int?.some(2)) {
                    try await semaphore.withPermit(key: String?.none) {
                        #expect(semaphore.keyCount == 3 && semaphore.available == 5)
                    }
                }
            }
        }
        #expect(await eventually { semaphore.keyCount == 0 })
    }

    @Test("A weight above the capacity for each key throws an error")
    func excessiveWeight() async throws {
        let semaphore = AsyncSemaphore(capacity: 9, perKey: 2, name: "hosts")
        let error = await #expect(throws: TaskOperationError.self) {
            try await semaphore.withPermit(key: 1, weight: 3) {}
        }
        let text = "3 permits of semaphore \"hosts\", which has never had more than 2"
        #expect(error?.description.contains(text) == true)
        try await semaphore.withPermit(weight: 3) {}
        #expect(semaphore.keyCount == 0)
    }

    @Test("A task whose wait ends early takes no permit of its key")
    func cancellation() async throws {
        let semaphore = AsyncSemaphore(capacity: 2, perKey: 1)
        let gate = Gate()
        let holder = Task { try await semaphore.withPermit(key: 1) { await gate.pass() } }
        await gate.waitForArrivals(1)
        let cancelled = Task { try await semaphore.withPermit(key: 1) {} }
        await until { semaphore.waitingCount == 1 }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        await waitTimeout {
            try await semaphore.withPermit(key: 1, timeout: .milliseconds(1)) {}
        }
        gate.open()
        try await holder.value
        #expect(await eventually { semaphore.available == 2 && semaphore.keyCount == 0 })
    }

    @Test("Keys share the permits in proportion to their shares")
    func shares() async throws {
        let semaphore = AsyncSemaphore(capacity: 1)
        semaphore.setShare(3, for: "large")
        let order = Recorder<String>()
        try await semaphore.acquire()
        try await withThrowingTaskGroup { group in
            for number in 0..<24 {
                let key = number < 12 ? "small" : "large"
                group.addTask { try await semaphore.withPermit(key: key) { order.record(key) } }
                await until { semaphore.waitingCount == number + 1 }
            }
            semaphore.release()
            try await group.waitForAll()
        }
        #expect(order.events.prefix(12).count(where: { $0 == "large" }) == 9)
        #expect(semaphore.keyCount == 1)
        semaphore.setShare(1, for: "large")
        #expect(semaphore.keyCount == 0)
    }

    // MARK: Attacks

    /// A key whose equality and hash are decided by functions.
    private struct Liar: Hashable, Sendable {
        let hash: @Sendable () -> Int
        let isEqual: @Sendable () -> Bool

        static func == (one: Self, other: Self) -> Bool { one.isEqual() }

        func hash(into hasher: inout Hasher) { hasher.combine(hash()) }
    }

    @Test("Keys that lie about equality or hash lose no permit and use no memory", arguments: 0..<3)
    func liars(kind: Int) async throws {
        let semaphore = AsyncSemaphore(capacity: 3, perKey: 1)
        let count = Atomic(0)
        let meter = ConcurrencyMeter()
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                let key =
                    switch kind {
                    case 0: Liar(hash: { 1 }, isEqual: { false })
                    case 1: Liar(hash: { count.add(1, ordering: .relaxed).newValue }, isEqual: { true })
                    default: Liar(hash: { number % 5 }, isEqual: { number.isMultiple(of: 2) })
                    }
                group.addTask {
                    try await semaphore.withPermit(key: key) { await meter.measure { await Task.yield() } }
                }
            }
            try await group.waitForAll()
        }
        #expect(meter.total == 200 && meter.most <= 3)
        #expect(await eventually { semaphore.available == 3 && semaphore.keyCount == 0 })
    }

    @Test("A key may call its semaphore in its functions and when it is released")
    func calls() async throws {
        final class Caller: Hashable, Sendable {
            let semaphore: AsyncSemaphore
            init(_ semaphore: AsyncSemaphore) { self.semaphore = semaphore }
            static func == (one: Caller, other: Caller) -> Bool { one.semaphore.tryAcquire(weight: 100) == false }
            func hash(into hasher: inout Hasher) { hasher.combine(semaphore.takenCount(for: "other")) }
            deinit { _ = semaphore.takenCount(for: "other") }
        }
        let semaphore = AsyncSemaphore(capacity: 2, perKey: 1)
        for _ in 0..<3 {
            try await semaphore.withPermit(key: Caller(semaphore)) {
                semaphore.setShare(2, for: Caller(semaphore))
                semaphore.setShare(1, for: Caller(semaphore))
            }
        }
        #expect(await eventually { semaphore.available == 2 && semaphore.keyCount == 0 })
    }

    @Test("Many keys that come and go leave nothing behind", .computing)
    func comingAndGoing() async throws {
        let semaphore = AsyncSemaphore(capacity: 4, perKey: 1)
        try await withThrowingTaskGroup { group in
            for part in 0..<4 {
                group.addTask {
                    for number in 0..<(isDeep ? 10_000 : 1000) {
                        try await semaphore.withPermit(key: number * (part + 1)) {}
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(await eventually { semaphore.available == 4 && semaphore.keyCount == 0 })
    }
}

extension AsyncSemaphore {
    fileprivate var keyCount: Int { storage.withLock { $0.state.keyCount } }
}
