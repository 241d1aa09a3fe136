import TaskOperations
import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@Suite("The first of several values", .endsInTime)
struct FirstValueTests {
    /// An answer of a server, after a time.
    private struct Answer: Sendable {
        let time: Duration
        let value: Int?

        init(_ value: Int?, after milliseconds: Int) {
            time = .milliseconds(milliseconds)
            self.value = value
        }

        func get() async throws -> Int {
            try await Task.sleep(for: time)
            guard let value else { throw WorkFailed() }
            return value
        }
    }

    private static func since(_ start: ContinuousClock.Instant) -> Duration { ContinuousClock.now - start }

    @Test("Calls begin together, after the delay, or only after a failure", .schedules(50))
    func beginnings() async throws {
        let cases: [(delay: Duration?, begun: Int, time: Int)] = [
            (.zero, 3, 30), (.milliseconds(20), 3, 50), (nil, 1, 100),
        ]
        for (delay, begun, time) in cases {
            let (begins, start) = (Recorder<Int>(), ContinuousClock.now)
            let answers = [Answer(0, after: 100), Answer(1, after: 30), Answer(2, after: 40)]
            let value = try await firstValue(of: answers, hedgingAfter: delay) { answer in
                begins.record(answer.value!)
                return try await answer.get()
            }
            #expect(Self.since(start) == .milliseconds(time))
            #expect(value == (delay == nil ? 0 : 1))
            #expect(begins.events.sorted() == Array(0..<begun))
        }
    }

    @Test("The next call begins at once when one fails, and the delay begins again", .schedules(50))
    func failure() async throws {
        let (begins, start) = (Recorder<Duration>(), ContinuousClock.now)
        let answers = [Answer(nil, after: 10), Answer(1, after: 100), Answer(2, after: 200)]
        let value = try await firstValue(of: answers, hedgingAfter: .milliseconds(50)) { answer in
            begins.record(Self.since(start))
            return try await answer.get()
        }
        #expect(value == 1)
        #expect(begins.events == [.zero, .milliseconds(10), .milliseconds(60)])
        #expect(Self.since(start) == .milliseconds(110))
    }

