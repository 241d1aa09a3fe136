import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("Permits that a body lends itself", .inTurns, .endsInTime)
struct PermitLendingTests {
    @Test("others execute meanwhile, and the body has its permit back before it continues", .schedules(100))
    func lending() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (gate, meter) = (Gate(), ConcurrencyMeter())
        let body = queue.addOperation {
            await meter.measure { await Task.yield() }
            let answer = await withPermitLent {
                await gate.pass()
                return 42
            }
            await meter.measure { await Task.yield() }
            return answer
        }
        await gate.waitForArrivals(1)
        let others = (0..<5).map { _ in queue.addOperation { await meter.measure { await Task.yield() } } }
        try await others[0].value
        gate.open()
        #expect(try await body.value == 42)
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(meter.most == 1)
        #expect(meter.total == 7)
    }

    @Test("the error of the work is thrown after the permit is taken back", .schedules(20))
    func throwing() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let meter = ConcurrencyMeter()
        let body = queue.addOperation {
            do {
                try await withPermitLent { () throws(WorkFailed) in
                    await Task.yield()
                    throw WorkFailed(number: 7)
                }
            } catch {
                await meter.measure { await Task.yield() }
                throw error
            }
        }
        for _ in 0..<5 { queue.addOperation { await meter.measure { await Task.yield() } } }
        await #expect(throws: WorkFailed(number: 7)) { try await body.value }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(meter.most == 1)
    }

    @Test("with nested calls and calls of child tasks, the permit is taken back after the last", .schedules(100))
    func nested() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let (gates, order) = ([Gate(), Gate()], Recorder<String>())
        let body = queue.addOperation {
            await withTaskGroup { group in
                for gate in gates {
                    group.addTask { await withPermitLent { await withPermitLent { await gate.pass() } } }
                }
            }
            order.record("goes on")
        }
        for gate in gates { await gate.waitForArrivals(1) }
        let blocking = Gate()
        let meanwhile = queue.addOperation {
            await blocking.pass()
            order.record("meanwhile")
        }
        await blocking.waitForArrivals(1)
        for gate in gates { gate.open() }
        await untilOthersWait()
        blocking.open()
        try await meanwhile.value
        try await body.value
        #expect(order.events == ["meanwhile", "goes on"])
    }

    @Test("awaiting an operation of the same queue within the work needs no more lending", .schedules(50))
    func awaitingWithin() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let body = queue.addOperation {
            try await withPermitLent { try await queue.addOperation { 1 }.value + queue.addOperation { 2 }.value }
        }
        #expect(try await body.value == 3)
        #expect(queue.operationCount == 0)
    }

    @Test(
        "an unstructured task of a body lends nothing, and outside of bodies there is nothing to lend", .schedules(20))
    func outside() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        #expect(await withPermitLent { 5 } == 5)
        let (gate, starts) = (Gate(), Recorder<String>())
        let body = queue.addOperation {
            await Task { await withPermitLent { await gate.pass() } }.value
            starts.record("first")
        }
        await gate.waitForArrivals(1)
        let next = queue.addOperation { starts.record("second") }
        await untilOthersWait()
        gate.open()
        try await body.value
        try await next.value
        #expect(starts.events == ["first", "second"])
        let byHand = TaskOperation { await withPermitLent { 6 } }
        try byHand.start()
        #expect(try await byHand.value == 6)
    }

    @Test("a suspended queue gives the permit back, and a cancelled body waits for it", .schedules(50))
    func suspendedAndCancelled() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let gate = Gate()
        let body = queue.addOperation {
            await withPermitLent { await gate.pass() }
            return Task.isCancelled
        }
        await gate.waitForArrivals(1)
        queue.isSuspended = true
        body.cancel()
        gate.open()
        #expect(try await body.value)
    }

    @Test("the permits of many bodies that lend at random times are neither lost nor doubled", .schedules(20))
    func storm() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let meter = ConcurrencyMeter()
        let operations = (0..<100).map { number in
            queue.addOperation {
                for _ in 0..<3 {
                    await meter.measure { await Task.yield() }
                    await withPermitLent { if number % 2 == 0 { await Task.yield() } }
                }
            }
        }
        for operation in operations.dropFirst(50) { operation.cancel() }
        try await queue.waitUntilAllOperationsAreFinished()
        #expect(meter.most <= 3)
        let together = Gate()
        let last = (0..<3).map { _ in queue.addOperation { await together.pass() } }
        await together.waitForArrivals(3)
        together.open()
        for operation in last { try await operation.value }
    }
}

@Suite("A queue that never lends permits", .inTurns, .endsInTime)
struct NeverLendingTests {
    /// The kind of wait in the awaited operation's body.
    enum Wait: CaseIterable, Sendable {
        case lendsByHand, pausesBetweenAttempts, isGroup
    }

    @Test(
        "A body may await an operation that lends by hand, pauses or is a group", .schedules(40),
        arguments: Wait.allCases, [false, true])
    func awaitingALender(_ wait: Wait, isThroughAnotherQueue: Bool) async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 2, lending: .never))
        let other = TaskOperationQueue()
        let gate = Gate()
        let awaited: TaskOperation<Void> =
            switch wait {
            case .lendsByHand: queue.addOperation { await withPermitLent { await gate.pass() } }
            case .pausesBetweenAttempts:
                queue.addOperation(.retry(.immediately(attempts: 2))) {
                    await withPermitLent { await gate.pass() }
                    if RetryPolicy.attempt == 1 { throw WorkFailed(number: 1) }
                }
            case .isGroup:
                queue.addGroup { group in
                    for _ in 0..<2 { group.addOperation { await withPermitLent { await gate.pass() } } }
                }
            }
        let waiting = queue.addOperation {
            if isThroughAnotherQueue {
                try await other.addOperation { try await awaited.value }.value
            } else {
                try await awaited.value
            }
        }
        await gate.waitForArrivals(1)
        gate.open()
        try await waiting.value
    }

    @Test("Nothing starts while a body lends by hand or pauses", .schedules(40))
    func isStrictlySerial() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, lending: .never))
        let clock = ManualClock()
        let recorder = Recorder<String>()
        let policy = RetryPolicy { _, attempt in attempt < 3 ? .seconds(1) : nil }
        queue.addOperation([.retry(policy), .clock(clock)]) {
            recorder.record("attempt \(RetryPolicy.attempt!)")
            if RetryPolicy.attempt! < 3 { throw WorkFailed(number: 1) }
            await withPermitLent { await Task.yield() }
            recorder.record("end")
        }
        let second = queue.addOperation { recorder.record("second") }
        while !second.isFinished {
            clock.advance(by: .seconds(1))
            await Task.yield()
        }
        #expect(recorder.events == ["attempt 1", "attempt 2", "attempt 3", "end", "second"])
    }
}
