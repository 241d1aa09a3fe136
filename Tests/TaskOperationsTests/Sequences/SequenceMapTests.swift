import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Concurrent maps of sequences", .inTurns, .endsInTime)
struct SequenceMapTests {
    @Test("results come in the order of the elements", .schedules(100))
    func order() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let transform: @Sendable (Int) async -> Int = { number in
            for _ in 0..<(20 - number) { await Task.yield() }
            return -number
        }
        #expect(try await (0..<20).concurrentMap(maxConcurrentOperationCount: 4, transform) == (0..<20).map { -$0 })
        #expect(try await (0..<20).concurrentMap(on: queue, transform) == (0..<20).map { -$0 })
        #expect(try await [Int]().concurrentMap { $0 }.isEmpty)
        #expect(try await [Int]().concurrentMap(on: queue) { $0 }.isEmpty)
    }

    @Test("exactly as many calls run at once as the width says, and no further element is taken", .schedules(50))
    func width() async throws {
        for queue in [TaskOperationQueue(maxConcurrentOperationCount: 9), nil] {
            for width in [1, 4] {
                let (gate, meter, taken) = (Gate(), ConcurrencyMeter(), Recorder<Int>())
                let elements = (0..<20).lazy.map { number in
                    taken.record(number)
                    return number
                }
                let opener = Task {
                    await gate.waitForArrivals(width)
                    await untilOthersWait()
                    #expect(meter.now == width)
                    #expect(taken.events == Array(0..<width))
                    gate.open()
                }
                let body: @Sendable (Int) async -> Void = { _ in await meter.measure { await gate.pass() } }
                if let queue {
                    try await elements.concurrentForEach(on: queue, maxConcurrentOperationCount: width, body)
                } else {
                    try await elements.concurrentForEach(maxConcurrentOperationCount: width, body)
                }
                await opener.value
                #expect(meter.most == width)
                #expect(meter.total == 20)
            }
        }
    }

    @Test("without a width, that of the queue applies", .schedules(20))
    func widthOfQueue() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        let (meter, gate) = (ConcurrencyMeter(), Gate())
        let most = Recorder<Int>()
        let opener = Task {
            await gate.waitForArrivals(3)
            gate.open()
        }
        try await (0..<20).concurrentForEach(on: queue) { _ in
            most.record(queue.operationCount)
            await meter.measure { await gate.pass() }
        }
        await opener.value
        #expect(meter.most == 3)
        #expect(most.events.max() == 3)
    }

    @Test("a failure cancels the rest, which is waited for, and no further element is taken", .schedules(100))
    func failure() async throws {
        for queue in [TaskOperationQueue(maxConcurrentOperationCount: 3), nil] {
            let (meter, taken) = (ConcurrencyMeter(), Recorder<Int>())
            let elements = (0..<Int.max).lazy.map { number in
                taken.record(number)
                return number
            }
            let transform: @Sendable (Int) async throws -> Int = { number in
                meter.enter()
                defer { meter.leave() }
                if number == 5 { throw WorkFailed(number: 5) }
                while number > 5, !Task.isCancelled { await Task.yield() }
                return number
            }
            await #expect(throws: WorkFailed(number: 5)) {
                if let queue {
                    _ = try await elements.concurrentMap(on: queue, transform)
                } else {
                    _ = try await elements.concurrentMap(maxConcurrentOperationCount: 3, transform)
                }
            }
            #expect(meter.now == 0)
            #expect(taken.events.count <= 8)
        }
    }

    @Test("cancelling the caller at any moment cancels the calls, and waits for them", .schedules(150))
    func cancellation() async throws {
        for queue in [TaskOperationQueue(maxConcurrentOperationCount: 2), nil] {
            var generator = Schedules.generator()
            let (meter, freed) = (ConcurrencyMeter(), Gate())
            let caller = Task { [witness = Witness(freed)] in
                defer { #expect(meter.now == 0) }
                let transform: @Sendable (Int) async throws -> Int = { number in
                    _ = witness
                    await meter.measure { await Task.yield() }
                    try Task.checkCancellation()
                    return number
                }
                if let queue { return try await (0..<20).concurrentMap(on: queue, transform) }
                return try await (0..<20).concurrentMap(maxConcurrentOperationCount: 2, transform)
            }
            for _ in 0..<generator.number(below: 80) { await Task.yield() }
            caller.cancel()
            switch await caller.result {
            case .success(let numbers): #expect(numbers == Array(0..<20))
            case .failure(let error): #expect(error is CancellationError)
            }
            await until { freed.isOpen && queue.map(\.operationCount) ?? 0 == 0 }
        }
    }

    @Test("A cancelled caller begins no further call, and throws even if no call throws", .schedules(20))
    func cancelledLong() async throws {
        for queue in [TaskOperationQueue(maxConcurrentOperationCount: 2), nil] {
            let begun = Recorder<Int>()
            let body: @Sendable (Int) async -> Void = { number in
                begun.record(number)
                await untilCancelled()
            }
            let caller = Task {
                if let queue {
                    try await (0..<100).concurrentForEach(on: queue, body)
                } else {
                    try await (0..<100).concurrentForEach(maxConcurrentOperationCount: 2, body)
                }
            }
            await untilOthersWait()
            caller.cancel()
            await #expect(throws: CancellationError.self) { try await caller.value }
            #expect(begun.events.sorted() == [0, 1])
        }
    }

    @Test(
        "A caller that is cancelled during the last calls receives the results, with or without a queue",
        .schedules(20))
    func cancelledAtTheEnd() async throws {
        for queue in [TaskOperationQueue(maxConcurrentOperationCount: 2), nil] {
            let gate = Gate()
            let body: @Sendable (Int) async -> Int = { number in
                await gate.pass()
                return number
            }
            let caller = Task {
                if let queue { return try await (0..<2).concurrentMap(on: queue, maxConcurrentOperationCount: 3, body) }
                return try await (0..<2).concurrentMap(maxConcurrentOperationCount: 3, body)
            }
            await gate.waitForArrivals(2)
            await untilOthersWait()
            caller.cancel()
            gate.open()
            #expect(try await caller.value == [0, 1])
        }
    }

    @Test("a body maps a sequence on its own queue of width 1, and lends its permit", .schedules(50))
    func ownQueue() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
        let numbers = queue.addOperation { try await (0..<5).concurrentMap(on: queue) { $0 } }
        #expect(try await numbers.value == Array(0..<5))
        let strict = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, lending: .never))
        let refused = strict.addOperation { try await (0..<5).concurrentMap(on: strict) { $0 } }
        await #expect(throws: TaskOperationError.self) { try await refused.value }
        try await strict.waitUntilAllOperationsAreFinished()
    }

    @Test("the rate of the queue applies to the calls", .schedules(20))
    func rate() async throws {
        let clock = ManualClock()
        let queue = TaskOperationQueue(.init(rate: .one(per: .seconds(1), burst: 2), clock: clock))
        let visited = Recorder<Int>()
        let caller = Task {
            try await (0..<6).concurrentForEach(on: queue, maxConcurrentOperationCount: 6) { visited.record($0) }
        }
        await untilOthersWait()
        #expect(visited.events.count == 2)
        while visited.events.count < 6 {
            clock.advance(by: .seconds(1))
            await untilOthersWait()
        }
        try await caller.value
    }

    @Test("a sequence that is not Sendable is iterated on the actor of the caller") @MainActor
    func isolation() async throws {
        final class Source { var taken = 0 }
        let source = Source()
        let numbers = sequence(state: source) { source -> Int? in
            MainActor.assertIsolated()
            source.taken += 1
            return source.taken <= 10 ? source.taken : nil
        }
        #expect(try await numbers.concurrentMap { $0 * 2 } == (1...10).map { $0 * 2 })
        #expect(source.taken >= 10)
    }
}
