import Foundation
import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsDeliveries

@Suite("The engine in a journal", .inTurns, .endsInTime)
struct JournalEngineTests {
    private let folder = JournalFolder()

    @Test(
        "deliveries survive the end of the engine, in their order",
        arguments: [JournalDurability.everyRecord, .interval(.seconds(1)), .never])
    func reopening(durability: JournalDurability) async throws {
        var engine = try await folder.open(durability)
        for text in ["a", "b", "c"] { try await engine.enqueue(text) }
        try await engine.next().acknowledge()
        await engine.close()
        engine = try await folder.open(durability)
        #expect(engine.counts == JournalCounts(waiting: 2, held: 0, dead: 0, fileSize: engine.counts.fileSize))
        #expect(try await engine.drain() == ["b", "c"])
        await engine.close()
        #expect(try await folder.open(durability).counts.waiting == 0)
    }

    @Test("a consumer receives the deliveries of a journal, and returns after `finish`")
    func consuming() async throws {
        let engine = try await folder.open(clock: ContinuousClock())
        for number in 0..<50 { try await engine.enqueue("\(number)") }
        engine.finish()
        let (queue, done) = (TaskOperationQueue(maxConcurrentOperationCount: 4), Recorder<String>())
        await queue.consume(engine.deliveries()) { done.record($0) }
        #expect(Set(done.events).count == 50 && done.events.count == 50)
        #expect(engine.counts.waiting == 0 && engine.counts.held == 0)
    }

    @Test("an attempt whose process has ended counts as failed, and the delivery is ready at once")
    func interruptedAttempt() async throws {
        var engine = try await folder.open()
        try await engine.enqueue("a")
        for attempt in 1...2 {
            #expect(try await engine.next().attempt == attempt)
            await engine.close()
            engine = try await folder.open()
        }
        #expect(try await engine.next().attempt == 3)
        await engine.close()
        engine = try await folder.open()
        #expect(!engine.isReady)
        #expect(engine.deadLetters == [DeadLetter(id: 1, identity: nil, failures: 3, reason: "the process has ended")])
        await engine.close()
        #expect(try await folder.open().deadLetters.count == 1)
    }

    @Test("a delivery that fails `maxAttempts` times is a dead letter, which can be retried and dropped")
    func deadLetters() async throws {
        var engine = try await folder.open()
        try await engine.enqueue("a", options: EnqueueOptions(identity: "one", key: "key"))
        try await engine.enqueue("b", options: EnqueueOptions(key: "key"))
        for _ in 1...3 { try await engine.next().reject(retryAfter: .zero, because: TestFailure()) }
        #expect(engine.deadLetters == [DeadLetter(id: 1, identity: "one", failures: 3, reason: "TestFailure()")])
        await engine.close()
        engine = try await folder.open()
        #expect(try await engine.payload(of: 1) == "a")
        let id = try await engine.retryDeadLetter(1)
        #expect(engine.deadLetters.isEmpty)
        await #expect(throws: JournalError.unknownDelivery(id: 1)) { try await engine.retryDeadLetter(1) }
        let first = try await engine.next()
        #expect(first.payload == "b")
        try await first.acknowledge()
        let second = try await engine.next()
        #expect(second.payload == "a" && second.id == id && second.attempt == 1 && second.identity == "one")
        await engine.close()
    }

    @Test("an attempt that was given back does not count as failed")
    func givenBack() async throws {
        let engine = try await folder.open()
        try await engine.enqueue("a")
        for attempt in 1...10 {
            let delivery = try await engine.next()
            #expect(delivery.attempt == attempt)
            try await delivery.reject(retryAfter: .zero)
        }
        #expect(engine.deadLetters.isEmpty)
        for _ in 1...3 { try await engine.next().reject(retryAfter: .zero, because: TestFailure()) }
        try await engine.dropDeadLetter(1)
        #expect(engine.counts.dead == 0)
        await engine.close()
        #expect(try await folder.open().counts.dead == 0)
    }

