import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations
@testable import TaskOperationsDiagnosis

@Suite("Reasons why operations wait", .inTurns, .endsInTime)
struct WaitingReasonTests {
    @Test("an operation that is on no queue, or is over", .schedules(5))
    func outsideOfQueues() async throws {
        let operation = TaskOperation(name: "made") {}
        #expect(operation.waitingReasons == [.notAdded])
        #expect(operation.waitingExplanation == "\"made\" was not added to a queue.")
        try TaskOperationQueue().addOperation(operation)
        try await operation.value
        #expect(operation.waitingReasons == [.finished])
    }

    @Test("dependencies on other queues and on none, and barriers", .schedules(5))
    func dependenciesAndBarriers() async throws {
        let net = TaskOperationQueue(.init(name: "net", isSuspended: true))
        let queue = TaskOperationQueue(.init(name: "images", isSuspended: true))
        let (download, forgotten) = (net.addOperation(name: "download") {}, TaskOperation(name: "forgotten") {})
        let decode = queue.addOperation(name: "decode", dependencies: [download, forgotten]) {}
        let barrier = queue.addBarrier(name: "barrier") {}
        let behind = queue.addOperation(name: "behind") {}
        let last = queue.addBarrier(name: "last") {}
        let (netLabel, label) = (try #require(net.label), try #require(queue.label))
        #expect(
            decode.waitingReasons == [
                .dependency(OperationLabel(download), queue: netLabel),
                .dependency(OperationLabel(forgotten), queue: nil), .suspended(label),
            ])
        #expect(barrier.waitingReasons == [.operationsBefore(count: 1), .suspended(label)])
        #expect(behind.waitingReasons == [.barrier(OperationLabel(barrier)), .suspended(label)])
        #expect(
            last.waitingReasons == [
                .barrier(OperationLabel(barrier)), .operationsBefore(count: 1), .suspended(label),
            ])
        #expect(
            behind.waitingExplanation
                == "\"behind\" waits behind the barrier \"barrier\", and waits for queue \"images\" to be resumed.")
        queue.cancelAllOperations()
        net.cancelAllOperations()
    }

    @Test("turns, permits and their holders, with times", .schedules(5))
    func turnsAndPermits() async throws {
        let gate = Gate()
        let queue = TaskOperationQueue(name: "work", maxConcurrentOperationCount: 1)
        let unobserved = queue.addOperation(name: "unobserved") { await gate.pass() }
        await gate.waitForArrivals(1)
        let (first, second) = (queue.addOperation { await gate.pass() }, queue.addOperation {})
        second.priority = .low
        let holder = PermitHolder(operation: OperationLabel(unobserved), weight: 1, since: nil)
        #expect(first.waitingReasons == [.permits(weight: 1, width: 1, holders: [holder])])
        #expect(second.waitingReasons == [.turn(ahead: 1), .permits(weight: 1, width: 1, holders: [holder])])
        #expect(unobserved.waitingReasons == [.execution(since: nil)])
        let journal = EventJournal()
        queue.addObserver(journal)
        let before = ContinuousClock.now
        gate.open()
        try await first.value
        try await second.value
        try await Task.sleep(for: .milliseconds(1))
        let closed = Gate()
        let observed = queue.addOperation { await closed.pass() }
        await closed.waitForArrivals(1)
        try await Task.sleep(for: .milliseconds(1))
        guard case .execution(let since?) = observed.waitingReasons.first else {
            Issue.record("\(observed.waitingReasons)")
            return closed.open()
        }
        #expect(since > before && since < .now)
        closed.open()
        try await observed.value
    }

    @Test("an operation of weight 2 waits for 2 permits, of which one is free", .schedules(5))
    func weights() async throws {
        let gate = Gate()
        let queue = TaskOperationQueue(name: "work", maxConcurrentOperationCount: 4)
        let holder = queue.addOperation(name: "holder", .weight(3)) { await gate.pass() }
        await gate.waitForArrivals(1)
        let heavy = queue.addOperation(name: "heavy", .weight(2)) {}
        let behind = queue.addOperation(name: "behind") {}
        let sentence = "waits for 2 of 4 permits, of which 1 is free and the others are held by \"holder\""
        #expect(heavy.waitingExplanation == "\"heavy\" \(sentence).")
        #expect(behind.waitingExplanation == "\"behind\" is behind 1 other, and \(sentence).")
        gate.open()
        for operation in [holder, heavy, behind] { try await operation.value }
    }

    @Test("the numbers of a decoded reason can be any numbers")
    func decodedReasons() {
        let label = OperationLabel(TaskOperation(name: "a") {})
        for weight in [Int.max, .min] {
            let holders = [
                PermitHolder(operation: label, weight: weight, since: nil),
                .init(operation: label, weight: 1, since: nil),
            ]
            for width in [Int.max, .min, 1] {
                let reason = WaitingReason.permits(weight: weight, width: width, holders: holders)
                #expect(reason.description.hasPrefix("waits for \(weight) of "))
            }
        }
    }

    @Test("width 0, a delay, and an executor that is late", .schedules(5))
    func widthAndDelay() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 0)
        let (operation, delayed) = (queue.addOperation {}, queue.addOperation([.delay(.seconds(5)), .clock(clock)]) {})
        #expect(operation.waitingReasons == [.permits(weight: 1, width: 0, holders: [])])
        #expect(delayed.waitingReasons == [.delay])
        queue.maxConcurrentOperationCount = 1
        #expect(operation.waitingReasons == [.executor], "nothing runs while this test does")
        delayed.cancel()
        try await operation.value
    }

    @Test("the waits of an executing body, with times, and whether its permit is lent", .schedules(5))
    func bodies() async throws {
        let (gate, start) = (Gate(), ContinuousClock.now)
        let queue = TaskOperationQueue(name: "serial", maxConcurrentOperationCount: 1)
        let other = TaskOperationQueue(name: "other")
        try await Task.sleep(for: .milliseconds(1))
        let awaited = other.addOperation(name: "awaited") { await gate.pass() }
        let keeping = queue.addOperation(name: "keeping") { try await awaited.value }
        await until { keeping.bodyWait != nil }
        let wait = try #require(keeping.bodyWait)
        #expect(wait.target == .operation(OperationLabel(awaited), queue: other.label))
        #expect(!wait.isPermitLent && wait.since > start)
        gate.open()
        try await keeping.value

        let inner = TaskOperation(name: "inner") {}
        queue.isSuspended = false
        let lending = queue.addOperation {
            try queue.addOperation(inner)
            queue.isSuspended = true
            try await inner.value
        }
        await until { lending.bodyWait?.isPermitLent == true }
        #expect(lending.waitingReasons.count == 1)
        #expect(lending.bodyWait?.description == "awaits \"inner\" on queue \"serial\", with its permit lent")
        queue.isSuspended = false
        try await lending.value
    }

    @Test("semaphores, completion handlers, groups, queues and work outside of the library", .schedules(5))
    func otherWaits() async throws {
        let (semaphore, group, gate) = (AsyncSemaphore(capacity: 1, name: "net"), AsyncGroup(), Gate())
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 9)
        let other = TaskOperationQueue(.init(name: "other", isSuspended: true))
        let callback = Lock<CompletionHandler<Void>?>(nil)
        try await semaphore.acquire()
        group.enter()
        let pending = other.addOperation {}
        let waiting: [(TaskOperation<Void>, String)] = [
            (queue.addOperation { try await semaphore.acquire() }, "semaphore \"net\", 1 of 1 permits taken"),
            (queue.addOperation { await group.wait() }, "the end of 1 in a group"),
            (
                queue.addOperation { try await other.waitUntilAllOperationsAreFinished() },
                "the end of all operations in queue \"other\""
            ),
            (
                queue.addOperation { try await withCompletionHandler(name: "call") { callback.set($0) } },
                "the completion of \"call\""
            ),
            (
                queue.addOperation { await withPermitLent { await gate.pass() } },
                "something outside, with its permit lent"
            ),
        ]
        for (operation, expected) in waiting {
            await until { operation.bodyWait != nil }
            #expect(operation.waitingReasons.map { "\($0)" } == ["awaits \(expected)"])
        }
        semaphore.release()
        group.leave()
        gate.open()
        other.isSuspended = false
        callback.withLock { $0.take() }?(returning: ())
        for (operation, _) in waiting {
            try await operation.value
            #expect(operation.waitingReasons == [.finished])
        }
        try await pending.value
    }

    @Test("after a pause, the reason names the limit for which the next attempt waits", .schedules(5))
    func limitAfterPause() async throws {
        let (clock, limit) = (ManualClock(), AsyncSemaphore(capacity: 1, name: "disk"))
        let queue = TaskOperationQueue(name: "queue")
        let retried = queue.addOperation(
            name: "retried", [.limit(limit), .retry(.exponential(initial: .seconds(5), attempts: 2)), .clock(clock)]
        ) {
            throw CancellationError()
        }
        await clock.waitForSleepers(1)
        limit.capacity = 0
        clock.advance(by: .seconds(5))
        await untilOthersWait()
        #expect(
            retried.waitingExplanation
                == "\"retried\" awaits semaphore \"disk\", 0 of 0 permits taken, with its permit lent.")
        limit.capacity = 1
        _ = await retried.result
    }

    @Test("a pause between attempts is explained as a pause, not as an operation", .schedules(5))
    func pause() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(name: "queue")
        let retried = queue.addOperation(
            name: "retried", [.retry(.exponential(initial: .seconds(5), attempts: 2)), .clock(clock)]
        ) {
            throw CancellationError()
        }
        await clock.waitForSleepers(1)
        #expect(
            retried.waitingExplanation
                == "\"retried\" awaits the end of a pause of 5.0 seconds before attempt 2, with its permit lent.")
        let gate = Gate()
        let lending = queue.addOperation { await withPermitLent { await gate.pass() } }
        await gate.waitForArrivals(1)
        let graph = queue.snapshot()
        #expect(graph.operations.map(\.label) == [OperationLabel(retried), OperationLabel(lending)])
        #expect(graph.edges.isEmpty)
        gate.open()
        clock.advance(by: .seconds(5))
        _ = await retried.result
        try await lending.value
    }

    @Test("an operation that waits for room has this reason, and so has the body that adds it", .schedules(5))
    func room() async throws {
        let full = TaskOperationQueue(
            .init(
                name: "full", maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1, isSuspended: true))
        let queue = TaskOperationQueue(name: "queue")
        let first = full.addOperation(name: "first") {}
        let late = TaskOperation(name: "late") {}
        let adding = queue.addOperation(name: "adding") { try await full.addOperationWaitingForRoom(late) }
        let behind = queue.addOperation(name: "behind", dependencies: [late]) {}
        await until { full.waitingProducerCount == 1 }
        #expect(late.waitingExplanation == "\"late\" waits for room in queue \"full\".")
        #expect(adding.waitingExplanation == "\"adding\" awaits room in queue \"full\".")
        let graph = TaskOperationQueue.snapshot(of: [full, queue])
        #expect(graph.operations.map(\.label.name) == ["first", "adding", "behind", "late"])
        #expect(graph.operations[3].reasons == [.room(graph.queues[0].label)])
        full.isSuspended = false
        for operation in [first, adding, behind] { try await operation.value }
    }

    @Test("reasons can be asked while everything changes, and are never empty")
    func manyThreads() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        await concurrentPerform(over: 0..<4, width: 4) { _ in
            for number in 0..<(isDeep ? 150 : 60) {
                let first = queue.addOperation {}
                let second = queue.addOperation(dependencies: [first]) {}
                if number.isMultiple(of: 9) { second.cancel() }
                #expect(!first.waitingReasons.isEmpty && !second.waitingReasons.isEmpty)
                if number.isMultiple(of: 50) { #expect(queue.explanation.hasPrefix("an unnamed queue (width 2")) }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
    }
}

extension AnyTaskOperation {
    fileprivate var bodyWait: BodyWait? {
        for case .body(let wait) in waitingReasons { return wait }
        return nil
    }
}

extension TaskOperationQueue {
    fileprivate var label: QueueLabel? { snapshot().queues.first?.label }
}

extension Lock where Value == CompletionHandler<Void>? {
    fileprivate func set(_ handler: CompletionHandler<Void>) { withLock { $0 = handler } }
}