    @Test("A final error ends the other calls and is thrown, before or after a hedge", .schedules(50))
    func finalError() async throws {
        for (time, begun) in [(10, 1), (60, 2)] {
            let (begins, start) = (Recorder<Void>(), ContinuousClock.now)
            await #expect(throws: WorkFailed()) {
                try await firstValue(
                    of: [time, 1_000], hedgingAfter: .milliseconds(50), isFinal: { $0 is WorkFailed }
                ) {
                    begins.record(())
                    return try await Answer($0 == time ? nil : 1, after: $0).get()
                }
            }
            #expect(begins.events.count == begun)
            #expect(Self.since(start) == .milliseconds(time))
        }
    }

    @Test("The next call begins at once when one of several running calls fails", .schedules(50))
    func failureOfOne() async throws {
        let (begins, start) = (Recorder<Duration>(), ContinuousClock.now)
        let answers = [Answer(nil, after: 60), Answer(1, after: 900), Answer(2, after: 10)]
        let value = try await firstValue(of: answers, hedgingAfter: .milliseconds(50)) { answer in
            begins.record(Self.since(start))
            return try await answer.get()
        }
        #expect(value == 2)
        #expect(begins.events == [.zero, .milliseconds(50), .milliseconds(60)])
    }

    @Test(
        "A caller that is cancelled already begins one call", .schedules(20),
        arguments: [nil, Duration.zero, .seconds(1)])
    func cancelledCaller(delay: Duration?) async {
        let meter = ConcurrencyMeter()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await firstValue(of: 0..<5, hedgingAfter: delay) { number in
                await meter.measure {}
                try Task.checkCancellation()
                return number
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(meter.total == 1)
    }

    @Test("Losers have ended before the caller continues", .schedules(200))
    func losers() async throws {
        for delay in [Duration.zero, .milliseconds(1), nil] {
            let meter = ConcurrencyMeter()
            _ = try await firstValue(of: 0..<3, hedgingAfter: delay) { number in
                await meter.measure {
                    try? await Task.sleep(for: .milliseconds(number))
                    // Ignores its cancellation.
                    await Task { try? await Task.sleep(for: .milliseconds(10)) }.value
                    return number
                }
            }
            #expect(meter.now == 0)
        }
    }

    @Test("Losers of a group are still ending, and the winner is not", .schedules(200))
    func losersInGroup() async throws {
        let (group, meter, start) = (AsyncGroup(), ConcurrencyMeter(), ContinuousClock.now)
        let value = try await firstValue(of: [5, 1000, 1000], hedgingAfter: .milliseconds(1), losers: group) { time in
            await meter.measure {
                await Task { try? await Task.sleep(for: .milliseconds(time)) }.value
                return time
            }
        }
        #expect(value == 5)
        #expect(Self.since(start) == .milliseconds(5))
        #expect(group.count == 2)
        #expect(meter.now == 2)
        await group.wait()
        #expect(meter.now == 0)
    }

    @Test("Losers are cancelled", .schedules(100))
    func cancelledLosers() async throws {
        let (group, start, ends) = (AsyncGroup(), ContinuousClock.now, Recorder<Bool>())
        for losers in [nil, group] {
            _ = try await firstValue(of: [0, 3600, 3600], hedgingAfter: .zero, losers: losers) { time in
                defer { if time > 0 { ends.record(Task.isCancelled) } }
                try await Task.sleep(for: .seconds(time))
            }
            await group.wait()
        }
        #expect(ends.events.allSatisfy { $0 })
        #expect(Self.since(start) < .seconds(1))
    }

    @Test("The error of the call that failed last is thrown", .schedules(50))
    func allFail() async throws {
        for delay in [Duration.zero, .milliseconds(1), nil] {
            let error = await #expect(throws: WorkFailed.self) {
                try await firstValue(of: [1, 2, 3], hedgingAfter: delay) { number in
                    try await Task.sleep(for: .milliseconds(10 * number))
                    throw WorkFailed(number: number)
                }
            }
            #expect(error?.number == 3)
        }
        await #expect(throws: NoSourceError()) {
            try await firstValue(of: [Int](), hedgingAfter: nil) { $0 }
        }
    }

    @Test("A cancelled caller cancels all calls, and no further call begins", .schedules(300))
    func cancelled() async throws {
        for losers in [nil, AsyncGroup()] {
            let begins = Recorder<Int>()
            let call = Task {
                try await firstValue(of: 0..<3, hedgingAfter: .milliseconds(1), losers: losers) { number in
                    begins.record(number)
                    try await Task.sleep(for: .milliseconds(2))
                    throw WorkFailed()
                }
            }
            var generator = Schedules.generator()
            try await Task.sleep(for: .milliseconds(generator.number(below: 4)))
            call.cancel()
            let count = begins.events.count
            let error = await #expect(throws: (any Error).self) { try await call.value }
            #expect(error is CancellationError || error is WorkFailed)
            try await Task.sleep(for: .seconds(1))
            // A call whose task was created before the cancellation may begin after it.
            #expect(begins.events.count <= count + 1)
            await losers?.wait()
        }
    }

    @Test("A value that arrives in spite of the cancellation is returned")
    func valueAfterCancellation() async throws {
        let gate = Gate()
        let call = Task {
            try await firstValue(of: 0..<2, hedgingAfter: nil) { number in
                await gate.pass()
                return number
            }
        }
        await gate.waitForArrivals(1)
        call.cancel()
        gate.open()
        #expect(try await call.value == 0)
    }

    @Test("At most the allowed part of calls is hedged", .schedules(10))
    func budget() async throws {
        let (budget, begins) = (RetryBudget(ratio: 0.1, maxTokens: 3), Recorder<Int>())
        for call in 0..<200 {
            let value = try await firstValue(
                of: 0..<3, hedgingAfter: call % 2 == 0 ? .zero : .milliseconds(1), budget: budget
            ) { number in
                begins.record(number)
                // The last call wins if it begins.
                try await Task.sleep(for: .milliseconds(10 - number))
                return number
            }
            #expect((0..<3).contains(value))
        }
        let hedges = begins.events.filter { $0 > 0 }.count
        #expect(hedges <= 3 + 20)
        #expect(hedges >= 20)
        #expect(begins.events.filter { $0 == 0 }.count == 200)
    }

    @Test("A call after a failure takes no token", .schedules(10))
    func budgetAfterFailure() async throws {
        let budget = RetryBudget(ratio: 0, maxTokens: 1)
        #expect(budget.takeToken())
        let value = try await firstValue(of: [nil, 1], hedgingAfter: .milliseconds(1), budget: budget) { value in
            guard let value else { throw WorkFailed() }
            return value
        }
        #expect(value == 1)
        #expect(budget.tokenCount == 0)
    }

    @Test("A delay takes no token if no source is left", .schedules(10))
    func lastSource() async throws {
        let budget = RetryBudget(ratio: 0, maxTokens: 5)
        let value = try await firstValue(of: [1], hedgingAfter: .milliseconds(1), budget: budget) { value in
            try await Task.sleep(for: .seconds(1))
            return value
        }
        #expect(value == 1)
        #expect(budget.tokenCount == 5)
    }

    @Test("Negative and immense delays work", .schedules(20))
    func delays() async throws {
        for delay in [Duration.seconds(-1), .seconds(Int64.max)] {
            let value = try await firstValue(of: [7, 8], hedgingAfter: delay) { value in
                if delay < .zero, value == 7 { try await Task.sleep(for: .seconds(1)) }
                return value
            }
            #expect(value == (delay < .zero ? 8 : 7))
        }
    }

    @Test("The calls run in the task of a body, which lends its permit", .schedules(50))
    func inBody() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let operation = queue.addOperation {
            try await firstValue(of: 0..<2, hedgingAfter: .milliseconds(1)) { number in
                try await queue.addOperation(name: "inner \(number)") { number }.value
            }
        }
        #expect([0, 1].contains(try await operation.value))
    }

    @Test("Bodies, values and errors of losers are freed")
    func freed() async throws {
        let gates = (0..<3).map { _ in Gate() }
        for losers in [nil, AsyncGroup()] {
            _ = try await firstValue(of: 0..<2, hedgingAfter: .zero, losers: losers) {
                [witness = Witness(gates[0])] _ in
                withExtendedLifetime(witness) { Witness(gates[1]) }
            }
            await losers?.wait()
        }
        for gate in gates[..<2] { await gate.pass() }
    }

    @Test("Many sources take linear time", .computing)
    func many() throws {
        func cost(_ count: Int) throws -> Duration {
            try processorTimeOnOneThread { _ in
                let value = try await firstValue(of: 1...count, hedgingAfter: .seconds(1)) { number in
                    if number < count { throw WorkFailed() }
                    return number
                }
                #expect(value == count)
            }
        }
        let ratio = try bestRatio(within: 16) { try cost($0 ? 4000 : 500) }
        #expect(ratio < 16, "Eight times the sources took \(ratio) times the time.")
    }
}