    @Test("a body that fails for ever ends as a dead letter of a consumer, and the others are done")
    func poison() async throws {
        let engine = try await folder.open(clock: ContinuousClock())
        for text in ["good", "bad", "good"] { try await engine.enqueue(text) }
        engine.finish()
        var configuration = ConsumerConfiguration()
        configuration.options.redelivery = RetryPolicy { _, _ in .zero }
        await TaskOperationQueue().consume(engine.deliveries(), configuration: configuration) { text in
            if text == "bad" { throw TestFailure() }
        }
        #expect(engine.deadLetters.map(\.failures) == [3])
        #expect(engine.counts.waiting == 0)
    }

    @Test("a payload that cannot be decoded is a dead letter, and the next one is delivered")
    func undecodable() async throws {
        var engine = try await folder.open()
        try await engine.enqueue("no number")
        try await engine.enqueue("17")
        await engine.close()
        var configuration = JournalConfiguration(durability: .never)
        configuration.clock = ManualClock()
        let numbers = try await JournalEngine<Int>(directory: folder.path, configuration: configuration)
        #expect(try await numbers.next().payload == 17)
        #expect(numbers.deadLetters.map(\.id) == [1])
        await numbers.close()
        engine = try await folder.open()
        #expect(try await engine.payload(of: 1) == "no number")
    }

    // MARK: - Identities

