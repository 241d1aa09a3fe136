import TaskOperations
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperationsExtras

@Suite("Keys that replace, settle and keep values", .endsInTime)
struct KeysThatReplaceTests {
    private static func suspended() -> TaskOperationQueue { TaskOperationQueue(.init(isSuspended: true)) }

    @Test(
        "A queued operation gets the newest body, and all requests its outcome",
        arguments: [ExistingOperation.replaceIfQueued, .replace, .rerunOnce])
    func queued(existing: ExistingOperation) async throws {
        let queue = Self.suspended()
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let requests = (0..<3).map { number in keyed.request(1, existing: existing) { number } }
        #expect(queue.operationCount == 1)
        #expect(keyed.count == 1)
        queue.isSuspended = false
        for request in requests { #expect(try await request.value == 2) }
    }

    @Test("The handler of a request receives the shared value, or the cancellation of this request", .schedules(100))
    @MainActor
    func whenFinished() async throws {
        let (queue, gate) = (TaskOperationQueue(), Gate())
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let requests = (0..<3).map { _ in
            keyed.request(1) {
                await gate.pass()
                return 7
            }
        }
        let results = (0..<3).map { _ in Recorder<Int?>() }
        for (request, results) in zip(requests, results) {
            request.whenFinished { result in
                MainActor.assertIsolated()
                results.record(try? result.get())
            }
        }
        requests[0].cancel()
        while results[0].events.isEmpty { await Task.yield() }
        gate.open()
        while !requests[1].operation.isFinished { await Task.yield() }
        // The operation is finished, and this cell shows another image.
        let isCancelled = results[2].events.isEmpty
        if isCancelled { requests[2].cancel() }
        while results.contains(where: \.events.isEmpty) { await Task.yield() }
        #expect(results.map(\.events) == [[nil], [7], isCancelled ? [nil] : [7]])
    }

    @Test("A queued operation keeps its body if a request joins it")
    func joined() async throws {
        let queue = Self.suspended()
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let first = keyed.request(1, existing: .replace) { 1 }
        let second = keyed.request(1) { 2 }
        queue.isSuspended = false
        #expect(try await first.value == 1)
        #expect(try await second.value == 1)
    }

    @Test("Requests of an executing operation join it, replace it, or run once after it", .schedules(100))
    func executing() async throws {
        for (existing, count) in [
            (ExistingOperation.join, 3), (.replaceIfQueued, 3), (.replace, 1), (.replace, 3), (.rerunOnce, 3),
        ] {
            let keyed = KeyedOperations<Int, Int>(queue: TaskOperationQueue())
            let (gate, meter, runs) = (Gate(), ConcurrencyMeter(), Recorder<Int>())
            let first = keyed.request(1) {
                runs.record(0)
                return try await meter.measure {
                    await gate.pass()
                    try Task.checkCancellation()
                    return 0
                }
            }
            await gate.waitForArrivals(1)
            let later = (1...count).map { number in
                keyed.request(1, existing: existing) {
                    runs.record(number)
                    return await meter.measure { number }
                }
            }
            gate.open()
            let firstResult = await first.result
            var values: [Int] = []
            for request in later { values.append(try await request.value) }
            switch existing {
            case .join, .replaceIfQueued:
                #expect(try firstResult.get() == 0)
                #expect(values == [0, 0, 0])
                #expect(runs.events == [0])
            case .replace:
                #expect(throws: CancellationError.self) { try firstResult.get() }
                #expect(values == Array(repeating: count, count: count))
                #expect(runs.events == [0, count])
            case .rerunOnce:
                #expect(try firstResult.get() == 0)
                #expect(values == [3, 3, 3])
                #expect(runs.events == [0, 3])
            }
            #expect(meter.most == 1, "Two bodies of a key executed at once with \(existing).")
        }
    }

    @Test("A request that replaces also cancels an operation before a second run", .schedules(50))
    func replacedBeforeSecondRun() async throws {
        let keyed = KeyedOperations<Int, Int>(queue: TaskOperationQueue())
        let gate = Gate()
        let first = keyed.request(1) {
            await gate.pass()
            try Task.checkCancellation()
            return 1
        }
        await gate.waitForArrivals(1)
        let second = keyed.request(1, existing: .rerunOnce) { 2 }
        let third = keyed.request(1, existing: .replace) { 3 }
        gate.open()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(try await second.value == 3)
        #expect(try await third.value == 3)
    }

    /// A reason for which an operation ends before the operation that it follows.
    enum EarlyEnd: CaseIterable, Sendable {
        case requestCancelled, operationCancelled, allCancelled, startTimedOut, refusedByLimit, refusedByQueue
    }

    @Test(
        "An operation that follows another one and ends early leaves the key to the other one",
        .schedules(20), arguments: EarlyEnd.allCases)
    func endedEarly(reason: EarlyEnd) async throws {
        for (existing, isReplaced) in [(ExistingOperation.join, false), (.replace, false), (.rerunOnce, true)] {
            let (limit, queue) = (AsyncSemaphore(capacity: 1), TaskOperationQueue(maxConcurrentOperationCount: 4))
            let keyed = KeyedOperations<Int, Int>(queue: queue)
            let (gate, meter) = (Gate(), ConcurrencyMeter())
            let first = keyed.request(1, .limit(limit)) {
                await meter.measure {
                    await gate.pass()
                    return 1
                }
            }
            await gate.waitForArrivals(1)
            var options = OperationOptions()
            switch reason {
            case .startTimedOut: options = .timeout(untilStart: .milliseconds(1))
            case .refusedByLimit:
                limit.maxQueuedOperationCount = 0
                options = .limit(limit)
            case .refusedByQueue:
                (queue.maxConcurrentOperationCount, queue.maxQueuedOperationCount) = (1, 1)
                queue.addOperation {}
            default: break
            }
            let second = keyed.request(1, options, existing: isReplaced ? .replace : .rerunOnce) {
                await meter.measure { 2 }
            }
            switch reason {
            case .requestCancelled: second.cancel()
            case .operationCancelled: second.operation.cancel()
            case .allCancelled: queue.cancelAllOperations()
            default: break
            }
            await #expect(throws: (any Error).self) { try await second.value }
            await until { keyed[1] === first.operation }
            (queue.maxConcurrentOperationCount, queue.maxQueuedOperationCount) = (4, .max)
            #expect(keyed.count == 1)
            let third = keyed.request(1, existing: existing) { await meter.measure { 3 } }
            if existing == .join, !first.operation.isCancelled { #expect(third.operation === first.operation) }
            // Enough turns for the start of a body that does not wait.
            for _ in 0..<50 { await Task.yield() }
            gate.open()
            _ = try? await first.value
            #expect(try await third.value == (third.operation === first.operation ? 1 : 3))
            #expect(meter.most == 1, "Two bodies of a key executed at once with \(existing).")
            await until { keyed.count == 0 }
        }
    }

    @Test("A request of a cancelled operation that still executes waits for its end", .schedules(20))
    func cancelledAndExecuting() async throws {
        for existing in [ExistingOperation.join, .replaceIfQueued, .replace, .rerunOnce] {
            let keyed = KeyedOperations<Int, Int>(queue: TaskOperationQueue())
            let (gate, meter) = (Gate(), ConcurrencyMeter())
            let first = keyed.request(1) {
                await meter.measure {
                    await gate.pass()
                    return 1
                }
            }
            await gate.waitForArrivals(1)
            first.operation.cancel()
            let second = keyed.request(1, existing: existing) { await meter.measure { 2 } }
            for _ in 0..<50 { await Task.yield() }
            gate.open()
            #expect(try await second.value == 2)
            #expect(meter.most == 1)
        }
    }

    @Test("A pause that ends early, or whose operation is cancelled, leaves no timer behind")
    func timers() async throws {
        let (queue, clock) = (TaskOperationQueue(), ManualClock())
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let requests = (0..<3).map { key in keyed.request(key, .clock(clock), settling: .seconds(3600)) { key } }
        await until { clock.sleeperCount == 1 }
        requests[0].cancel()
        keyed.flush(1)
        keyed.cancel { $0 == 2 }
        await until { clock.sleeperCount == 0 && keyed.count == 0 }
    }

    @Test("The last of several saves is written last, and none is lost", .schedules(500))
    func saves() async throws {
        for existing in [ExistingOperation.replace, .rerunOnce] {
            let keyed = KeyedOperations<String, Void>(queue: TaskOperationQueue())
            let (written, meter) = (Recorder<Int>(), ConcurrencyMeter())
            var requests: [KeyedRequest<Void>] = []
            for version in 1...3 {
                requests.append(
                    keyed.request("document", existing: existing) {
                        try await meter.measure {
                            await Task.yield()
                            try Task.checkCancellation()
                            written.record(version)
                        }
                    })
                await Task.yield()
            }
            for request in requests { _ = await request.result }
            #expect(written.events.last == 3)
            #expect(written.events == written.events.sorted())
            #expect(meter.most == 1)
            #expect(try await requests[2].value == ())
        }
    }

    @Test("A key that is requested again begins its pause again", .schedules(50))
    func settling() async throws {
        let keyed = KeyedOperations<Int, Int>(queue: TaskOperationQueue())
        let starts = Recorder<Int>()
        var requests: [KeyedRequest<Int>] = []
        let start = ContinuousClock.now
        for number in 0..<4 {
            requests.append(
                keyed.request(1, existing: .replaceIfQueued, settling: .milliseconds(50)) {
                    starts.record(number)
                    return number
                })
            try await Task.sleep(for: .milliseconds(40))
        }
        #expect(starts.events == [])
        for request in requests { #expect(try await request.value == 3) }
        #expect(starts.events == [3])
        #expect(ContinuousClock.now - start == .milliseconds(170))
    }

    @Test("A request that joins does not begin the pause again", .schedules(50))
    func joiningPause() async throws {
        let keyed = KeyedOperations<Int, Int>(queue: TaskOperationQueue())
        let start = ContinuousClock.now
        let first = keyed.request(1, settling: .milliseconds(50)) { 1 }
        try await Task.sleep(for: .milliseconds(40))
        keyed.request(1, settling: .milliseconds(50)) { 2 }
        #expect(try await first.value == 1)
        #expect(ContinuousClock.now - start == .milliseconds(50))
    }

    @Test("flush(_:) ends the pause of its key only", .schedules(100))
    func flush() async throws {
        let queue = TaskOperationQueue()
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let requests = (0..<3).map { key in keyed.request(key, settling: .seconds(Int64.max)) { key } }
        keyed.flush(1)
        keyed.flush(7)
        #expect(try await requests[1].value == 1)
        #expect(queue.operationCount == 2)
        requests[0].cancel()
        #expect(queue.operationCount == 1)
        keyed.flush(2)
        #expect(try await requests[2].value == 2)
        #expect(keyed.count == 0)
    }

    @Test("cancel(where:) cancels the operations of some keys, also the one before a second run", .schedules(100))
    func cancelWhere() async throws {
        let keyed = KeyedOperations<Int, Int>(queue: TaskOperationQueue(maxConcurrentOperationCount: 3))
        let gate = Gate()
        let body: TaskOperation<Int>.Body = {
            await gate.pass()
            try Task.checkCancellation()
            return 1
        }
        let first = (0..<3).map { keyed.request($0, body: body) }
        await gate.waitForArrivals(3)
        let second = (0..<3).map { keyed.request($0, existing: .rerunOnce, body: body) }
        keyed.cancel { $0 != 1 }
        #expect(keyed.count == 1)
        gate.open()
        for key in 0..<3 {
            for request in [first[key], second[key]] {
                let result = await request.result
                #expect((try? result.get()) == (key == 1 ? 1 : nil))
            }
        }
        // The predicate may call the table.
        keyed.cancel { key in keyed[key] != nil }
    }

    @Test("Values are kept until their number or their time is over", .schedules(30))
    func values() async throws {
        let keyed = KeyedOperations<Int, Int>(
            queue: TaskOperationQueue(), keeping: .values(maxCount: 2, for: .seconds(10)))
        let runs = Recorder<Int>()
        func value(_ key: Int) async throws -> Int {
            try await keyed.value(for: key) {
                runs.record(key)
                return key * 10
            }
        }
        for key in [1, 2, 1, 3, 1, 2] { #expect(try await value(key) == key * 10) }
        // 3 has replaced 2, because 1 was requested after 2.
        #expect(runs.events == [1, 2, 3, 2])
        #expect(try keyed[2]?.outcome?.get() == 20)
        #expect(keyed[3] == nil)
        await yield { keyed.count == 0 }
        try await Task.sleep(for: .seconds(11))
        #expect(keyed[2] == nil && keyed[1] == nil)
        _ = try await value(1)
        #expect(runs.events == [1, 2, 3, 2, 1])
    }

    private func yield(until condition: () -> Bool) async {
        while !condition() { await Task.yield() }
    }

    @Test("A kept value has requests with priorities and cancellations of no effect")
    func keptRequests() async throws {
        let keyed = KeyedOperations<Int, Int>(queue: TaskOperationQueue(), keeping: .values(maxCount: 2))
        #expect(try await keyed.value(for: 1) { 1 } == 1)
        let request = keyed.request(1, .priority(.high)) { 2 }
        for priority in [TaskPriority.low, .high, .medium, .background] { request.priority = priority }
        request.cancel()
        #expect(try await request.value == 1)
        #expect(try await keyed.value(for: 1) { 3 } == 1)
    }

    @Test("A kept value is replaced by a request that does not join, and removed by cancel(where:)")
    func replacedValue() async throws {
        let keyed = KeyedOperations<Int, Int>(queue: TaskOperationQueue(), keeping: .values(maxCount: 10))
        for existing in [ExistingOperation.replaceIfQueued, .replace, .rerunOnce] {
            #expect(try await keyed.value(for: 1, existing: existing) { 1 } == 1)
            #expect(try await keyed.value(for: 1, existing: existing) { 2 } == 2)
            #expect(try await keyed.value(for: 1) { 3 } == 2)
            keyed.cancel { $0 == 1 }
            #expect(keyed[1] == nil && keyed.count == 0)
        }
    }

    @Test("Errors are not kept")
    func errors() async throws {
        let keyed = KeyedOperations<Int, Int>(queue: TaskOperationQueue(), keeping: .values(maxCount: 10))
        await #expect(throws: WorkFailed.self) { try await keyed.value(for: 1) { throw WorkFailed() } }
        await until { keyed[1] == nil }
        #expect(try await keyed.value(for: 1) { 1 } == 1)
    }

    @Test("Values, bodies and keys are freed, with the table or before")
    func freed() async throws {
        let (values, bodies) = ((0..<3).map { _ in Gate() }, (0..<3).map { _ in Gate() })
        var keyed: KeyedOperations<Int, Witness>? = KeyedOperations(
            queue: TaskOperationQueue(), keeping: .values(maxCount: 2, for: .seconds(Int64.max)))
        for key in 0..<3 {
            let body = Witness(bodies[key])
            _ = try await keyed!.value(for: key) { withExtendedLifetime(body) { Witness(values[key]) } }
            // The value may arrive before the handler that keeps it has run.
            await until { keyed!.count == 0 }
        }
        for gate in bodies { await gate.pass() }
        await values[0].pass()
        #expect(!values[1].isOpen && !values[2].isOpen)
        keyed = nil
        for value in values[1...] { await value.pass() }
    }

    @Test("An operation that ends after the release of the table is not kept")
    func freedLater() async throws {
        let (gate, freed) = (Gate(), Gate())
        var keyed: KeyedOperations<Int, Witness>? = KeyedOperations(
            queue: TaskOperationQueue(), keeping: .values(maxCount: 2))
        keyed!.request(1) {
            await gate.pass()
            return Witness(freed)
        }
        keyed = nil
        gate.open()
        await freed.pass()
    }

    @Test("The release of a replaced body may call the table")
    func releaseOfBody() async throws {
        final class Caller: Sendable {
            let keyed: KeyedOperations<Int, Int>
            init(_ keyed: KeyedOperations<Int, Int>) { self.keyed = keyed }
            deinit {
                keyed.flush(1)
                keyed.request(2, existing: .replace) { 2 }
                _ = keyed.count
            }
        }
        let queue = Self.suspended()
        let keyed = KeyedOperations<Int, Int>(queue: queue, keeping: .values(maxCount: 2))
        for number in 0..<3 {
            let caller = Caller(keyed)
            keyed.request(1, existing: .replace, settling: .seconds(1)) {
                withExtendedLifetime(caller) { number }
            }
        }
        queue.isSuspended = false
        keyed.flush(1)
        #expect(try await keyed.value(for: 1) { 9 } == 2)
        #expect(try await keyed.value(for: 2) { 9 } == 2)
    }

    @Test("Numbers and times at their limits keep nothing or everything")
    func limits() async throws {
        let none: [KeptValues] = [
            .none, .values(maxCount: 0), .values(maxCount: 9, for: .zero), .values(maxCount: 9, for: .seconds(-1)),
        ]
        for values in none {
            let keyed = KeyedOperations<Int, Int>(queue: TaskOperationQueue(), keeping: values)
            #expect(try await keyed.value(for: 1) { 1 } == 1)
            await until { keyed[1] == nil }
        }
        for values in [KeptValues.values(maxCount: .max), .values(maxCount: .max, for: .seconds(Int64.max))] {
            let keyed = KeyedOperations<Int, Int>(queue: TaskOperationQueue(), keeping: values)
            #expect(try await keyed.value(for: 1) { 1 } == 1)
            #expect(try await keyed.value(for: 1) { 2 } == 1)
        }
    }

    @Test("A body that was replaced runs again in a retry, with the same body", .schedules(30))
    func retry() async throws {
        let queue = Self.suspended()
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let runs = Recorder<Int>()
        let requests = (0..<2).map { number in
            keyed.request(1, .retry(.immediately(attempts: 3)), existing: .replaceIfQueued) {
                runs.record(number)
                if runs.events.count < 3 { throw WorkFailed() }
                return number
            }
        }
        queue.isSuspended = false
        #expect(try await requests[0].value == 1)
        #expect(runs.events == [1, 1, 1])
    }

    @Test("An operation that a closure created is cancelled or followed, because its body cannot be replaced")
    func madeByClosure() async throws {
        let queue = Self.suspended()
        let keyed = KeyedOperations<Int, Int>(queue: queue)
        let first = keyed.request(1) { TaskOperation { 1 } }
        let joined = keyed.request(1, existing: .replaceIfQueued) { 2 }
        let next = keyed.request(1, existing: .rerunOnce) { 3 }
        queue.isSuspended = false
        #expect(try await first.value == 1)
        #expect(try await joined.value == 1)
        #expect(try await next.value == 3)
    }

    @Test("Random requests of many tasks all end, and leave nothing behind", .schedules(60, .uniform))
    func storm() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let keyed = KeyedOperations<Int, Int>(queue: queue, keeping: .values(maxCount: 1, for: .milliseconds(3)))
        let meters = (0..<2).map { _ in ConcurrencyMeter() }
        var generator = Schedules.generator()
        await withTaskGroup { group in
            for number in 0..<6 {
                let rules = [ExistingOperation.join, .replaceIfQueued, .replace, .rerunOnce]
                let (rule, key) = (rules[generator.number(below: 4)], generator.number(below: 2))
                let (leaves, pause) = (generator.happens(percent: 30), generator.number(below: 3))
                group.addTask {
                    let request = keyed.request(key, existing: rule, settling: .milliseconds(pause)) {
                        await meters[key].measure { await Task.yield() }
                        return number
                    }
                    await Task.yield()
                    if leaves { request.cancel() }
                    if number == 5 { keyed.cancel { $0 == key } }
                    if number == 4 { keyed.flush(key) }
                    _ = await request.result
                }
            }
        }
        try await queue.waitUntilAllOperationsAreFinished()
        try await Task.sleep(for: .seconds(1))
        #expect(keyed.count == 0)
        #expect(keyed[0] == nil && keyed[1] == nil)
    }

    @Test("Keys that come and go take linear time, and no memory remains", .inTurns, .computing)
    func many() async throws {
        func cost(_ count: Int) async throws -> Duration {
            let queue = TaskOperationQueue(.init(isSuspended: true))
            let keyed = KeyedOperations<Int, Int>(queue: queue, keeping: .values(maxCount: 10, for: .seconds(60)))
            let time = processorTime {
                for key in 0..<count {
                    keyed.request(key, settling: .seconds(3600)) { key }
                    keyed.request(key, existing: .replace, settling: .seconds(3600)) { key }
                }
                keyed.cancel { _ in true }
            }
            #expect(keyed.count == 0)
            #expect(queue.operationCount == 0)
            return time
        }
        _ = try await cost(1000)
        var ratio = Double.infinity
        for _ in 0..<10 where ratio > 16 { ratio = min(ratio, try await cost(16_000) / cost(2000)) }
        #expect(ratio < 16, "Eight times the keys took \(ratio) times the time.")
    }
}
