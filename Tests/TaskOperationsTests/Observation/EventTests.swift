import Dispatch
import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Observers learn of everything that happens to operations", .inTurns, .endsInTime)
struct EventTests {
    @Test("an operation has its states in order", .schedules(20))
    func states() async throws {
        let (journal, gate) = (EventJournal(), Gate())
        let queue = TaskOperationQueue(name: "work", maxConcurrentOperationCount: 1)
        queue.addObserver(journal)
        let first = queue.addOperation(name: "first") { await gate.pass() }
        let second = queue.addOperation(name: "second", dependencies: [first]) { throw WorkFailed() }
        let third = queue.addOperation(name: "third") {}
        third.priority = .high
        third.cancel()
        await gate.waitForArrivals(1)
        first.cancel()
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(journal.story(of: first) == ["added", "ready", "started", "cancelled", "succeeded"])
        #expect(journal.story(of: second) == ["added", "ready", "started", "failed: \(WorkFailed())"])
        #expect(journal.story(of: third) == ["added", "ready", "priority high", "cancelled", "ended as cancelled"])
        #expect(journal.faults() == [])
        #expect(
            journal.events.allSatisfy {
                $0.queue.number == queue.scheduler.queueNumber && $0.queue.name == "work" && !$0.isReplayed
            })
        #expect(journal.events.first?.number == 1)
        #expect(Set(journal.events.map(\.operationNumber)) == [1, 2, 3])
        for case .started(let dependencies) in journal.events.filter({ $0.operation === second }).map(\.kind) {
            #expect(dependencies == [first])
        }
    }

    @Test("the first event of an operation has the keys of its limits, even if the operation has ended")
    func keys() async throws {
        let hosts = AsyncSemaphore(capacity: 9, name: "hosts")
        let (tenants, unused) = (AsyncSemaphore(capacity: 9), AsyncSemaphore(capacity: 9))
        let queue = TaskOperationQueue(.init(isSuspended: true, defaults: .limit(tenants, key: 7)))
        let options: OperationOptions = [.limit(hosts, key: "a"), .limit(unused)]
        let journal = EventJournal { [weak queue] event in
            // The events of the second operation are delivered after this one, when that operation has ended.
            if event.number == 1 { queue?.addOperation(options) {}.cancel() }
        }
        queue.addObserver(journal)
        queue.addOperation(.limit(tenants, key: 8)) {}
        let keys = journal.events.map { event in [hosts, tenants, unused].map { event.key(of: $0).map { "\($0)" } } }
        let added = journal.events.filter { if case .added = $0.kind { true } else { false } }
        #expect(added.map(\.number) == [1, 3] && keys[0] == [nil, "8", nil] && keys[2] == ["a", "7", nil])
        #expect(keys.joined().count { $0 != nil } == 3, "Only the first events have keys.")
        #expect(added[1].key(of: hosts) as? String == "a")
        queue.isSuspended = false
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("a body that lends its permit has it back before it continues", .schedules(20))
    func lending() async throws {
        let journal = EventJournal()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        queue.addObserver(journal)
        let outer = queue.addOperation(name: "outer") {
            try await queue.addOperation(name: "inner") {}.value
        }
        try await outer.value
        #expect(
            journal.story(of: outer) == [
                "added", "ready", "started", "lent its permit", "has its permit back", "waited for \"inner\"",
                "succeeded",
            ])
        #expect(journal.faults() == [])
    }

    @Test("a body that has awaited an operation says so, and nothing is said of pauses", .schedules(20))
    func waits() async throws {
        let (journal, clock) = (EventJournal(), ManualClock())
        let queue = TaskOperationQueue()
        queue.addObserver(journal)
        let first = queue.addOperation(name: "first") { await Task.yield() }
        let second = queue.addOperation([.retry(.exponential(initial: .seconds(1), attempts: 2)), .clock(clock)]) {
            if RetryPolicy.attempt == 1 { throw WorkFailed() }
            await withPermitLent { await Task.yield() }
        }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(1))
        try await second.value
        try await first.value
        let late = queue.addOperation {
            async let one: Void = second.value
            try await first.value
            try await one
        }
        try await late.value
        #expect(!journal.story(of: second).contains { $0.hasPrefix("waited") })
        let waiting = queue.addOperation {
            let inner = queue.addOperation(name: "inner") { await Task.yield() }
            try await inner.value
        }
        try await waiting.value
        let story = journal.story(of: waiting)
        #expect(story.count { $0 == "waited for \"inner\"" } <= 1)
        #expect(journal.faults() == [])
    }

    @Test("each further attempt is told", .schedules(20))
    func attempts() async throws {
        let journal = EventJournal()
        let queue = TaskOperationQueue()
        queue.addObserver(journal)
        let operation = queue.addOperation(.retry(.immediately(attempts: 3))) { throw WorkFailed() }
        await #expect(throws: WorkFailed.self) { try await operation.value }
        #expect(
            journal.story(of: operation) == [
                "added", "ready", "started", "attempt 2", "attempt 3", "failed: \(WorkFailed())",
            ])
    }

    @Test("a late observer first receives the present state", .schedules(20))
    func lateObserver() async throws {
        let gate = Gate()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        try await queue.addOperation(name: "over") {}.value
        let executing = queue.addOperation(name: "executing") { await gate.pass() }
        await gate.waitForArrivals(1)
        executing.cancel()
        let ready = queue.addOperation(name: "ready") {}
        let pending = queue.addOperation(name: "pending", dependencies: [ready]) {}
        let journal = EventJournal()
        queue.addObserver(journal)
        queue.addObserver(journal)
        #expect(journal.story(of: executing) == ["added", "ready", "started", "cancelled"])
        #expect(journal.story(of: ready) == ["added", "ready"])
        #expect(journal.story(of: pending) == ["added"])
        #expect(journal.events.allSatisfy { $0.isReplayed })
        #expect(journal.events.map(\.operationNumber) == [2, 2, 2, 2, 3, 3, 4])
        gate.open()
        try await pending.value
        #expect(journal.story(of: pending) == ["added", "ready", "started", "succeeded"])
        #expect(journal.faults() == [])
    }

    @Test("events of many threads are in order, without a gap, and told by one thread at a time")
    func manyThreads() async throws {
        let journal = EventJournal()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 4)
        queue.addObserver(journal)
        await concurrentPerform(over: 0..<8, width: 8) { part in
            var last: AnyTaskOperation?
            for number in 0..<200 {
                let dependencies = last.map { [$0] } ?? []
                last = queue.addOperation(dependencies: dependencies) {}
                if number.isMultiple(of: 7) { last?.cancel() }
                if number.isMultiple(of: 5) { last?.priority = part.isMultiple(of: 2) ? .high : .low }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(await eventually { journal.events.count { $0.kind.isEnd } == 1600 })
        #expect(journal.faults() == [])
    }

    @Test("an observer can add operations, cancel them, and leave, as deep as it likes")
    func reentrantObserver() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let journal = EventJournal { [unowned queue] event in
            if case .added = event.kind, event.operationNumber < 5000 { queue.addOperation {}.cancel() }
        }
        queue.addObserver(journal)
        queue.addOperation {}
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(await eventually { journal.events.count { $0.kind.isEnd } == 5000 })
        #expect(journal.faults() == [])
        queue.removeObserver(journal)
    }

    @Test("an observer that blocks delays only the thread that calls it")
    func blockingObserver() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, isSuspended: true))
        let isDone = DispatchSemaphore(value: 0)
        let journal = EventJournal { if $0.number == 1 { isDone.wait() } }
        queue.addObserver(journal)
        let gate = Gate()
        // This thread delivers the events of the addition and the end itself. It is not a worker, which would also hold
        // the next operation.
        let error = SystemThread.start(name: "blocked") {
            queue.addOperation {}.cancel()
            gate.open()
        }
        #expect(error == 0)
        await until { !journal.events.isEmpty }
        queue.isSuspended = false
        for _ in 0..<100 { queue.addOperation {} }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(journal.events.count == 1)
        isDone.signal()
        await gate.pass()
        await until { journal.events.count { $0.kind.isEnd } == 101 }
        #expect(journal.faults() == [])
    }

    @Test(
        "an observer that was removed is told nothing more and freed, and the queue tells nothing then", .schedules(10))
    func removing() async throws {
        let queue = TaskOperationQueue()
        weak var freed: EventJournal?
        do {
            let journal = EventJournal()
            freed = journal
            queue.addObserver(journal)
            try await queue.addOperation {}.value
            queue.removeObserver(journal)
            let count = journal.events.count
            try await queue.addOperation {}.value
            #expect(count == 4 && journal.events.count == count)
        }
        #expect(freed == nil)
        let second = EventJournal()
        queue.addObserver(second)
        try await queue.addOperation {}.value
        #expect(second.events.map(\.number) == [5, 6, 7, 8], "what nobody was told has no number")
    }
}

extension TaskOperationEvent.Kind {
    var isEnd: Bool { if case .finished = self { true } else { false } }
}