    @Test("two requests with one identity add one payload, also at the same time and after an opening")
    func idempotence() async throws {
        var engine = try await folder.open()
        let ids = try await withThrowingTaskGroup { [engine] group in
            for _ in 0..<20 {
                group.addTask { try await engine.enqueue("a", options: EnqueueOptions(identity: "one")) }
            }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(ids == [1])
        await engine.close()
        engine = try await folder.open()
        #expect(try await engine.enqueue("b", options: EnqueueOptions(identity: "one")) == 1)
        #expect(try await engine.drain() == ["a"])
        #expect(try await engine.enqueue("c", options: EnqueueOptions(identity: "one")) == 2)
    }

    @Test("the latest edit replaces a waiting one; of one that executes, it waits for the end")
    func replacement() async throws {
        let engine = try await folder.open()
        func edit(_ text: String) async throws {
            try await engine.enqueue(text, options: EnqueueOptions(identity: "note", replaces: true))
        }
        for text in ["1", "2", "3"] { try await edit(text) }
        let held = try await engine.next()
        #expect(held.payload == "3" && engine.counts.waiting == 0)
        try await edit("4")
        try await edit("5")
        #expect(!engine.isReady)
        try await held.reject(retryAfter: .zero, because: TestFailure())
        #expect(try await engine.drain() == ["5"])
        #expect(engine.counts.waiting == 0)
    }

    @Test("a replaced delivery is gone after an opening, whether it was held or not")
    func replacementAndOpening() async throws {
        let engine = try await folder.open()
        try await engine.enqueue("1", options: EnqueueOptions(identity: "note"))
        _ = try await engine.next()
        try await engine.enqueue("2", options: EnqueueOptions(identity: "note", replaces: true))
        await engine.close()
        #expect(try await folder.open().drain() == ["2"])
    }

    @Test("a cancelled identity is not delivered, and can be enqueued again")
    func cancellation() async throws {
        var engine = try await folder.open()
        try await engine.enqueue("1", options: EnqueueOptions(identity: "note"))
        #expect(try await engine.cancel(identity: "note"))
        #expect(try await !engine.cancel(identity: "note"))
        try await engine.enqueue("2", options: EnqueueOptions(identity: "note"))
        let held = try await engine.next()
        #expect(held.payload == "2")
        #expect(try await engine.cancel(identity: "note"))
        try await held.reject(retryAfter: .zero)
        #expect(!engine.isReady && engine.counts.waiting == 0)
        await engine.close()
        engine = try await folder.open()
        #expect(engine.counts.waiting == 0)
    }

    // MARK: - Order

    @Test("deliveries of one key follow each other, also after failures and an opening; keys are beside each other")
    func keys() async throws {
        var engine = try await folder.open()
        for (text, key) in [("a1", "a"), ("a2", "a"), ("b1", "b"), ("a3", "a")] {
            try await engine.enqueue(text, options: EnqueueOptions(key: key))
        }
        let (first, other) = (try await engine.next(), try await engine.next())
        #expect(first.payload == "a1" && other.payload == "b1" && !engine.isReady)
        try await first.reject(retryAfter: .zero, because: TestFailure())
        #expect(try await engine.next().payload == "a1")
        await engine.close()
        engine = try await folder.open()
        #expect(try await engine.drain().filter { $0 != "b1" } == ["a1", "a2", "a3"])
    }

    @Test("of different keys, the more urgent comes first; a key has the priority of its most urgent payload")
    func priorities() async throws {
        let engine = try await folder.open()
        for (text, key, priority) in [
            ("low", "a", TaskPriority.low), ("medium", "b", .medium), ("high", "c", .high), ("urgent", "a", .high),
        ] { try await engine.enqueue(text, options: EnqueueOptions(key: key, priority: priority)) }
        #expect(try await engine.drain() == ["high", "low", "urgent", "medium"])
    }

    // MARK: - Time

    @Test("a delayed delivery waits, and keeps the rest of its delay over an opening; time that has passed counts")
    func delays() async throws {
        let clock = ManualClock()
        let wall = Recorder<UInt64>()
        wall.record(1_000_000)
        func open() async throws -> JournalEngine<String> {
            try await folder.open(clock: clock) { $0.wallClock = { wall.events.last! } }
        }
        var engine = try await open()
        try await engine.enqueue("a", options: EnqueueOptions(delay: .seconds(10)))
        #expect(!engine.isReady)
        await engine.close()
        wall.record(1_004_000)
        engine = try await open()
        clock.advance(by: .seconds(5))
        #expect(!engine.isReady)
        clock.advance(by: .seconds(1))
        #expect(engine.isReady)
        try await engine.next().reject(retryAfter: .seconds(10))
        await engine.close()
        // The clock of the system was set back by a day: at most the whole delay begins again.
        wall.record(0)
        engine = try await open()
        clock.advance(by: .seconds(9))
        #expect(!engine.isReady)
        clock.advance(by: .seconds(1))
        #expect(engine.isReady)
    }

    @Test("the numbers of deliveries are a sequence, which ends with the journal")
    func countUpdates() async throws {
        let engine = try await folder.open()
        var updates = engine.countUpdates().makeAsyncIterator()
        #expect(await updates.next()?.unfinished == 0)
        let waiter = Task { await engine.countUpdates().first { $0.held == 1 } }
        try await engine.enqueue("a")
        #expect(await updates.next()?.waiting == 1)
        let delivery = try await engine.next()
        #expect(await updates.next()?.held == 1)
        #expect(await waiter.value?.unfinished == 1)
        try await delivery.acknowledge()
        #expect(await updates.next()?.unfinished == 0)
        let cancelled = Task { await engine.countUpdates().first { $0.dead == 1 } }
        cancelled.cancel()
        #expect(await cancelled.value == nil)
        await engine.close()
        #expect(await updates.next() == nil)
        #expect(await engine.countUpdates().first { _ in true } == nil)
    }

    @Test("the pause after a failure ends at once on request, and wakes a worker that waits; a delay does not end")
    func retryAtOnce() async throws {
        let engine = try await folder.open(clock: ManualClock())
        try await engine.enqueue("a")
        try await engine.enqueue("b", options: EnqueueOptions(delay: .seconds(10)))
        try await engine.next().reject(retryAfter: .seconds(10), because: TestFailure())
        #expect(!engine.isReady)
        let worker = Task { try await engine.next() }
        engine.retryFailed()
        let delivery = try await worker.value
        #expect(delivery.payload == "a" && delivery.attempt == 2)
        try await delivery.acknowledge()
        engine.retryFailed()
        #expect(!engine.isReady && engine.counts.waiting == 1)
    }

    @Test("a lease that ends counts as a failed attempt, and the former holder no longer changes the delivery")
    func leases() async throws {
        let clock = ManualClock()
        let engine = try await folder.open(clock: clock)
        try await engine.enqueue("a")
        let first = try await engine.next()
        clock.advance(by: .seconds(29))
        try await first.extendLease(by: .seconds(30))
        clock.advance(by: .seconds(29))
        #expect(!engine.isReady)
        clock.advance(by: .seconds(1))
        #expect(try await engine.next().attempt == 2)
        await #expect(throws: DeliveryLeaseLost.self) { try await first.acknowledge() }
        await #expect(throws: DeliveryLeaseLost.self) { try await first.reject(retryAfter: .zero) }
        await #expect(throws: DeliveryLeaseLost.self) { try await first.extendLease(by: .seconds(1)) }
        clock.advance(by: .seconds(30))
        _ = try await engine.next()
        clock.advance(by: .seconds(30))
        #expect(!engine.isReady)
        #expect(engine.deadLetters.map(\.reason) == ["the lease has ended"])
    }

    @Test("a delivery that is pulled as another one dies has its payload")
    func deathAtPull() async throws {
        let clock = ManualClock()
        let engine = try await folder.open(clock: clock) { $0.maxAttempts = 1 }
        for text in ["a", "b"] { try await engine.enqueue(text) }
        #expect(try await engine.next().payload == "a")
        clock.advance(by: .seconds(30))
        #expect(try await engine.next().payload == "b")
        #expect(engine.deadLetters.map(\.reason) == ["the lease has ended"])
    }

    // MARK: - Opening and closing

    @Test("a directory has one engine at a time: the error names the process, and the end of the engine frees it")
    func exclusion() async throws {
        let engine = try await folder.open()
        let process = ProcessInfo.processInfo.processIdentifier
        await #expect(throws: JournalError.inUse(directory: folder.path, process: "\(process)")) {
            _ = try await folder.open()
        }
        await engine.close()
        await engine.close()
        await #expect(throws: JournalError.closed(directory: folder.path)) { try await engine.enqueue("a") }
        await #expect(throws: JournalError.closed(directory: folder.path)) { _ = try await engine.next() }
        _ = try await folder.open()
        // The thread of a released engine ends soon.
        #expect(await eventually { (try? await folder.open()) != nil })
    }

