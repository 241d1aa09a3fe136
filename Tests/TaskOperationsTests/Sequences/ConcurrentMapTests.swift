import TaskOperationsExtras
import TaskOperationsTesting
import TestSupport
import Testing

@testable import TaskOperations

@Suite("Concurrent maps of asynchronous sequences", .inTurns, .endsInTime)
struct ConcurrentMapTests {
    @Test("results are in the order of input, for any order of completion", .schedules(100))
    func orderOfInput() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 3)
        for queue in [queue, nil] {
            let results = CountedElements(count: 20).concurrentMap(on: queue, maxConcurrentOperationCount: 4) {
                await yield(times: 20 - $0)
                return $0
            }
            #expect(try await array(results) == Array(0..<20))
        }
    }

    @Test("results come in the order of completion if that is asked for", .schedules(100))
    func orderOfCompletion() async throws {
        for queue in [TaskOperationQueue(maxConcurrentOperationCount: 3), nil] {
            let completed = Recorder<Int>()
            let results = CountedElements(count: 20).concurrentMap(
                on: queue, maxConcurrentOperationCount: 4, order: .completion
            ) {
                await yield(times: $0 % 3)
                completed.record($0)
                return $0
            }
            let found = try await array(results)
            #expect(found.sorted() == Array(0..<20))
            // A body records its number before its operation ends, so the order of the results may differ by a few
            // positions.
            for (place, number) in found.enumerated() {
                #expect(abs(place - completed.events.firstIndex(of: number)!) <= 3)
            }
        }
    }

    @Test("an element that takes long holds back the results behind it only in the order of input", .schedules(50))
    func slowHead() async throws {
        for order in [ResultOrder.input, .completion] {
            let gate = Gate()
            let source = CountedElements(count: 9)
            let results = source.concurrentMap(
                on: TaskOperationQueue(), maxConcurrentOperationCount: 3, order: order
            ) { number in
                if number == 0 { await gate.pass() }
                return number
            }
            let found = Recorder<Int>()
            let consumer = Task {
                for try await number in results { found.record(number) }
            }
            await untilOthersWait()
            await untilOthersWait()
            #expect(found.events.count == (order == .input ? 0 : 8))
            #expect(source.taken.events.count == (order == .input ? 3 : 9))
            gate.open()
            try await consumer.value
            #expect(found.events.sorted() == Array(0..<9))
        }
    }

    @Test("while the consumer takes nothing, exactly as many elements are taken as there is room", .schedules(50))
    func boundedByConsumer() async throws {
        for order in [ResultOrder.input, .completion] {
            for queue in [TaskOperationQueue(maxConcurrentOperationCount: 2), nil] {
                let source = CountedElements(count: 100)
                let meter = ConcurrencyMeter()
                var iterator = source.concurrentMap(on: queue, maxConcurrentOperationCount: 5, order: order) { number in
                    await meter.measure { await Task.yield() }
                    return number
                }.makeAsyncIterator()
                #expect(source.taken.events.isEmpty, "nothing begins before the first call")
                for count in 1...20 {
                    #expect(try await iterator.next() != nil)
                    await untilOthersWait()
                    #expect(source.taken.events.count == count + 5)
                }
                #expect(meter.most <= (queue == nil ? 5 : 2))
            }
        }
    }

    @Test("with a width of 1 one call follows the other", .schedules(50))
    func widthOfOne() async throws {
        for order in [ResultOrder.input, .completion] {
            let meter = ConcurrencyMeter()
            let results = CountedElements(count: 10).concurrentMap(maxConcurrentOperationCount: 1, order: order) {
                number in
                await meter.measure { await Task.yield() }
                return number
            }
            #expect(try await array(results) == Array(0..<10))
            #expect(meter.most == 1)
        }
    }

    @Test("an empty sequence has no results, and a second iteration begins anew", .schedules(20))
    func emptyAndTwice() async throws {
        let none = CountedElements(count: 0).concurrentMap { $0 }
        #expect(try await array(none).isEmpty)
        let results = CountedElements(count: 3).concurrentMap { $0 }
        #expect(try await array(results) == [0, 1, 2])
        #expect(try await array(results) == [0, 1, 2])
        var iterator = results.makeAsyncIterator()
        while try await iterator.next() != nil {}
        #expect(try await iterator.next() == nil)
    }

    @Test("the first failure cancels the rest, which is waited for, and is thrown once", .schedules(100))
    func failure() async throws {
        for order in [ResultOrder.input, .completion] {
            for queue in [TaskOperationQueue(maxConcurrentOperationCount: 3), nil] {
                let meter = ConcurrencyMeter()
                let source = CountedElements(count: 1000)
                var iterator = source.concurrentMap(on: queue, maxConcurrentOperationCount: 4, order: order) { number in
                    try await meter.measure {
                        if number == 7 { throw WorkFailed(number: 7) }
                        while !Task.isCancelled && number > 7 { await Task.yield() }
                        return number
                    }
                }.makeAsyncIterator()
                var found: [Int] = []
                do {
                    while let number = try await iterator.next() { found.append(number) }
                    Issue.record("nothing was thrown")
                } catch {
                    #expect(error as? WorkFailed == WorkFailed(number: 7))
                }
                #expect(meter.now == 0)
                #expect(queue.map(\.operationCount) ?? 0 == 0)
                #expect(source.taken.events.count <= 12)
                if order == .input { #expect(found == Array(0..<found.count)) }
                #expect(try await iterator.next() == nil)
                let total = meter.total
                await untilOthersWait()
                #expect(meter.total == total)
            }
        }
    }

    @Test("a failure reaches the consumer while the sequence has no other element yet", .schedules(50))
    func failureWhileSourceWaits() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
        continuation.yield(1)
        let results = stream.concurrentMap(on: TaskOperationQueue()) { _ in throw WorkFailed() }
        await #expect(throws: WorkFailed()) { for try await _ in results {} }
        continuation.finish()
    }

    @Test("an element that a sequence produces after the failure is cancelled, too", .schedules(20))
    func elementAfterFailure() async throws {
        let (gate, order) = (Gate(), Recorder<String>())
        let numbers = AsyncStream<Int> {
            if order.events.isEmpty {
                order.record("first")
                return 0
            }
            if gate.isOpen { return nil }
            await gate.pass()
            return 1
        }
        let queue = TaskOperationQueue()
        let caller = Task {
            defer { order.record("end") }
            try await numbers.concurrentForEach(on: queue) { number in
                if number == 0 { throw WorkFailed() }
                while !Task.isCancelled { await Task.yield() }
            }
        }
        await gate.waitForArrivals(1)
        await untilOthersWait()
        order.record("open")
        gate.open()
        await #expect(throws: WorkFailed()) { try await caller.value }
        #expect(order.events == ["first", "open", "end"])
    }

    @Test("a sequence that throws cancels the rest, after the results that were ready", .schedules(100))
    func throwingSource() async throws {
        for order in [ResultOrder.input, .completion] {
            for queue in [TaskOperationQueue(maxConcurrentOperationCount: 3), nil] {
                let meter = ConcurrencyMeter()
                let source = CountedElements(count: 9, failureIndex: 6)
                let results = source.concurrentMap(on: queue, maxConcurrentOperationCount: 4, order: order) { number in
                    await meter.measure { if number > 3 { while !Task.isCancelled { await Task.yield() } } }
                    return number
                }
                var found: [Int] = []
                do {
                    for try await number in results { found.append(number) }
                    Issue.record("nothing was thrown")
                } catch {
                    #expect(error as? WorkFailed == WorkFailed(number: 6))
                }
                #expect(meter.now == 0)
                #expect(found.count >= 2)
            }
        }
    }

    @Test("cancelling the consumer at any moment cancels all, waits for it, and leaves nothing", .schedules(150))
    func cancellation() async throws {
        for order in [ResultOrder.input, .completion] {
            for queue in [TaskOperationQueue(maxConcurrentOperationCount: 2), nil] {
                var generator = Schedules.generator()
                let (meter, freed) = (ConcurrencyMeter(), Gate())
                let consumer = Task { [witness = Witness(freed)] in
                    let source = CountedElements(count: 20)
                    let results = source.concurrentMap(on: queue, maxConcurrentOperationCount: 3, order: order) {
                        number in
                        _ = witness
                        await meter.measure { await yield(times: 2) }
                        try Task.checkCancellation()
                        return number
                    }
                    defer { #expect(meter.now == 0) }
                    return try await array(results)
                }
                await yield(times: generator.number(below: 120))
                consumer.cancel()
                switch await consumer.result {
                case .success(let found): #expect(found.sorted() == Array(0..<20))
                case .failure(let error): #expect(error is CancellationError)
                }
                await until { freed.isOpen && queue.map(\.operationCount) ?? 0 == 0 }
            }
        }
    }

    @Test("leaving the loop early cancels running calls, and leaves none", .schedules(100))
    func earlyBreak() async throws {
        for queue in [TaskOperationQueue(maxConcurrentOperationCount: 2), nil] {
            let (cancelled, meter, freed) = (Recorder<Int>(), ConcurrencyMeter(), Gate())
            let source = CountedElements(count: 1000)
            do {
                let witness = Witness(freed)
                let results = source.concurrentMap(on: queue, maxConcurrentOperationCount: 3) { number in
                    _ = witness
                    await meter.measure { if number > 2 { while !Task.isCancelled { await Task.yield() } } }
                    if Task.isCancelled { cancelled.record(number) }
                    return number
                }
                for try await number in results where number == 2 { break }
            }
            await until { freed.isOpen }
            #expect(meter.now == 0)
            #expect(Set(cancelled.events).isSubset(of: [3, 4, 5]))
            #expect(source.taken.events.count <= 6)
            #expect(queue.map(\.operationCount) ?? 0 == 0)
        }
    }

    @Test("a body maps a sequence on its own queue of width 1, and lends its permit", .schedules(100))
    func ownQueue() async throws {
        for order in [ResultOrder.input, .completion] {
            let queue = TaskOperationQueue(maxConcurrentOperationCount: 1)
            let sum = queue.addOperation {
                var sum = 0
                let results = CountedElements(count: 5).concurrentMap(
                    on: queue, maxConcurrentOperationCount: 2, order: order
                ) { $0 }
                for try await number in results { sum += number }
                return sum
            }
            #expect(try await sum.value == 10)
        }
    }

    @Test("on a queue that never lends, such a body is refused instead of waiting for ever", .schedules(50))
    func ownQueueWithoutLending() async throws {
        let queue = TaskOperationQueue(.init(maxConcurrentOperationCount: 1, lending: .never))
        let operation = queue.addOperation {
            try await CountedElements(count: 5).concurrentForEach(on: queue) { _ in }
        }
        await #expect(throws: TaskOperationError.self) { try await operation.value }
        try await queue.waitUntilAllOperationsAreFinished()
    }

    @Test("operations have the priority of the consumer, and rise with it", .schedules(50))
    func priority() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let gate = Gate()
        let consumer = Task(priority: .low) {
            try await CountedElements(count: 2).concurrentForEach(on: queue) { _ in await gate.pass() }
        }
        await gate.waitForArrivals(2)
        #expect(queue.operations.map(\.effectivePriority) == [.low, .low])
        let urgent = Task(priority: .high) { try await consumer.value }
        await until { queue.operations.map(\.effectivePriority) == [.high, .high] }
        gate.open()
        try await urgent.value
    }

    @Test("concurrentForEach calls the function with each element, and throws the first failure", .schedules(50))
    func forEach() async throws {
        for queue in [TaskOperationQueue(maxConcurrentOperationCount: 2), nil] {
            let (visited, meter) = (Recorder<Int>(), ConcurrencyMeter())
            try await CountedElements(count: 30).concurrentForEach(on: queue, maxConcurrentOperationCount: 4) {
                number in
                await meter.measure { await Task.yield() }
                visited.record(number)
            }
            #expect(visited.events.sorted() == Array(0..<30))
            #expect(meter.most <= (queue == nil ? 4 : 2))
            await #expect(throws: WorkFailed(number: 3)) {
                try await CountedElements(count: 30).concurrentForEach(on: queue) { number in
                    if number == 3 { throw WorkFailed(number: 3) }
                }
            }
        }
    }

    @Test("a queue that is shut down or cancelled while it maps ends the iteration with that error", .schedules(50))
    func endedQueue() async throws {
        let queue = TaskOperationQueue(maxConcurrentOperationCount: 2)
        let results = CountedElements(count: 30).concurrentMap(on: queue) { number in
            if number == 4 { queue.shutDown() }
            return number
        }
        do {
            for try await _ in results {}
            Issue.record("nothing was thrown")
        } catch {
            #expect("\(error)".contains("after its shutdown"), "\(error)")
        }
    }
}

/// Yields to other tasks several times.
private func yield(times: Int) async {
    for _ in 0..<times { await Task.yield() }
}

/// Returns all elements of a sequence.
private func array<Element>(_ sequence: some AsyncSequence<Element, any Error>) async throws -> [Element] {
    var elements: [Element] = []
    for try await element in sequence { elements.append(element) }
    return elements
}
