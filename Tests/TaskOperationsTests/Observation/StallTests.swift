import Dispatch
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations
@testable import TaskOperationsDiagnosis

/// Deliberate stalls. The report of each one names the cause.
@Suite("A stalled queue names the cause", .inTurns, .endsInTime)
struct StallTests {
    private let clock = ManualClock()
    private let queue = TaskOperationQueue(name: "queue", maxConcurrentOperationCount: 1)

    @Test("a continuation is not resumed")
    func continuation() async throws {
        let gate = Gate()
        let culprit = queue.addOperation(name: "culprit") { await gate.pass() }
        let last = queue.addOperation(name: "last", dependencies: [culprit]) {}
        await gate.waitForArrivals(1)
        let report = try await report()
        #expect(report.culprit == .body(OperationLabel(culprit)))
        #expect(report.duration == .seconds(10) && report.queue.name == "queue")
        #expect(report.holders.map(\.label.name) == ["culprit"])
        gate.open()
        try await last.value
    }

    @Test("a semaphore is not signalled")
    func semaphore() async throws {
        let semaphore = AsyncSemaphore(capacity: 0, name: "signal")
        let waiting = queue.addOperation(name: "waiting") { try await semaphore.acquire() }
        let behind = queue.addOperation(name: "behind") {}
        await until { semaphore.waitingCount == 1 }
        let report = try await report()
        #expect(
            report.culprit
                == .semaphore("semaphore \"signal\", 0 of 0 permits taken", awaitedBy: OperationLabel(waiting))
        )
        semaphore.capacity = 1
        try await behind.value
    }

    @Test("a limit is held by an operation that does not release it")
    func forgottenRelease() async throws {
        let limit = AsyncSemaphore(capacity: 1, name: "connections")
        try await queue.addOperation(name: "forgetful") { try await limit.acquire() }.value
        let waiting = queue.addOperation(name: "waiting") { try await limit.withPermit {} }
        await until { limit.waitingCount == 1 }
        let report = try await report()
        #expect(
            report.culprit
                == .semaphore(
                    "semaphore \"connections\", 1 of 1 permits taken", awaitedBy: OperationLabel(waiting)))
        limit.release()
        try await waiting.value
    }

    @Test("a queue has no room, because its first operation never ends")
    func room() async throws {
        let full = TaskOperationQueue(.init(name: "full", maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1))
        let gate = Gate()
        let culprit = full.addOperation(name: "culprit") { await gate.pass() }
        await gate.waitForArrivals(1)
        full.addOperation(name: "pending") {}
        let late = TaskOperation(name: "late") {}
        let adding = Task { try await full.addOperationWaitingForRoom(late) }
        await until { full.waitingProducerCount == 1 }
        let behind = queue.addOperation(name: "behind", dependencies: [late]) {}
        let report = try await report()
        #expect(report.culprit == .body(OperationLabel(culprit)))
        #expect(report.chain.map(\.operation.name) == ["behind", "late", "culprit"])
        gate.open()
        try await adding.value
        try await behind.value
    }

    @Test("a pause between attempts is no stall")
    func pause() async throws {
        let reports = queue.stalls(longerThan: .seconds(10), clock: clock)
        let retried = queue.addOperation([.retry(.exponential(initial: .seconds(60), attempts: 2)), .clock(clock)]) {
            if RetryPolicy.attempt == 1 { throw CancellationError() }
        }
        await clock.waitForSleepers(1)
        let found = Recorder<StallReport>()
        let watching = Task { for await report in reports { found.record(report) } }
        for sleeper in 2...6 {
            await clock.waitForSleepers(sleeper)
            clock.advance(by: .seconds(10))
        }
        // The next check would be at the end of the pause.
        watching.cancel()
        await watching.value
        clock.advance(by: .seconds(10))
        try await retried.value
        #expect(found.events.isEmpty)
    }

    @Test("a body hangs, and an older operation waits for the end of a delay")
    func behindDelay() async throws {
        let later = queue.addOperation(name: "later", [.delay(.seconds(1000)), .clock(clock)]) {}
        queue.addOperation(name: "afterLater", dependencies: [later]) {}
        let gate = Gate()
        let hung = queue.addOperation(name: "hung") { await gate.pass() }
        await gate.waitForArrivals(1)
        let report = try await report()
        #expect(report.culprit == .body(OperationLabel(hung)))
        #expect(report.chain.map(\.operation.name) == ["hung"])
        gate.open()
        queue.cancelAllOperations()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("a priority is limited to 0")
    func limitedPriority() async throws {
        queue.setMaxConcurrentOperationCount(0, for: .low)
        let low = queue.addOperation(name: "low", priority: .low) {}
        let report = try await report()
        #expect(report.culprit == .priorityLimit(report.queue, awaitedBy: OperationLabel(low)))
        #expect(report.culprit.description == "queue \"queue\" limits operations of the priority of \"low\" to 0")
        queue.setMaxConcurrentOperationCount(1, for: .low)
        try await low.value
    }

    @Test("a body that begins after a delay is reported once it has executed for the limit")
    func bodyAfterDelay() async throws {
        let found = Recorder<StallReport>()
        let (reports, gate) = (queue.stalls(longerThan: .seconds(10), clock: clock), Gate())
        let delayed = queue.addOperation([.delay(.seconds(15)), .clock(clock)]) { await gate.pass() }
        let watching = Task { for await report in reports { found.record(report) } }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(5))
        await gate.waitForArrivals(1)
        clock.advance(by: .seconds(5))
        await clock.waitForSleepers(3)
        #expect(found.events.isEmpty)
        clock.advance(by: .seconds(5))
        await until { !found.events.isEmpty }
        #expect(found.events[0].culprit == .body(OperationLabel(delayed)) && found.events[0].duration == .seconds(25))
        gate.open()
        try await delayed.value
        watching.cancel()
        await watching.value
    }

    @Test("a body that has just begun does not hide one that hangs")
    func youngBody() async throws {
        let queue = TaskOperationQueue(name: "queue", maxConcurrentOperationCount: 2)
        let gates = [Gate(), Gate()]
        let young = queue.addOperation([.delay(.seconds(5)), .clock(clock)]) { await gates[0].pass() }
        let hung = queue.addOperation(name: "hung") { await gates[1].pass() }
        await gates[1].waitForArrivals(1)
        var reports = queue.stalls(longerThan: .seconds(10), clock: clock).makeAsyncIterator()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(5))
        await gates[0].waitForArrivals(1)
        clock.advance(by: .seconds(5))
        let report = try #require(await reports.next())
        #expect(report.culprit == .body(OperationLabel(hung)))
        for gate in gates { gate.open() }
        try await young.value
    }

    @Test("one of a chain of queues is suspended")
    func suspension() async throws {
        let middle = TaskOperationQueue(name: "middle")
        let end = TaskOperationQueue(.init(name: "end", isSuspended: true))
        let first = end.addOperation(name: "first") {}
        let second = middle.addOperation(name: "second", dependencies: [first]) {}
        let third = queue.addOperation(name: "third", dependencies: [second]) {}
        let report = try await report()
        guard case .suspension(let label) = report.culprit else { throw Unexpected(report) }
        #expect(label.number == end.scheduler.queueNumber)
        #expect(report.chain.map(\.operation.name) == ["third", "second", "first"])
        #expect(report.chain.map(\.queue?.name) == ["queue", "middle", "end"])
        end.isSuspended = false
        try await third.value
    }

    private static func hasWaitInBody(_ operation: AnyTaskOperation) -> Bool {
        operation.waitingReasons.contains { if case .body = $0 { true } else { false } }
    }

    @Test("the queue of a group, or of a group within a group, is suspended", arguments: [1, 2])
    func suspendedGroups(depth: Int) async throws {
        let gate = Gate()
        let (members, groups) = (Recorder<AnyTaskOperation>(), Recorder<AnyTaskOperation>())
        @Sendable func addMember(_ group: TaskOperationGroup) async {
            await gate.pass()
            members.record(group.addOperation(name: "member") {})
        }
        let group = queue.addGroup(name: "outer") { outer in
            if depth == 1 { return await addMember(outer) }
            groups.record(outer.addGroup(name: "inner") { await addMember($0) })
        }
        await gate.waitForArrivals(1)
        queue.isSuspended = true
        gate.open()
        await until { members.events.count == 1 && Self.hasWaitInBody(groups.events.last ?? group) }
        let report = try await report()
        guard case .suspension(let label) = report.culprit else { throw Unexpected(report) }
        #expect(label.number == queue.scheduler.queueNumber && report.chain.last?.operation.name == "member")
        #expect(members.events[0].waitingReasons == [.suspended(label)])
        queue.isSuspended = false
        try await group.value
    }

    @Test("an operation that has not started waits for room in a queue whose operations wait for it")
    func roomCycle() async throws {
        let full = TaskOperationQueue(.init(name: "full", maxConcurrentOperationCount: 1, maxQueuedOperationCount: 1))
        let late = TaskOperation(name: "late") {}
        // The queue has one free permit, so one more operation than the limit has room.
        for _ in 0..<2 { full.addOperation(name: "pending", dependencies: [late]) {} }
        let adding = Task { try await full.addOperationWaitingForRoom(late) }
        await until { full.waitingProducerCount == 1 }
        let last = queue.addOperation(name: "last", dependencies: [late]) {}
        let report = try await report()
        #expect(report.culprit == .room(QueueLabel(full.scheduler), awaitedBy: OperationLabel(late)))
        #expect(
            "\(report)".hasPrefix(
                "No operation has ended on queue \"queue\" for 10.0 seconds: \"late\" waits for room in queue \"full\", "
                    + "whose operations wait for it.\n"))
        full.cancelAllOperations()
        try await adding.value
        try await last.value
    }

    @Test("only an operation that has started is named as a body that has not returned")
    func startedCulprits() throws {
        let label = QueueLabel(queue.scheduler)
        let (waiting, executing) = (TaskOperation(name: "waiting") {}, TaskOperation(name: "executing") {})
        func graph(_ reasons: [WaitingReason]) -> OperationGraph {
            let wait = BodyWait(
                target: .operation(OperationLabel(waiting), queue: label), since: .now, isPermitLent: false)
            return .init(
                instant: .now,
                queues: [
                    .init(
                        label: label, maxConcurrentOperationCount: 1, permitsTaken: 1, isSuspended: false,
                        isShutDown: false)
                ],
                operations: [
                    .init(
                        label: OperationLabel(waiting), queue: 0, number: 1, state: .ready, priority: .medium,
                        weight: 1, isBarrier: false, isCancelled: false, reasons: reasons),
                    .init(
                        label: OperationLabel(executing), queue: 0, number: 2, state: .executing, priority: .medium,
                        weight: 1, isBarrier: false, isCancelled: false, reasons: [.body(wait)]),
                ])
        }
        let holder = PermitHolder(operation: OperationLabel(executing), weight: 1, since: nil)
        let culprits: [([WaitingReason], StallReport.Culprit?)] = [
            ([.permits(weight: 1, width: 1, holders: [holder])], .body(OperationLabel(executing))),
            ([.cancellation], .cancellation(label)), ([.finished], nil), ([], nil),
        ]
        for (reasons, culprit) in culprits {
            #expect(StallSearch(graph(reasons), from: label).culprit == culprit, "\(reasons)")
        }
    }

    @Test("the width is 0")
    func width() async throws {
        queue.maxConcurrentOperationCount = 0
        let operations = (0..<3).map { queue.addOperation(name: "\($0)") {} }
        let report = try await report()
        guard case .width(let label) = report.culprit else { throw Unexpected(report) }
        #expect(label.number == queue.scheduler.queueNumber && report.holders.isEmpty)
        queue.maxConcurrentOperationCount = 1
        for operation in operations { try await operation.value }
    }

    @Test("a dependency was not added to a queue")
    func forgottenAddition() async throws {
        let forgotten = TaskOperation(name: "forgotten") {}
        let waiting = queue.addOperation(name: "waiting", dependencies: [forgotten]) {}
        let behind = queue.addOperation(name: "behind", dependencies: [waiting]) {}
        let report = try await report()
        #expect(report.culprit == .notAdded(OperationLabel(forgotten)))
        #expect(
            "\(report)".hasPrefix(
                "No operation has ended on queue \"queue\" for 10.0 seconds: \"forgotten\" was not added"))
        try queue.addOperation(forgotten)
        try await behind.value
    }

    @Test("a barrier is behind an operation that sleeps")
    func barrier() async throws {
        queue.maxConcurrentOperationCount = 4
        let gate = Gate()
        let quick = queue.addOperation(name: "quick") {}
        let sleeper = queue.addOperation(name: "sleeper") { await gate.pass() }
        try await quick.value
        let barrier = queue.addBarrier(name: "barrier") {}
        let others = (0..<5).map { queue.addOperation(name: "behind \($0)") {} }
        await until { sleeper.isExecuting }
        let report = try await report()
        #expect(report.culprit == .body(OperationLabel(sleeper)))
        #expect(
            report.graph.operations.first { $0.label.name == "behind 4" }?.reasons == [
                .barrier(OperationLabel(barrier))
            ])
        gate.open()
        for operation in others { try await operation.value }
    }

    @Test("a completion handler is not called")
    func completionHandler() async throws {
        let kept = Lock<CompletionHandler<Void>?>(nil)
        let call = TaskOperation<Void>(name: "call") { completion in kept.withLock { $0 = completion } }
        try queue.addOperation(call)
        let behind = queue.addOperation(name: "behind") {}
        await until { Self.hasWaitInBody(call) }
        let report = try await report()
        #expect(report.culprit == .completionHandler("the completion of \"call\"", awaitedBy: OperationLabel(call)))
        kept.withLock { $0.take() }?(returning: ())
        try await behind.value
    }

    @Test("a handler that is called at the end does not return")
    func endHandler() async throws {
        let semaphore = DispatchSemaphore(value: 0)
        let executor = BlockingExecutor(maxThreadCount: 1)
        let queue = TaskOperationQueue(.init(name: "queue", maxConcurrentOperationCount: 1, executor: executor))
        let ended = TaskOperation(name: "ended") {}
        let isCalled = Gate()
        ended.addCompletionHandler {
            isCalled.open()
            block(on: semaphore)
        }
        try queue.addOperation(ended)
        await isCalled.pass()
        let behind = queue.addOperation(name: "behind") {}
        let report = try await report(of: queue)
        #expect(report.culprit == .handler(OperationLabel(ended)))
        semaphore.signal()
        try await behind.value
    }

    @Test("an operation that user code awaits waits for its waiter")
    func cycleThroughUserCode() async throws {
        let other = TaskOperationQueue(name: "other", maxConcurrentOperationCount: 1)
        let (first, second) = (Gate(), Gate())
        let one = queue.addOperation(name: "one") {
            await first.pass()
            second.open()
        }
        let two = other.addOperation(name: "two", dependencies: []) {
            await second.pass()
            first.open()
        }
        let last = queue.addOperation(name: "last", dependencies: [one, two]) {}
        await until { one.isExecuting && two.isExecuting }
        let report = try await report()
        #expect(report.culprit == .body(OperationLabel(one)))
        let bodies = report.graph.operations.filter { $0.state == .executing }.map(\.label.name)
        #expect(bodies == ["one", "two"], "both halves of the cycle are there to be seen")
        first.open()
        try await last.value
    }

    @Test("there is no report while operations end, on an empty queue, and for delays")
    func noStall() async throws {
        let reports = queue.stalls(longerThan: .seconds(10), clock: clock)
        let delayed = queue.addOperation([.delay(.seconds(1000)), .clock(clock)]) {}
        let found = Lock(0)
        let watching = Task { for await _ in reports { found.withLock { $0 += 1 } } }
        for _ in 0..<20 {
            await clock.waitForSleepers(1)
            try await queue.addOperation {}.value
            clock.advance(by: .seconds(9))
        }
        #expect(found.withLock { $0 } == 0)
        let gate = Gate()
        let stuck = queue.addOperation { await gate.pass() }
        await gate.waitForArrivals(1)
        while found.withLock({ $0 }) < 3 {
            clock.advance(by: .seconds(10))
            await Task.yield()
        }
        gate.open()
        try await stuck.value
        delayed.cancel()
        watching.cancel()
        await watching.value
    }

    // MARK: Looking

    /// Returns the first report, after ten seconds.
    private func report(of queue: TaskOperationQueue? = nil) async throws -> StallReport {
        var reports = (queue ?? self.queue).stalls(longerThan: .seconds(10), clock: clock).makeAsyncIterator()
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(10))
        return try #require(await reports.next())
    }

    private struct Unexpected: Error {
        init(_ report: StallReport) { Issue.record("\(report)") }
    }
}