    @Test("a worker that waits for a delivery gets the error when the journal is closed")
    func closingWhileWaiting() async throws {
        let engine = try await folder.open()
        let worker = Task { try await engine.next() }
        await until { engine.store.state.withLock { !$0.pulls.isIdle } }
        await engine.close()
        await #expect(throws: JournalError.closed(directory: folder.path)) { _ = try await worker.value }
    }

    @Test("a pull ends with its task")
    func cancelledPull() async throws {
        let engine = try await folder.open()
        let worker = Task {
            var iterator = engine.deliveries().makeAsyncIterator()
            return try await iterator.next()
        }
        worker.cancel()
        #expect(try await worker.value == nil)
    }

    @Test(
        "a payload of no bytes, and one that is larger than a segment, are delivered",
        arguments: [0, isDeep ? 64 << 20 : 1 << 20])
    func sizes(count: Int) async throws {
        var configuration = JournalConfiguration(durability: .never)
        configuration.segmentSize = 1 << 16
        func open() async throws -> JournalEngine<[UInt8]> {
            try await JournalEngine(directory: folder.path, configuration: configuration, coding: .bytes)
        }
        let bytes = [UInt8](repeating: 0, count: count)
        var engine = try await open()
        try await engine.enqueue(bytes)
        try await engine.enqueue([1])
        await engine.close()
        engine = try await open()
        let delivery = try await engine.next()
        #expect(delivery.payload == bytes)
        try await delivery.acknowledge()
        #expect(try await engine.next().payload == [1])
        await engine.close()
    }
}
