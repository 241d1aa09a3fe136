import Dispatch
import TaskOperations
import TaskOperationsDiagnosis
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Operations that end without their bodies", .inTurns, .endsInTime)
struct AbandonedBodyTests {
    private let clock = ManualClock()
    private let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)

    @Test(
        "the operation ends, its dependents start on other queues, and the permit is returned when the body ends",
        .schedules(20))
    func abandoned() async throws {
        let (gate, cancelled, order) = (Gate(), Gate(), Recorder<String>())
        let operation = queue.addOperation(name: "stuck", [.timeout(.seconds(1)), .overrun(.abandon), .clock(clock)]) {
            await withTaskCancellationHandler {
                await gate.pass()
            } onCancel: {
                cancelled.open()
            }
            order.record("body \(Task.isCancelled)")
            return 5
        }
        operation.addCompletionHandler { order.record("handler") }
        let dependent = TaskOperationQueue().addOperation(dependencies: [operation]) { order.record("dependent") }
        let next = queue.addOperation { order.record("next") }
        await passLimit(gate)
        #expect(await timedOut(operation) == .seconds(1))
        try await dependent.value
        #expect(operation.isFinished)
        #expect(operation.isCancelled)
        #expect(queue.operationCount == 1)
        #expect(queue.operations == [next] || queue.operations == [operation, next])
        await untilOthersWait()
        #expect(!next.isFinished)
        // The dependents may start before the body is cancelled.
        await cancelled.pass()
        gate.open()
        try await next.value
        #expect(order.events == ["handler", "dependent", "body true", "next"])
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(await timedOut(operation) == .seconds(1))
    }

    @Test("the failure of an abandoned operation is collected and reported once")
    func collectedOnce() async throws {
        let (gate, journal) = (Gate(), EventJournal())
        let error = await #expect(throws: OperationFailures.self) {
            try await withTaskOperationQueue(failures: .collect) { queue in
                queue.addObserver(journal)
                let operation = queue.addOperation(
                    name: "stuck", [.timeout(.seconds(1)), .overrun(.abandon), .clock(clock)]
                ) {
                    await gate.pass()
                }
                await passLimit(gate)
                _ = await operation.result
                gate.open()
                try await queue.waitUntilAllOperationsAreFinished()
            }
        }
        #expect(error?.failures.map(\.operation.name) == ["stuck"])
        #expect(journal.finishedCount == 1)
    }

    @Test("a body that is older than an abandoned one can wait until the queue is empty")
    func olderBodyWaits() async throws {
        let gate = Gate()
        let older = TaskOperation { [queue] in try await queue.waitUntilAllOperationsAreFinished() }
        let operation = queue.addOperation([.timeout(.seconds(1)), .overrun(.abandon), .clock(clock)]) {
            await gate.pass()
        }
        await passLimit(gate)
        #expect(await timedOut(operation) == .seconds(1))
        try TaskOperationQueue().addOperation(older)
        await until { older.keepsPermit }
        gate.open()
        try await older.value
    }

    @Test("a queue is not empty before an abandoned body has ended", .schedules(20))
    func queueWaits() async throws {
        let (gate, order) = (Gate(), Recorder<String>())
        let scope = Task {
            _ = try await withTaskOperationQueue(failures: .ignore) { queue in
                queue.addOperation([.timeout(.seconds(1)), .overrun(.abandon), .clock(clock)]) { await gate.pass() }
            }
            order.record("scope")
        }
        await passLimit(gate)
        await until { clock.sleeperCount == 0 }
        await untilOthersWait()
        order.record("opened")
        gate.open()
        try await scope.value
        #expect(order.events == ["opened", "scope"])
    }

    @Test("an operation that was cancelled before is abandoned too")
    func cancelledBefore() async throws {
        let gate = Gate()
        let operation = queue.addOperation([.timeout(.seconds(1)), .overrun(.abandon), .clock(clock)]) {
            await gate.pass()
        }
        await gate.waitForArrivals(1)
        operation.cancel()
        await passLimit(gate)
        #expect(await timedOut(operation) == .seconds(1))
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("a deadline abandons a body, too, and ends an operation that has not started")
    func deadline() async throws {
        let gate = Gate()
        let operations = (0..<2).map { _ in
            queue.addOperation([.timeout(untilEnd: .seconds(1)), .overrun(.abandon), .clock(clock)]) {
                await gate.pass()
            }
        }
        await passLimit(gate)
        for operation in operations { #expect(await timedOut(operation) == .seconds(1)) }
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(gate.arrivals == 1)
    }

    /// Rule 12 also applies to a body that was abandoned.
    @Test("an abandoned body that awaits an operation of its own queue lends its permit, and has it back")
    func waitsAfterwards() async throws {
        let (gate, meter, last) = (Gate(), ConcurrencyMeter(), Gate())
        let queue = queue
        queue.addOperation([.timeout(.seconds(1)), .overrun(.abandon), .clock(clock)]) {
            await gate.pass()
            let inner = queue.addOperation { await meter.measure { await Task.yield() } }
            _ = await inner.result
            await withPermitLent { await Task.yield() }
            await meter.measure { await last.pass() }
        }
        await passLimit(gate)
        await until { clock.sleeperCount == 0 }
        let others = (0..<5).map { _ in queue.addOperation { await meter.measure { await Task.yield() } } }
        gate.open()
        await last.waitForArrivals(1)
        last.open()
        for other in others { try await other.value }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(meter.most == 1)
        #expect(meter.total == 7)
    }

    @Test("the members of an abandoned group keep its permit until they have ended", .schedules(20))
    func group() async throws {
        let (gate, meter) = (Gate(), ConcurrencyMeter())
        let group = TaskOperation<Void>(name: "group") { group in
            for _ in 0..<2 { group.addOperation { await meter.measure { await gate.pass() } } }
        }
        try group.addOptions([.timeout(.seconds(1)), .overrun(.abandon), .clock(clock)])
        try queue.addOperation(group)
        await gate.waitForArrivals(2)
        let next = queue.addOperation { meter.now }
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
        #expect(await timedOut(group) == .seconds(1))
        await untilOthersWait()
        #expect(!next.isFinished)
        gate.open()
        #expect(try await next.value == 0)
    }

    @Test("a member of an abandoned group that awaits the group's queue has the permit lent, and cannot deadlock")
    func groupThatNeedsItsPermit() async throws {
        for waitsBefore in [false, true] {
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
            let (begun, gate, meter) = (Gate(), Gate(), ConcurrencyMeter())
            let need = TaskOperation { await meter.measure { await gate.pass() } }
            let group = TaskOperation<Void>(name: "group") { group in
                group.addOperation {
                    if waitsBefore { begun.open() }
                    await begun.pass()
                    _ = await need.result
                    await meter.measure { await Task.yield() }
                }
            }
            try group.addOptions([.timeout(.seconds(1)), .overrun(.abandon), .clock(clock)])
            try queue.addOperation(group)
            await begun.waitForArrivals(1)
            await until { clock.sleeperCount == 1 }
            if waitsBefore { try queue.addOperation(need) }
            clock.advance(by: .seconds(1))
            #expect(await timedOut(group) == .seconds(1))
            if !waitsBefore { try queue.addOperation(need) }
            begun.open()
            await gate.waitForArrivals(1)
            gate.open()
            try await queue.waitUntilAllOperationsAreFinished()
            #expect(meter.most == 1 && meter.total == 2)
        }
    }

    @Test("an abandoned body is still on its queue, for itself and for nothing else")
    func currentQueue() async throws {
        let (gate, found) = (Gate(), Recorder<TaskOperationQueue?>())
        let operation = queue.addOperation([.timeout(.seconds(1)), .overrun(.abandon), .clock(clock)]) {
            await gate.pass()
            found.record(TaskOperationQueue.current)
            async let child = TaskOperationQueue.current
            found.record(await child)
        }
        await passLimit(gate)
        #expect(await timedOut(operation) == .seconds(1))
        #expect(operation.waitingReasons == [.finished])
        operation.cancel()
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(found.events == [queue, queue])
    }

    @Test("a wait of an abandoned body that can never end is refused by name")
    func refusedWait() async throws {
        let (gate, errors) = (Gate(), Recorder<TaskOperationError>())
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, lending: .never))
        let operation = queue.addOperation(name: "left", [.timeout(.seconds(1)), .overrun(.abandon), .clock(clock)]) {
            await gate.pass()
            let inner = queue.addOperation(name: "inner") {}
            do { try await inner.value } catch let error as TaskOperationError { errors.record(error) }
        }
        await passLimit(gate)
        #expect(await timedOut(operation) == .seconds(1))
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(errors.events.map(\.waitCycle) == [["left", "inner", "left"]])
    }

    @Test("waits that began before continue, with the permit lent or kept", .schedules(20))
    func waitsBefore() async throws {
        for needsPermit in [false, true] {
            let (gate, meter, begun) = (Gate(), ConcurrencyMeter(), Gate())
            let (queue, elsewhere) = (TaskOperationQueue(maxConcurrentOperationCount: 1), TaskOperationQueue())
            let need = TaskOperation {}
            let awaited = elsewhere.addOperation(dependencies: needsPermit ? [need] : []) { await gate.pass() }
            let operation = queue.addOperation([.timeout(.seconds(1)), .overrun(.abandon), .clock(clock)]) {
                begun.open()
                _ = await awaited.result
                await meter.measure { await Task.yield() }
            }
            await until { begun.isOpen }
            if needsPermit { try queue.addOperation(need) }
            await gate.waitForArrivals(1)
            await until { clock.sleeperCount == 1 }
            clock.advance(by: .seconds(1))
            #expect(await timedOut(operation) == .seconds(1))
            // The permit is lent only if the awaited operation needs a permit of the same queue.
            let blocking = Gate()
            let meanwhile = queue.addOperation { await meter.measure { await blocking.pass() } }
            if needsPermit { await blocking.waitForArrivals(1) } else { await untilOthersWait() }
            #expect(blocking.arrivals == (needsPermit ? 1 : 0))
            gate.open()
            try await awaited.value
            blocking.open()
            try await meanwhile.value
            try await queue.waitUntilAllOperationsAreFinished()
            #expect(meter.most == 1)
            #expect(meter.total == 2)
        }
    }

    @Test("cancellation handlers of an abandoned body that take long hold nothing up", .prompt)
    func lateHandlers() async throws {
        let (gate, release) = (Gate(), DispatchSemaphore(value: 0))
        let operation = queue.addOperation([.timeout(.seconds(1)), .overrun(.abandon), .clock(clock)]) {
            await withTaskCancellationHandler {
                await gate.pass()
            } onCancel: {
                release.wait()
            }
        }
        await passLimit(gate)
        #expect(await timedOut(operation) == .seconds(1))
        release.signal()
        gate.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("the captures of a body and its queue are released when the body ends")
    func freed() async throws {
        let (gate, freed) = (Gate(), Gate())
        let operation: TaskOperation<Void>
        weak let weakQueue: TaskOperationQueue?
        do {
            let witness = Witness(freed)
            let queue = TaskOperationQueue()
            weakQueue = queue
            operation = queue.addOperation([.timeout(.seconds(1)), .overrun(.abandon), .clock(clock)]) {
                await gate.pass()
                _ = witness
            }
            await passLimit(gate)
        }
        #expect(await timedOut(operation) == .seconds(1))
        await until { weakQueue == nil }
        #expect(!freed.isOpen)
        gate.open()
        await until { freed.isOpen }
    }

    @Test("bodies that wait, lend and are abandoned at random give every permit back, and each operation ends once")
    func storm() async throws {
        let (queue, elsewhere) = (TaskOperationQueue(maxConcurrentOperationCount: 2), TaskOperationQueue())
        let (meter, ends) = (ConcurrencyMeter(), ConcurrencyMeter())
        let operations = (0..<600).map { [clock] number in
            let operation = queue.addOperation([
                .timeout(.seconds(1 + number % 3)), .timeout(untilEnd: .seconds(300)), .overrun(.abandon),
                .clock(clock),
            ]) {
                for step in 0..<4 {
                    await meter.measure { await Task.yield() }
                    switch (number + step) % 4 {
                    case 0: _ = await queue.addOperation { await meter.measure { await Task.yield() } }.result
                    case 1: _ = await elsewhere.addOperation { await Task.yield() }.result
                    case 2: await withPermitLent { await Task.yield() }
                    default: await Task.yield()
                    }
                }
            }
            operation.addCompletionHandler { ends.enter() }
            return operation
        }
        await withTaskGroup { group in
            group.addTask { [clock] in
                while queue.operationCount > 0 {
                    clock.advance(by: .seconds(1))
                    await Task.yield()
                }
            }
            for (number, operation) in operations.enumerated() where number % 5 == 0 {
                group.addTask { operation.cancel() }
            }
            for operation in operations { group.addTask { _ = await operation.result } }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        await until { ends.total == 600 }
        #expect(meter.most <= 2)
        let together = Gate()
        for _ in 0..<2 { queue.addOperation { await together.pass() } }
        await together.waitForArrivals(2)
        together.open()
        try await queue.waitUntilAllOperationsAreFinished()
    }

    private func passLimit(_ gate: Gate) async {
        await gate.waitForArrivals(1)
        await until { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(1))
    }
}