/// Runs in a separate process, because it occupies all threads of the pool.
@Suite("A queue that is stalled by a blocked pool", .inTurns, .prompt, .endsInTime)
struct BlockedPoolTests {
    @Test("operations that wait for a thread, and those that block all, name the blocked pool")
    func blockedPool() async throws {
        await #expect(processExitsWith: .success) { try await BlockedPoolTests.blockPool() }
    }

    static func blockPool() async throws {
        let semaphore = DispatchSemaphore(value: 0)
        let blocking = TaskOperationQueue(name: "blocking", maxConcurrentOperationCount: 64)
        let waiting = TaskOperationQueue(name: "waiting")
        let executor = ThreadExecutor(name: "reports")
        let reports = Recorder<StallReport>()
        Task.detached(executorPreference: executor) {
            for await report in blocking.stalls(longerThan: .milliseconds(500)) where report.isPoolBlocked {
                // On a busy machine, none of the bodies may have begun yet.
                guard case .body = report.culprit else { continue }
                reports.record(report)
                // Added only now: before the stall, the operation could start on a free thread.
                waiting.addOperation(name: "starved") {}
                return
            }
        }
        Task.detached(executorPreference: executor) {
            for await report in waiting.stalls(longerThan: .milliseconds(500)) where report.isPoolBlocked {
                reports.record(report)
                for _ in 0..<64 { semaphore.signal() }
                return
            }
        }
        let bodies = (0..<64).map { blocking.addOperation(name: "\($0)") { block(on: semaphore) } }
        for body in bodies { try await body.value }
        try await waiting.waitUntilAllOperationsAreFinished()
        let found = reports.events
        #expect(found.map(\.queue.name) == ["blocking", "waiting"])
        #expect(found.last?.culprit == .pool)
        let isBody = found.first { $0.queue.name == "blocking" }.map { report in
            if case .body = report.culprit { true } else { false }
        }
        #expect(isBody == true)
    }
}
